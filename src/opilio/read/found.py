"""What was found in the markup of a page, made safe to keep."""

from __future__ import annotations

import re
from typing import NamedTuple

from opilio.types import Link

SAMPLE = 6000  # characters that tell the script of a text

_unsafe = re.compile("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]").sub
_tag = re.compile("([a-z]{2,3})(?:[-_].*)?", re.IGNORECASE | re.DOTALL).fullmatch

# Scripts that nearly always mean one language; kana before Han, which Japanese shares.
_SCRIPTS = {
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",  # codespell:ignore te
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff",
    "hy": "\u0530-\u058f",
    "he": "\u0590-\u05ff",
    "ka": "\u10a0-\u10ff",
    "ko": "\u1100-\u11ff\uac00-\ud7af",
    "ja": "\u3040-\u30ff",
    "zh": "\u4e00-\u9fff",
}
_by_script = {
    language: re.compile(f"[{script}]").findall for language, script in _SCRIPTS.items()
}


class Found(NamedTuple):
    """What was found in the markup of a page."""

    title: str
    language: str
    text: str
    links: list[Link]
    robots: list[str]  # of <meta name=robots>, or of the one with our name
    canonical: str = ""
    refresh: str = ""


def clean(text: str, limit: int | None = None) -> str:
    """One line without control characters, of at most `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: 4 * limit]
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(_unsafe("", text).split())
    return text[:limit]


def language_of_tag(tag: str) -> str:
    """The primary part of a BCP 47 tag in lower case; "" if it is none."""
    match = _tag(tag.strip())
    return match[1].lower() if match else ""


def language_by_script(text: str) -> str:
    """The language of a text whose script has only one; "" for all others."""
    sample = text[:SAMPLE]
    if sample.isascii():
        return ""
    for language, characters in _by_script.items():
        if len(characters(sample)) > len(sample) / 5:
            return language
    return ""
