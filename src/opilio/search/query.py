"""Parses a search query into words, phrases and conditions.

star cluster        pages about these words; more of them is better
"star cluster"      the words must stand together; "star" alone must be there
-cluster            it must not be there
clust*              any word that begins so
site:example.org    only this host and those below it
lang:en             only pages in this language
after:2026-01-31    only pages fetched on that day or later
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from opilio.errors import BadInput
from opilio.text import urls
from opilio.text.words import tokens

LONGEST = 2000  # characters
MOST_WORDS = 64
SHORTEST_BEGINNING = 3  # letters before a *; with fewer, the * is ignored

_piece = re.compile(
    r'(-?)(?:(site|lang|after):)?(?:"([^"]*)"?|(\S+)|(?<=:))', re.IGNORECASE
)


class Query(NamedTuple):
    """A parsed query; words are in lower case, not stemmed."""

    text: str
    words: tuple[str, ...] = ()  # in order, those of phrases too
    beginnings: tuple[str, ...] = ()  # the words that were given with a *
    phrases: tuple[tuple[str, ...], ...] = ()
    without: tuple[tuple[str, ...], ...] = ()
    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    after: float = 0.0  # seconds since 1970


def parse_query(text: str) -> Query:
    """Parse a query; BadInput, with a remedy, if it is not valid."""
    if len(text) > LONGEST:
        raise BadInput(f"the query has {len(text):,} characters; at most {LONGEST:,}")
    words: list[str] = []
    beginnings: list[str] = []
    phrases: list[tuple[str, ...]] = []
    without: list[tuple[str, ...]] = []
    conditions: dict[str, list[str]] = {"site": [], "lang": [], "after": []}
    for minus, key, quoted, plain in _piece.findall(text):
        value = quoted or plain
        found = tuple(tokens(value))
        if key:
            if minus or not value:
                raise BadInput(
                    f"{minus}{key}: must be {key}:SOMETHING, without a minus or a space"
                )
            conditions[key.lower()].append(value)
        elif minus and found:
            without.append(found)
        elif found:
            words += found
            if quoted:
                phrases.append(found)
            elif plain.endswith("*") and len(found[-1]) >= SHORTEST_BEGINNING:
                beginnings.append(found[-1])
    if not words:
        raise BadInput(
            f"the query {text!r} contains no word; give one, as in: star cluster"
        )
    if len(words) > MOST_WORDS:
        raise BadInput(f"the query has {len(words)} words; at most {MOST_WORDS}")
    return Query(
        text=closed(" ".join(text.split())),
        words=tuple(words),
        beginnings=tuple(dict.fromkeys(beginnings)),
        phrases=tuple(phrases),
        without=tuple(without),
        sites=tuple(map(host_of, conditions["site"])),
        languages=tuple(map(language_of, conditions["lang"])),
        after=max(map(day_of, conditions["after"]), default=0.0),
    )


def closed(text: str) -> str:
    """A query with its last phrase closed: an open one extends to the end."""
    *_, last = _piece.finditer(text)
    is_open = bool(last[3]) and last.end(3) == last.end()
    return f'{text}"' if is_open else text


def host_of(value: str) -> str:
    """A host as hosts are known, also if it was given as an address."""
    url = value if "://" in value else f"http://{value.lstrip('/.')}"
    canonical = urls.join("", url)
    if not canonical:
        raise BadInput(f"site:{value} is not a host; write it like site:example.org")
    return urls.host(canonical)


def language_of(value: str) -> str:
    """A language of two letters."""
    if not re.fullmatch("[A-Za-z]{2}", value):
        raise BadInput(f"lang:{value} is not a language; write lang:en, in two letters")
    return value.lower()


def day_of(value: str) -> float:
    """The beginning of a day, UTC."""
    try:
        day = datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(f"after:{value} is not a date; write after:YYYY-MM-DD") from None
    return day.timestamp()
