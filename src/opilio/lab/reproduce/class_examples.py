"""Writes example pages of a web's topics, as classes for MCORE's look-ahead.

Kumar & Vig's train-0 has ten pages for each of four classes. Here each topic of the web
is a class, and one more, `other`, has labelled pages of none of them, if there are any.
The pages are spread evenly over the labelled ones, so they are the same each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from opilio.errors import Unusable
from opilio.fetch.replay import ReplayFetch
from opilio.lab.labels import relevant_urls
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.web_pages import cache_folder
from opilio.records import Response

PER_CLASS = 10
OTHER = "other"


def write_examples(ground: Ground, folder: Path) -> Path:
    """Write the example pages, a folder for each class, unless they exist."""
    if not folder.is_dir():
        draft = folder.with_suffix(".new")
        draft.mkdir(parents=True, exist_ok=True)
        asyncio.run(write_classes(ground, draft))
        draft.replace(folder)
    return folder.absolute()


async def write_classes(ground: Ground, folder: Path) -> None:
    """Write the pages of every class, and where each is from."""
    classes = {
        name: relevant_urls(
            ground.labels, ground.topic(name).evaluation.relevant_labels
        )
        for name in ground.web.topics
    }
    sought = frozenset().union(*classes.values())
    if others := frozenset(ground.labels) - sought:
        classes[OTHER] = others
    fetch = ReplayFetch(ground.web.warcs, cache_folder())
    try:
        for name, urls in classes.items():
            write_class(folder / name, await pages_at(fetch, spread(sorted(urls))))
    finally:
        await fetch.close()


async def pages_at(fetch: ReplayFetch, urls: Iterable[str]) -> list[Response]:
    """The pages at these URLs; those that the web does not have are left out."""
    pages = []
    for url in urls:
        with suppress(Unusable):
            pages.append(await fetch.fetch(url))
    return pages


def write_class(folder: Path, pages: Sequence[Response]) -> None:
    """Write the pages of one class."""
    folder.mkdir(exist_ok=True)
    for number, page in enumerate(pages):
        (folder / f"{number}.html").write_bytes(page.body)
    places = "".join(
        f"{number}.html\t{page.url}\n" for number, page in enumerate(pages)
    )
    (folder / "urls.tsv").write_text(places, encoding="utf-8")


def spread(urls: Sequence[str], count: int = PER_CLASS) -> list[str]:
    """The given number of items, evenly spread.

    >>> spread("abcdefgh", 3)
    ['a', 'c', 'f']
    """
    step = max(len(urls) / count, 1.0)
    return [urls[int(place * step)] for place in range(min(count, len(urls)))]
