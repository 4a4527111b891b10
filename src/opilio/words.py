"""Text in; word tokens, their stems and how often topic terms occur in them out."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise

import Stemmer

DEFAULT_LANGUAGE = "en"
LONGEST = 64  # characters of a word; longer tokens are neither stemmed nor remembered
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


@cache
def stop_words(language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """The tokens that say nothing in a language; none if we do not know it."""
    import stopwordsiso  # reads 200 KB of JSON when it is imported

    return frozenset(chain.from_iterable(map(tokens, stopwordsiso.stopwords(language))))


class Vocabulary:
    """The terms of a topic, ready to be counted on pages.

    A term is a word or a phrase; its key is its stems joined by spaces.

    >>> Vocabulary(["Chemical elements"]).keys
    {'Chemical elements': 'chemic element'}
    """

    def __init__(self, terms: Sequence[str], language: str = DEFAULT_LANGUAGE) -> None:
        self.language = language or DEFAULT_LANGUAGE
        self.keys = {term: self.key(term) for term in terms}
        self._starts: dict[str, list[str]] = {}  # first stem -> keys that begin so
        for key in dict.fromkeys(filter(None, self.keys.values())):
            self._starts.setdefault(key.partition(" ")[0], []).append(key)

    def key(self, term: str) -> str:
        """The stems of a term, joined by spaces; "" if it has no words."""
        return " ".join(stem(tokens(term), self.language))

    def count(self, stems: Sequence[str], counts: Mapping[str, int]) -> dict[str, int]:
        """How often each term occurs, by key; terms that do not occur are left out.

        `stems` are all stems of a text in order, `counts` how often each of them
        occurs. Occurrences of one phrase do not overlap.
        """
        found: dict[str, int] = {}
        line = ""
        # Sorted, so that pages are judged alike whatever the order of a set.
        for first in sorted(self._starts.keys() & counts.keys()):
            for key in self._starts[first]:
                if key == first:
                    found[key] = counts[key]
                elif all(part in counts for part in key.split()):
                    # Two spaces, so that neighbouring phrases share none.
                    line = line or f" {'  '.join(stems)} "
                    if times := line.count(f" {key.replace(' ', '  ')} "):
                        found[key] = times
        return found


class _Memo(dict[str, str]):
    """Token -> stem, worked out when asked; forgets everything when it is full."""

    def __init__(self, algorithm: str) -> None:
        self._stem = Stemmer.Stemmer(algorithm, 0).stemWord

    def __missing__(self, token: str) -> str:
        if len(token) > LONGEST:
            return token
        if len(self) >= MEMO_SIZE:
            self.clear()
        result: str = sys.intern(self._stem(token))
        self[token] = result
        return result


@cache
def _stems(language: str) -> _Memo | None:
    algorithm = ALGORITHMS.get(language)
    return _Memo(algorithm) if algorithm else None


class _Split(dict[str, tuple[str, ...]]):
    """Run of characters between ASCII separators -> its words, remembered likewise."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        text = unicodedata.normalize("NFKC", run.translate(_INVISIBLE)).lower()
        found: list[str] = []
        for word in _word().findall(text.replace("_", " ")):
            for place, piece in enumerate(_SPACELESS.split(word)):
                if place % 2 and len(piece) > 1:
                    found += map("".join, pairwise(piece))
                elif piece:
                    found.append(piece)
        result = tuple(found)
        if len(run) <= LONGEST:
            if len(self) >= MEMO_SIZE:
                self.clear()
            self[run] = result
        return result


_split = _Split()


@cache
def _word() -> re.Pattern[str]:
    """A word. To \\w, marks are not part of it; in Devanagari most vowels are marks."""
    marks = "".join(
        char
        for char in map(chr, range(0x300, 0x20000))
        if unicodedata.category(char).startswith("M")
    )
    return re.compile(rf"[^\W_][\w{marks}]*")
