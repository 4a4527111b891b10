"""What a site says about how its pages may be used, and what that reserves.

robots.txt decides whether a page is fetched; these signals decide what it may be used
for afterwards. A signal that is not there says nothing: unknown stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from opilio.records import Purpose

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)

Usage = Mapping[str, str]
"""The name of a signal -> what it says; those of files begin with IN_ROBOTS, IN_TDM."""

IN_ROBOTS = "robots.txt "
IN_TDM = "tdmrep.json "
LONGEST = 500  # characters of a signal

# The purposes that a preference of Content-Usage (AIPREF) or Content-Signal is about.
PREFERENCES: Mapping[str, tuple[Purpose, ...]] = {
    "search": ("search",),
    "ai-input": ("ai-input",),
    "ai-use": ("ai-input",),
    "ai-train": ("ai-train",),
    "train-ai": ("ai-train",),
    "train-genai": ("ai-train",),
    "genai": ("ai-train",),
    "bots": ("search", "ai-input", "ai-train"),
    "tdm": ("ai-input", "ai-train"),
}
# What a reservation against text and data mining, or a page's `noai`, is about. The
# exception for scientific research holds all the same.
MINING: tuple[Purpose, ...] = ("ai-input", "ai-train")
NO = frozenset(("n", "no", "?0"))

_preference = re.compile(r"([a-z][a-z0-9-]*)\s*=\s*([a-z?0-9]+)", re.IGNORECASE).findall
_ai = re.compile(r"\b(noai|noimageai)\b", re.IGNORECASE).findall
_commons = re.compile(
    r"creativecommons\.org/(?:licenses|publicdomain)/([\w-]+(?:/\d\.\d)?)",
    re.IGNORECASE,
).search


def page_usage(
    headers: Iterable[tuple[str, str]],
    metas: Mapping[str, Iterable[str]],
    licences: Iterable[str],
) -> dict[str, str]:
    """The signals of one page: in its headers, meta elements and licences."""
    found: dict[str, list[str]] = {}
    robots: list[str] = list(metas.get("robots", ()))
    for name in ("tdm-reservation", "tdm-policy"):  # before those of headers
        found.setdefault(name, []).extend(metas.get(name, ()))
    for name, value in headers:
        if name in ("content-usage", "content-signal", "tdm-reservation", "tdm-policy"):
            found.setdefault(name, []).append(value.strip())
        elif name == "x-robots-tag":
            robots.append(value)
    found["robots"] = sorted({one.lower() for text in robots for one in _ai(text)})
    commons = (_commons(licence) for licence in licences)
    found["creative-commons"] = sorted({one[1].lower() for one in commons if one})
    return {
        name: ", ".join(dict.fromkeys(values))[:LONGEST]
        for name, values in found.items()
        if any(values)
    }


def reserved_purposes(usage: Usage) -> set[Purpose]:
    """The purposes that signals reserve."""
    return {purpose for _, purpose in reservations(usage)}


def reservation(usage: Usage, purpose: Purpose) -> str:
    """The signal that reserves a page against a purpose; "": there is none."""
    return next((name for name, what in reservations(usage) if what == purpose), "")


def reservations(usage: Usage) -> Iterator[tuple[str, Purpose]]:
    """Each signal that reserves something, and what.

    What a page says itself about mining overrides tdmrep.json, and its meta elements
    override its headers.
    """
    for name, value in usage.items():
        if name.startswith(IN_TDM) and "tdm-reservation" in usage:
            continue
        match name.removeprefix(IN_ROBOTS).removeprefix(IN_TDM):
            case "content-usage" | "content-signal":
                for what, answer in _preference(value):
                    if answer.lower() in NO:
                        for purpose in PREFERENCES.get(what.lower(), ()):
                            yield name, purpose
            case "tdm-reservation" if value.split(",")[0].strip() == "1":
                for purpose in MINING:
                    yield name, purpose
            case "robots" if "noai" in value.split(", "):
                for purpose in MINING:
                    yield name, purpose
