"""Finds sentences that say what something is, what it is part of, or its other names.

Hearst's patterns (COLING 1992): "planets such as Mars", "Mars and other planets", "Mars
is a planet"; "is part of", "consists of"; "also known as", and abbreviations in
parentheses. They are English; abbreviations are found in any language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from opilio.text.words import tokens

LONGEST = 4  # words of a name
LABEL = "label"  # the two names mean the same
FUNCTION_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for",
     "from", "had", "has", "have", "he", "her", "his", "in", "is", "it", "its", "not",
     "of", "on", "or", "she", "than", "that", "the", "their", "these", "they", "this",
     "those", "to", "was", "were", "when", "where", "which", "who", "whose", "with")
)  # fmt: skip

_KINDS = "kind|type|form|sort|branch|species|family|genus|group|class|member"
_IS = r" (?:is|are|was|were) "
_PATTERNS = (  # what stands between two names; their relation; is the left one second?
    (re.compile(r",? such as "), "is-a", True),
    (re.compile(r",? (?:and|or) other "), "is-a", False),
    (re.compile(rf"{_IS}(?:an?|one of the) (?:(?:{_KINDS})s? of )?"), "is-a", False),
    (re.compile(rf"{_IS}(?:a )?part of (?:an? |the )?"), "part-of", False),
    (re.compile(r" (?:consists?|is made up) of (?:an? |the )?"), "part-of", True),
    (re.compile(r",? \(?also (?:known as|called|named) (?:an? |the )?"), LABEL, False),
)
_ABBREVIATION = re.compile(r"((?:[\w’'-]+ ){1,6})\(([A-Z][A-Za-z]{1,7})s?\)")
_END = re.compile(r"[,;:.()\[\]\"“”]")


class Said(NamedTuple):
    """A sentence says that one name stands so to another."""

    one: str
    relation: str  # is-a, part-of or label
    other: str


Recognise = Callable[[Sequence[str]], bool]
"""Are these words a name?"""


def said_in(sentence: str, is_name: Recognise, language: str = "en") -> Iterator[Said]:
    """What a sentence says of the names in it."""
    if language == "en":
        for pattern, relation, turned in _PATTERNS:
            for found in pattern.finditer(sentence):
                before = last_name(sentence[: found.start()], is_name)
                after = first_name(sentence[found.end() :], is_name)
                if before and after and before != after:
                    pair = (after, before) if turned else (before, after)
                    yield Said(pair[0], relation, pair[1])
    for found in _ABBREVIATION.finditer(sentence):
        short = found[2]
        words = tokens(found[1])[-len(short) :]
        if "".join(word[0] for word in words) == short.lower() and is_name(words):
            yield Said(short, LABEL, " ".join(words))


def last_name(text: str, is_name: Recognise) -> str:
    """The name that all words since the last mark or function word make; "" if they
    make none."""
    words = tokens(_END.split(text)[-1])
    start = len(words)
    while start and words[start - 1] not in FUNCTION_WORDS:
        start -= 1
    name = words[start:]
    return " ".join(name) if 0 < len(name) <= LONGEST and is_name(name) else ""


def first_name(text: str, is_name: Recognise) -> str:
    """The longest name that ends the first words of a text, up to its first mark or
    function word: "small planet of" names a planet; "" if they end with none."""
    words = tokens(_END.split(text)[0])
    end = 0
    while end < len(words) and words[end] not in FUNCTION_WORDS:
        end += 1
    for start in range(max(end - LONGEST, 0), end):
        if is_name(words[start:end]):
            return " ".join(words[start:end])
    return ""
