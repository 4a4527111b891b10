"""Loads the pages of a web, and the links between them, from its WARC files.

Reading every page once takes a while, so the atlas is stored in the user's cache. It
holds what a crawler could see, and no label.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from opilio.errors import Unusable
from opilio.fetch.replay import CACHED_NAMES, ReplayFetch
from opilio.lab import label_guard
from opilio.lab.link_graph import LinkGraph
from opilio.limits.followable_links import may_follow
from opilio.records import Fingerprint, ReaderSetup
from opilio.storage import caches
from opilio.subject.page_reader import make_reader
from opilio.text import urls

FORMAT = "1"  # increase it when pages or links are read differently
CHUNK = 200  # pages that a process reads at a time


class SeenAnswer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The content of a URL of the web."""

    url: str  # canonical
    content: Fingerprint = 0  # of its bytes; 0: it is no page
    links: Sequence[Fingerprint] = ()  # that may be followed; a redirect's only one


@dataclass(frozen=True)
class Atlas:
    """Every URL of a web, numbered, with the links between them."""

    key: str  # different for every web
    seen: Sequence[SeenAnswer]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """URL -> its number."""
        return {each.url: number for number, each in enumerate(self.seen)}

    @cached_property
    def is_page(self) -> np.ndarray:
        """Which of them are pages."""
        return np.array([each.content != 0 for each in self.seen], bool)

    @cached_property
    def graph(self) -> LinkGraph:
        """The links from URL to URL, without those that lead out of the web."""
        known = {urls.fingerprint(each.url): n for n, each in enumerate(self.seen)}
        inner = [
            [known[link] for link in each.links if link in known] for each in self.seen
        ]
        offsets = np.zeros(len(inner) + 1, np.int64)
        np.cumsum([len(links) for links in inner], out=offsets[1:])
        targets = np.fromiter(chain.from_iterable(inner), np.int32, int(offsets[-1]))
        return LinkGraph(offsets, targets)


def open_atlas(
    warcs: Sequence[Path],
    tell: Callable[[str], None] = lambda _: None,
    jobs: int = 1,
) -> Atlas:
    """The atlas of a web: from the cache, or built now and cached."""
    key = key_of(warcs)
    file = cache_folder() / f"{key}.atlas"
    with suppress(OSError, msgspec.DecodeError):
        seen = msgspec.msgpack.decode(file.read_bytes(), type=list[SeenAnswer])
        caches.note_use(file)
        return Atlas(key, seen)
    fetch = ReplayFetch(warcs, cache_folder())
    tell(f"Reading the {len(fetch.places):,} responses of this web; only once.")
    seen = survey(warcs, sorted(fetch.places), jobs)
    asyncio.run(fetch.close())
    with suppress(OSError):  # the cache only saves time
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(msgspec.msgpack.encode(seen))
        draft.replace(file)
        caches.prune(file.parent, CACHED_NAMES)
    return Atlas(key, seen)


def survey(
    warcs: Sequence[Path], places: Sequence[Fingerprint], jobs: int
) -> list[SeenAnswer]:
    """The content of each URL, in the order of URLs."""
    chunks = [places[start : start + CHUNK] for start in range(0, len(places), CHUNK)]
    if jobs < 2 or len(chunks) < 2:
        parts = [look(warcs, chunk) for chunk in chunks]
    else:
        with ProcessPoolExecutor(jobs, label_guard.clean_forks()) as processes:
            parts = list(processes.map(look, [warcs] * len(chunks), chunks))
    found = {each.url: each for part in parts for each in part}
    return [found[url] for url in sorted(found)]


def look(warcs: Sequence[Path], places: Sequence[Fingerprint]) -> list[SeenAnswer]:
    """The content of these URLs; runs in a process of its own."""
    fetch = ReplayFetch(warcs, cache_folder())
    try:
        return list(answers(fetch, places))
    finally:
        asyncio.run(fetch.close())


def answers(fetch: ReplayFetch, places: Sequence[Fingerprint]) -> Iterator[SeenAnswer]:
    """Read each response as a crawl would, without the terms of a topic."""
    read = make_reader(ReaderSetup(terms=(), language="en")).read
    for place in places:
        url = fetch.url_at(place)
        try:
            response = asyncio.run(fetch.fetch(url))
        except Unusable:
            yield SeenAnswer(url)
            continue
        if 300 <= response.status < 400:
            target = urls.join(url, response.location)
            yield SeenAnswer(url, 0, [urls.fingerprint(target)] if target else [])
            continue
        page = read(response)
        if page.refresh and page.refresh != url:
            yield SeenAnswer(url, 0, [urls.fingerprint(page.refresh)])
            continue
        links = () if page.nofollow else page.links
        yield SeenAnswer(
            url,
            urls.fingerprint(response.body),
            [link.fingerprint for link in links if may_follow(link)],
        )


def key_of(warcs: Sequence[Path]) -> str:
    """A name for these files as they are now."""
    facts = [(path.absolute(), path.stat()) for path in warcs]
    told = [f"{path} {fact.st_size} {fact.st_mtime_ns}" for path, fact in facts]
    text = "\n".join([FORMAT, *told])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def cache_folder() -> Path:
    """The cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "opilio" / "lab"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder
