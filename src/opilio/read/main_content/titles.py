"""Divides titles into parts, and tells which part is the name of the site."""

from __future__ import annotations

import re
from collections.abc import Collection

separators = re.compile(r"\s+[|\-–—:·»•/«~]+\s+|\s*[|»«·•]\s*|\s*::\s*").finditer


def without_name(title: str, names: Collection[str]) -> str:
    """A title without a name of the site, squeezed, at its end or beginning.

    >>> without_name("Bees | Example News", {"examplenews"})
    'Bees'
    """
    cuts = list(separators(title))
    if not cuts:
        return title
    first, last = cuts[0], cuts[-1]
    if is_site(title[last.end() :], names):
        return title[: last.start()].strip()
    if is_site(title[: first.start()], names):
        return title[first.end() :].strip()
    return title


def parts_of_title(title: str) -> list[str]:
    """The parts of a title, as its separators divide it."""
    edges = [
        0,
        *(edge for cut in separators(title) for edge in cut.span()),
        len(title),
    ]
    return [
        title[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)
    ]


def squeezed(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return "".join(char for char in text.casefold() if char.isalnum())


def names_of_host(url: str) -> set[str]:
    """The name of the host, whole and in parts, as titles write it."""
    host = re.sub(r"^\w+://(?:www\.)?", "", url).partition("/")[0].partition(":")[0]
    parts = host.split(".")
    return {squeezed(host), *(squeezed(part) for part in parts[:-1] if len(part) > 3)}


def is_site(text: str, names: Collection[str]) -> bool:
    """Whether this part of a title is the name of the site."""
    said = squeezed(text)
    return bool(said) and any(
        said == name
        or (len(name) > 3 and name in said and len(said) < 2 * len(name))
        or (len(said) > 3 and said in name)
        for name in names
    )
