"""A dictionary's article in; the meanings it gives, as plain words, out.

Articles are written for eyes: they repeat the word, say how it sounds and bends, give
examples and cross-references, number their senses, and often carry markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from opilio.text.words import tokens

MOST = 24  # meanings of a word
LONGEST = 60  # characters of a meaning
LIST_WORDS = 3  # of each part, if commas are to part meanings and not a sentence
LONGEST_ARTICLE = 2**14  # characters; what comes later is no first meaning

_BREAK = re.compile(r"<\s*/?\s*(?:br|p|div|li|ol|ul|tr|dd|dt|def|k)\b[^<>]*>", re.I)
_TAG = re.compile(r"<[^<>]{0,300}>")
_SOUND = re.compile(
    r"(?<!\S)(?:/{1,2}[^/\n]{1,80}/{1,2}|\\[^\\\n]{1,80}\\)(?=[\s,;]|$)"
)
_NOTES = re.compile(r"\([^()\n]*\)|\[[^\[\]\n]*\]|（[^（）\n]*）")
_NUMBER = re.compile(r"^\s*(?:\(?(?:\d{1,2}|[ivx]{1,4}|[a-z])[.)]|[-–—•*■►])\s+")
_ASIDE = re.compile(
    r"^\s*(?:[\"“”„«‘]|(?:synonyms?|antonyms?|see(?: also)?|note|cf|etymology|usage|"
    r"examples?|plural|derived|related)\b[.:]|→|->|=>)",
    re.I,
)
_EDGES = " \t.,:;!?\"'“”„«»‘’…-–—*~|"


def plain_word(headword: str) -> str:
    """A word or phrase as dictionaries are asked for it: its tokens, by spaces."""
    return " ".join(tokens(_without_notes(headword)))


def meanings(article: str, headword: str = "") -> tuple[str, ...]:
    """What an article says its word means, each meaning once, in order.

    >>> meanings("Haus /haʊs/ <neut>\\n1. house, building (also: home)", "Haus")
    ('house', 'building')
    """
    found: dict[str, str] = {}
    for line in _lines(article[:LONGEST_ARTICLE], headword.strip()):
        for meaning in _parts(line):
            found.setdefault(meaning.lower(), meaning)
    short = [meaning for meaning in found.values() if len(meaning) <= LONGEST]
    # A definition is no meaning to put in the word's place, unless there is no other.
    cut = [meaning[:LONGEST].rpartition(" ")[0] for meaning in found.values()]
    return tuple(short or filter(None, cut[:1]))[:MOST]


def _lines(article: str, headword: str) -> Iterator[str]:
    """The lines that say what the word means, without what is around that."""
    text = html.unescape(_TAG.sub(" ", _BREAK.sub("\n", article)))
    text = _without_notes(_SOUND.sub(" ", text)).lstrip()
    if headword and re.match(rf"{re.escape(headword)}(?!\w)", text, re.I):
        text = text[len(headword) :]  # articles begin with their word
    for raw in text.splitlines():
        line = _NUMBER.sub("", raw)
        if not _ASIDE.match(line):
            yield line


def _parts(line: str) -> Iterator[str]:
    """The meanings of a line: by semicolons, and by commas where they part words."""
    for part in re.split("[;；]", line):
        items = re.split("[,、]", part)
        if any(len(item.split()) > LIST_WORDS for item in items):
            items = [part]
        for item in items:
            meaning = " ".join(item.replace("{", "").replace("}", "").split())
            if tokens(meaning):
                yield meaning.strip(_EDGES)


def _without_notes(text: str) -> str:
    """The text without what stands in brackets, or in brackets within these."""
    for _ in range(3):
        text, removed = _NOTES.subn(" ", text)
        if not removed:
            break
    return text
