"""Example pages of the topics of a web, as classes for MCORE's look-ahead.

Kumar & Vig's train-0 has ten pages for each of four classes. Here each topic of the web
is a class, and one more, `other`, has labelled pages of none of them, if there are any.
The pages are spread evenly over the labelled ones, so they are the same each time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from opilio.errors import Unusable
from opilio.fetch.replay import ReplayFetch
from opilio.lab.labels import relevant_urls
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.web_pages import cache_folder

PER_CLASS = 10
OTHER = "other"


def write_examples(ground: Ground, folder: Path) -> Path:
    """Write the example pages, a folder for each class, unless they are there."""
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
            await write_class(fetch, folder / name, spread(sorted(urls)))
    finally:
        await fetch.close()


async def write_class(fetch: ReplayFetch, folder: Path, urls: Iterable[str]) -> None:
    """Write pages of one class; those that the web does not have are left out."""
    folder.mkdir(exist_ok=True)
    places = []
    for number, url in enumerate(urls):
        try:
            response = await fetch.fetch(url)
        except Unusable:
            continue
        (folder / f"{number}.html").write_bytes(response.body)
        places.append(f"{number}.html\t{url}\n")
    (folder / "urls.tsv").write_text("".join(places), encoding="utf-8")


def spread(urls: Sequence[str], count: int = PER_CLASS) -> list[str]:
    """So many of them, evenly spread.

    >>> spread("abcdefgh", 3)
    ['a', 'c', 'f']
    """
    step = max(len(urls) / count, 1.0)
    return [urls[int(place * step)] for place in range(min(count, len(urls)))]
