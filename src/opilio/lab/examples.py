"""Draws example pages for a topic from a web, and hands them to a crawl as files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from opilio.errors import BadInput
from opilio.fetch.replay import ReplayFetch
from opilio.records import Fingerprint, Response
from opilio.text import urls
from opilio.topic import Topic
from opilio.topic.file import Examples

RELEVANT, IRRELEVANT = 1, 2  # purposes of chance


def draw_examples(
    pages: Mapping[str, Fingerprint],
    count: int,
    without: Iterable[Fingerprint],
    chance: Sequence[int],
) -> tuple[str, ...]:
    """A random choice of pages with different content; a larger choice starts with the
    smaller one."""
    if not count:
        return ()
    seen = set(without)
    found: list[str] = []
    for url in np.random.default_rng(chance).permutation(sorted(pages)):
        if len(found) == count:
            break
        if pages[url] not in seen:
            seen.add(pages[url])
            found.append(str(url))
    if len(found) < count:
        raise BadInput(
            f"there are only {len(found)} pages to draw {count} examples from; ask for "
            "fewer (--examples, --counterexamples)"
        )
    return tuple(found)


def chance_of(topic: str, repeat: int, purpose: int) -> list[int]:
    """The seed for the examples of a topic."""
    return [repeat, urls.fingerprint(topic) % 2**32, purpose]


async def with_examples(
    topic: Topic,
    fetch: ReplayFetch,
    relevant: Collection[str],
    irrelevant: Collection[str],
    folder: Path,
) -> Topic:
    """The topic with these pages among its examples, saved as files."""
    if not relevant and not irrelevant:
        return topic
    own = topic.examples or Examples()
    good = save([await fetch.fetch(url) for url in relevant], folder / "relevant")
    bad = save([await fetch.fetch(url) for url in irrelevant], folder / "irrelevant")
    examples = Examples(
        relevant=(*own.relevant, *good), irrelevant=(*own.irrelevant, *bad)
    )
    return msgspec.structs.replace(topic, examples=examples)


def save(responses: Iterable[Response], folder: Path) -> list[str]:
    """Write the HTML of these pages to files; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, response in enumerate(responses):
        file = folder / f"{number}.html"
        file.write_bytes(response.body)
        files.append(str(file))
    return files
