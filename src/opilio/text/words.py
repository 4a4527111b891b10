"""Splits text into words, stems them, and makes the keys of a topic's terms."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain, filterfalse, pairwise
from pathlib import Path

import msgspec
import Stemmer
from xxhash import xxh3_64_intdigest

DEFAULT_LANGUAGE = "en"
LONGEST = 64  # characters of a word; longer tokens are neither stemmed nor cached
MEMO_SIZE = 2**16

ALGORITHMS = {  # Snowball's, by ISO 639-1 code
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

# Letters and digits in lower case, other ASCII as spaces, bytes of the rest unchanged:
# a table over bytes is five times as fast as a pattern over characters.
_ASCII = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else 32
    for code in range(256)
)

# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, kana and Han.
_SPACELESS = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
)
_WORD = re.compile(r"[^\W_]\w*")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))


def tokens(text: str) -> list[str]:
    """The words of a text in order: lower case, NFKC, digits kept.

    Combining marks belong to their word. A run of a script without spaces gives its
    pairs of neighbouring characters.

    >>> tokens("Newton’s 2nd law, हिन्दी")
    ['newton', 's', '2nd', 'law', 'हिन्दी']
    """
    plain = text.encode("utf-8", "replace").translate(_ASCII).decode()
    words = plain.split()
    if plain.isascii():
        return words
    split = _split
    found: list[str] = []
    for word in words:
        if word.isascii():
            found.append(word)
        else:
            found += split[word]
    return found


def stem(tokens: Iterable[str], language: str = DEFAULT_LANGUAGE) -> list[str]:
    """The stem of each token; the tokens themselves if Snowball lacks the language."""
    stems = _stems(language or DEFAULT_LANGUAGE)
    return list(tokens) if stems is None else list(map(stems.__getitem__, tokens))


def stem_all(tokens: Sequence[str], language: str = DEFAULT_LANGUAGE) -> list[str]:
    """The same for many tokens at once, without caching them."""
    algorithm = ALGORITHMS.get(language or DEFAULT_LANGUAGE)
    if not algorithm:
        return list(tokens)
    stems: list[str] = _stemmer(algorithm).stemWords(tokens)
    for place, token in enumerate(tokens):
        if len(token) > LONGEST:
            stems[place] = token
    return stems


def hash_of(stem: str) -> int:
    """64 bits of a stem."""
    return xxh3_64_intdigest(stem.encode("utf-8", "replace"))


def hash_all(stems: Iterable[str]) -> Iterator[int]:
    """The same for many stems at once, none of which has a lone surrogate."""
    return map(xxh3_64_intdigest, map(str.encode, stems))


@cache
def stop_words(language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The tokens that say nothing in a language; none if we do not know it."""
    # To import the package takes 30 ms: it reads the words of all its languages.
    package = find_spec("stopwordsiso")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("stopwordsiso is not installed")
    listed = Path(package.origin).with_name("stopwords-iso.json").read_bytes()
    of_each = msgspec.json.decode(listed, type=dict[str, msgspec.Raw])
    known = of_each.get(language.lower())
    return frozenset(tokens(" ".join(msgspec.json.decode(known))) if known else ())


class Vocabulary:
    """The terms of a topic, by their keys.

    A term is a word or a phrase; its key is its stems joined by spaces.

    >>> Vocabulary(["Chemical elements"]).keys
    {'Chemical elements': 'chemic element'}
    """

    def __init__(self, terms: Sequence[str], language: str = DEFAULT_LANGUAGE) -> None:
        self.language = language or DEFAULT_LANGUAGE
        split = list(map(tokens, terms))
        distinct = list(set(chain.from_iterable(split)))
        stems = dict(zip(distinct, stem_all(distinct, self.language), strict=True))
        self.keys = {
            term: " ".join(map(stems.__getitem__, found))
            for term, found in zip(terms, split, strict=True)
        }

    def key(self, term: str) -> str:
        """The stems of a term, joined by spaces; "" if it has no words."""
        return " ".join(stem(tokens(term), self.language))


class _Memo(dict[str, str]):
    """A cache of token -> stem that is emptied when it is full."""

    def __init__(self, algorithm: str) -> None:
        self._stem = _stemmer(algorithm).stemWord

    def __missing__(self, token: str) -> str:
        if len(token) > LONGEST:
            return token
        if len(self) >= MEMO_SIZE:
            self.clear()
        result: str = sys.intern(self._stem(token))
        self[token] = result
        return result


@cache
def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(algorithm, 0)  # without its own cache


@cache
def _stems(language: str) -> _Memo | None:
    algorithm = ALGORITHMS.get(language)
    return _Memo(algorithm) if algorithm else None


class _Split(dict[str, tuple[str, ...]]):
    """A cache of run between ASCII separators -> its words."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        result = tuple(word for word, _ in _split_at(run)[0])
        if len(run) <= LONGEST:
            if len(self) >= MEMO_SIZE:
                self.clear()
            self[run] = result
        return result


def spans(run: str) -> list[tuple[str, int]]:
    """The words of a text without ASCII separators, and where in it each begins.

    The place is a guess if converting the text to NFKC changes its length.
    """
    found, length = _split_at(run)
    if length == len(run):
        return found
    return [(word, start * len(run) // length) for word, start in found]


def _split_at(run: str) -> tuple[list[tuple[str, int]], int]:
    """The words of a run with their places in its NFKC form, and how long that is."""
    text = unicodedata.normalize("NFKC", run.translate(_INVISIBLE)).lower()
    found: list[tuple[str, int]] = []
    for match in _word(text).finditer(text.replace("_", " ")):
        start = match.start()
        for place, piece in enumerate(_SPACELESS.split(match[0])):
            if place % 2 and len(piece) > 1:
                pairs = map("".join, pairwise(piece))
                found += zip(pairs, range(start, start + len(piece)), strict=False)
            elif piece:
                found.append((piece, start))
            start += len(piece)
    return found, len(text)


_split = _Split()


def _word(text: str) -> re.Pattern[str]:
    """The pattern of a word for this text; few texts need the one with all marks, and
    it takes 12 ms to make."""
    has_marks = any(unicodedata.category(one)[0] == "M" for one in text)
    return _word_with_marks() if has_marks else _WORD


@cache
def _word_with_marks() -> re.Pattern[str]:
    """A word. To \\w, marks are not part of it; in Devanagari most vowels are marks."""
    printed = filter(str.isprintable, map(chr, range(0x300, 0x20000)))
    others = filterfalse(str.isalnum, printed)  # few are left to ask about
    marks = "".join(one for one in others if unicodedata.category(one)[0] == "M")
    return re.compile(rf"[^\W_][\w{marks}]*")
