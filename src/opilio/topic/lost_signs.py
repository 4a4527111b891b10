"""Warns about keywords such as C++ that lose their meaning without their signs.

Only letters and digits of a page are indexed, so "C++" and "C#" both match every "c".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from opilio.text.words import tokens

SHOWN = 5  # keywords
WRAPPING = "\"'`()[]{}<>«»‹›“”„‘’‚,;:!?…"  # what sentences put around a word


def lost_signs(keywords: Iterable[str]) -> str:
    """A warning with the keywords that lose signs; "" if there are none."""
    found = {word: " ".join(tokens(word)) for word in keywords if loses_signs(word)}
    if not found:
        return ""
    read = [f"{word!r} is read as {as_!r}" for word, as_ in found.items()]
    more = ["…"] if len(read) > SHOWN else []
    return (
        f"Only letters and digits are indexed: {', '.join(read[:SHOWN] + more)}. Pages "
        "with that word in another sense count, too; add more specific keywords."
    )


def loses_signs(keyword: str) -> bool:
    """Whether a word in it begins or ends with a sign that belongs to it."""
    for piece in re.split(r"[\s/]+", keyword):
        word = piece.strip(WRAPPING).rstrip("." + WRAPPING)
        if tokens(word) and not (is_read(word[0]) and is_read(word[-1])):
            return True
    return False


def is_read(character: str) -> bool:
    """Whether a character is part of a word: a letter, a digit, a mark on one."""
    return unicodedata.category(character)[0] in "LNM"
