"""Writes the text of a topic file, with comments, for people to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import tomli_w


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a topic file to be written."""

    name: str
    languages: tuple[str, ...] = ()
    keywords: Mapping[str, Mapping[str, float]] = {}  # where from -> term -> weight
    asked: Mapping[str, float] = {}  # the current weights of the query log
    seeds: tuple[str, ...] = ()
    query_log: Mapping[str, Any] = {}  # the keys of each table
    ontology: Mapping[str, Any] = {}
    examples: Mapping[str, Any] = {}
    classes: Mapping[str, Any] = {}


def write(draft: Draft) -> str:
    """The topic file, with comments that explain it."""
    return "\n".join(lines(draft)) + "\n"


def lines(draft: Draft) -> Iterator[str]:
    """The file, line by line."""
    yield "# A topic for Opilio. Check it, change it, then: opilio crawl THIS_FILE"
    yield pair("name", draft.name)
    if draft.languages:
        yield pair("languages", draft.languages) + "  # of the pages wanted"
    if draft.keywords:
        yield from keyword_lines(draft.keywords)
    if draft.seeds:
        yield pair("seeds", draft.seeds)
    else:
        yield '# seeds = ["https://…"]  # where to start; or give --seed-url to crawl'
    if draft.query_log:
        yield from table("query_log", "The weight table follows this log", draft)
        yield "# The table at present:"
        for term, weight in draft.asked.items():
            yield f"#   {weight:.3f}  {' '.join(term.split())}"
    if draft.ontology:
        yield from table("ontology", "What the concepts are, and what is near", draft)
    if draft.examples:
        yield from table("examples", "Pages for the judges that learn", draft)
    if draft.classes:
        yield from table("classes", "What kinds of pages link to what is sought", draft)


def keyword_lines(keywords: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """The keywords, each only once, and where they come from."""
    yield "keywords = ["
    told: set[str] = set()
    for source, weights in keywords.items():
        new = {term: weights[term] for term in weights if term not in told}
        if new:
            yield f"    # {source}"
        for term, weight in new.items():
            entry = f"{{ term = {value(term)}, weight = {max(weight, 0.001):.3g} }}"
            yield f"    {value(term) if weight == 1 else entry},"
        told |= new.keys()
    yield "]"


def table(name: str, comment: str, draft: Draft) -> Iterator[str]:
    """One table of the file."""
    yield ""
    yield f"[{name}]  # {comment}"
    for key, setting in getattr(draft, name).items():
        yield pair(key, setting)


def pair(key: str, setting: Any) -> str:
    """`key = value`."""
    return f"{key} = {value(setting)}"


def value(setting: str | float | Sequence[str]) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(setting, list | tuple):
        return f"[{', '.join(map(value, setting))}]"
    return tomli_w.dumps({"x": setting}).removeprefix("x = ").rstrip("\n")
