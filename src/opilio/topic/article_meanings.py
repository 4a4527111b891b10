"""Extracts the meanings of a word from a dictionary article.

Articles are written for people: they repeat the word, give its pronunciation and
inflection, examples and cross-references, number their senses, and often have markup.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from opilio.text.words import tokens

MOST = 24  # meanings of a word
LONGEST = 60  # characters of a meaning
LIST_WORDS = 3  # of each part at most, if commas separate meanings
LONGEST_ARTICLE = 2**14  # characters of an article that are read

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
    """A word or phrase as it is looked up: its tokens, joined by spaces."""
    return " ".join(tokens(_without_notes(headword)))


def meanings(article: str, headword: str = "") -> tuple[str, ...]:
    """The meanings in an article, each once, in order.

    >>> meanings("Haus /haʊs/ <neut>\\n1. house, building (also: home)", "Haus")
    ('house', 'building')
    """
    found: dict[str, str] = {}
    for line in _lines(article[:LONGEST_ARTICLE], headword.strip()):
        for meaning in _parts(line):
            found.setdefault(meaning.lower(), meaning)
    short = [meaning for meaning in found.values() if len(meaning) <= LONGEST]
    # A definition cannot replace the word, so it is used only if there is nothing else.
    cut = [meaning[:LONGEST].rpartition(" ")[0] for meaning in found.values()]
    return tuple(short or filter(None, cut[:1]))[:MOST]


def _lines(article: str, headword: str) -> Iterator[str]:
    """The lines with meanings, without numbers, notes and markup."""
    text = html.unescape(_TAG.sub(" ", _BREAK.sub("\n", article)))
    text = _without_notes(_SOUND.sub(" ", text)).lstrip()
    if headword and re.match(rf"{re.escape(headword)}(?!\w)", text, re.I):
        text = text[len(headword) :]  # articles begin with their word
    for raw in text.splitlines():
        line = _NUMBER.sub("", raw)
        if not _ASIDE.match(line):
            yield line


def _parts(line: str) -> Iterator[str]:
    """The meanings of a line, separated by semicolons, or by commas between words."""
    for part in re.split("[;；]", line):
        items = re.split("[,、]", part)
        if any(len(item.split()) > LIST_WORDS for item in items):
            items = [part]
        for item in items:
            meaning = " ".join(item.replace("{", "").replace("}", "").split())
            if tokens(meaning):
                yield meaning.strip(_EDGES)


def _without_notes(text: str) -> str:
    """The text without brackets and their contents, also nested ones."""
    for _ in range(3):
        text, removed = _NOTES.subn(" ", text)
        if not removed:
            break
    return text
