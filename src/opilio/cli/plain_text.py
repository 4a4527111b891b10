"""Makes crawled text safe to print, and shortens messages, without importing rich.

Importing rich takes as long as fetching fifty pages; a crawl whose output goes to a
file never needs it.
"""

from __future__ import annotations

import re
import unicodedata

_long_word = re.compile(r"(\S{120})\S{100,}(\S{40})")


def plain(text: str, limit: int = 0) -> str:
    """Crawled text without control characters, cut to `limit` characters."""
    clean = text
    if not text.isprintable():
        clean = "".join(
            " " if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character
            for character in text
        )
    clean = " ".join(clean.split())
    return clean if not limit or len(clean) <= limit else clean[: limit - 1] + "…"


def brief(message: str, limit: int = 0) -> str:
    """A message with long words shortened in the middle, and itself shortened to
    `limit` characters in the same way."""
    short = _long_word.sub(r"\1…\2", message)
    if not limit or len(short) <= limit:
        return short
    end = limit // 4  # the end says what is wrong, or what to do
    return f"{short[: limit - end - 3]} … {short[-end:]}"
