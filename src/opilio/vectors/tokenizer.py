"""Splits words into the pieces that a sentence model's vocabulary has.

It reads the `tokenizer.json` of Hugging Face's tokenizers: BPE as SentencePiece writes
it (a word begins with "▁"), byte-level BPE (with "Ġ"), and WordPiece (the later pieces
of a word begin with "##"). Only single words are split, in lower case; if a vocabulary
knows a word better with a capital letter, like many names, that form is used.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from opilio.errors import BadInput

EDITION = 3  # what was compiled is used only if it is of the same edition

try:
    from opilio.vectors import _merges

    if _merges.EDITION != EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    from opilio.vectors import plain_merges as _merges  # type: ignore[no-redef]

Merges = _merges.Merges
sums = _merges.sums

LONGEST = 40  # characters of a word; longer ones are no words
SPACE = "▁"
BYTE_SPACE = "Ġ"


class Model(msgspec.Struct, frozen=True):
    """The part of a tokenizer that has the vocabulary."""

    vocab: Mapping[str, int] | Sequence[tuple[str, float]]
    type: str = ""  # BPE or WordPiece; others are not read
    merges: Sequence[str | tuple[str, str]] = ()
    byte_fallback: bool = False
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None


class Normalizer(msgspec.Struct, frozen=True):
    """What a tokenizer does to a text first; only accents concern us."""

    type: str = ""
    strip_accents: bool | None = None  # None: if it turns to lower case, too
    lowercase: bool = False

    @property
    def strips(self) -> bool:
        """Whether accents are taken off, as BERT's normalizer does."""
        if self.type != "BertNormalizer":
            return False
        return self.lowercase if self.strip_accents is None else self.strip_accents


class TokenizerFile(msgspec.Struct, frozen=True):
    """tokenizer.json, as far as it is read."""

    model: Model
    normalizer: Normalizer | None = None


class Tokenizer:
    """The pieces of words, by their numbers."""

    def __init__(self, source: TokenizerFile, name: str = "the tokenizer") -> None:
        model = source.model
        if not isinstance(model.vocab, Mapping) or model.type == "Unigram":
            raise unreadable(name, "Unigram")
        self.vocabulary: Mapping[str, int] = model.vocab
        self.word_piece = model.type == "WordPiece" or (
            not model.type and not model.merges
        )
        if not self.word_piece and not model.merges:
            raise unreadable(name, model.type or "of an unknown kind")
        self.further = model.continuing_subword_prefix or "##"
        self.unknown = model.vocab.get(model.unk_token or "", -1)
        merges = [
            each if isinstance(each, str) else " ".join(each) for each in model.merges
        ]
        self.merges = Merges(model.vocab, merges, model.byte_fallback)
        self.bare = source.normalizer is not None and source.normalizer.strips
        self.byte_level = BYTE_SPACE + "a" in self.vocabulary and not self.word_piece
        # Then words need nothing but merges.
        self.is_plain = not (self.word_piece or self.byte_level or self.bare)
        self.space = "" if self.word_piece else BYTE_SPACE if self.byte_level else SPACE

    def pieces(self, word: str) -> list[int]:
        """The numbers of the pieces of a word in lower case; none if it is unknown."""
        if not word or len(word) > LONGEST:
            return []
        found = self.split(word)
        if len(found) > 1 and not self.bare:
            for form in (word.capitalize(), word.upper()):
                number = self.vocabulary.get(self.space + form)
                if number is not None:
                    return [number]
        return found

    def pieces_of_all(self, words: list[str]) -> list[list[int]]:
        """The pieces of each word."""
        if self.is_plain:
            found: list[list[int]] = self.merges.split_all(
                words, self.space, LONGEST, self.unknown
            )
            return found
        return list(map(self.pieces, words))

    def split(self, word: str) -> list[int]:
        """The pieces of a word as it is written."""
        if self.word_piece:
            return self.greedy(without_accents(word) if self.bare else word)
        if self.byte_level:
            word = "".join(map(BYTES.__getitem__, word.encode()))
        found: list[int] = self.merges.split(self.space + word)
        if self.unknown not in found:
            return found
        return [number for number in found if number != self.unknown]

    def greedy(self, word: str) -> list[int]:
        """The longest pieces from the left; none if a part has no piece."""
        known = self.vocabulary
        found: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                number = known.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return []
            found.append(number)
            start, prefix = end, self.further
        return found

    @cached_property
    def first(self) -> int:
        """The number of the first piece that is no sign, letter or mark."""
        first = sys.maxsize
        for piece, number in self.vocabulary.items():
            is_first = number < first and len(piece) > 1
            if is_first and piece.isascii() and piece.isalpha():
                first = number
        return first if first < sys.maxsize else 0


def without_accents(word: str) -> str:
    """A word without the marks on its letters."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return "".join(one for one in parts if unicodedata.category(one) != "Mn")


def unreadable(name: str, kind: str) -> BadInput:
    """The error for a tokenizer of another kind."""
    return BadInput(
        f"{name}: tokenizers of the type {kind} are not supported; choose a model with "
        "BPE or WordPiece"
    )


def byte_characters() -> dict[int, str]:
    """The character that stands for each byte in byte-level BPE (GPT-2)."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in plain)
    found = {byte: chr(byte) for byte in plain}
    return found | {byte: chr(256 + at) for at, byte in enumerate(others)}


BYTES = byte_characters()
