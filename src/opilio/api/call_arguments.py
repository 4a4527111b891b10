"""Checks and sorts the arguments of `opilio.Crawl`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio import extensions
from opilio.api.setting_names import Sections
from opilio.errors import BadInput
from opilio.protocols import SeedSource
from opilio.settings import checked_section
from opilio.text import urls
from opilio.topic import Topic, check_topic, load_topic


def given_topic(given: Topic | Path | str | None) -> Topic | None:
    """The topic that was given, checked by the rules of topic files."""
    if given is None:
        return None
    if isinstance(given, str | Path):
        return load_topic(Path(given))
    topic = checked_section(given, Topic, "the topic")
    check_topic(topic, "the topic")
    return topic


def with_names(sections: Sections, strategy: object, judge: object) -> Sections:
    """The settings with the names of the strategy and the judge."""
    for kind, given, method in (
        ("strategy", strategy, "rank"),
        ("judge", judge, "judge"),
    ):
        if given is None:
            continue
        if not isinstance(given, str) and not callable(getattr(given, method, None)):
            raise BadInput(
                f"{given!r} is not a {kind}: it has no method {method}; give a name, "
                "file.py:Class, an object or a class"
            )
        name = given if isinstance(given, str) else extensions.name_of(given)
        sections.setdefault("crawl", {})[kind] = name
    return sections


def sort_seeds(
    given: str | SeedSource | Sequence[str | SeedSource],
) -> tuple[list[str], list[str], list[SeedSource]]:
    """URLs, names of seed sources, and seed sources."""
    each = (
        given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    )
    addresses, names, sources = [], [], []
    for one in each:
        if not isinstance(one, str):
            made = extensions.make("seed source", one) if isinstance(one, type) else one
            if not callable(getattr(made, "find", None)):
                raise BadInput(f"{one!r} is not a seed source: it has no method find")
            sources.append(made)
        elif "://" in one:
            url = urls.join("", one)
            if not url:
                raise BadInput(f"seeds: {one!r} is not a URL; write https://…")
            addresses.append(url)
        else:
            names.append(one)
    return addresses, names, sources


def merged(sections: Sections, more: Sections) -> Sections:
    """Settings with others that replace some of them."""
    names = dict.fromkeys((*sections, *more))
    return {name: {**sections.get(name, {}), **more.get(name, {})} for name in names}
