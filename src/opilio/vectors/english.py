"""Reads the table of English words, if it was made on this machine.

    v(word) = ln(1 + rank)/ln(1 + n) · u(word)

u(word) is a unit vector, stored in short codes (`codes.py`), the rank that of the word
among the n words by frequency. `bench/word_table.py` makes the table from GloVe
(Pennington et al. 2014) and a sentence model, and puts it where `FILE` says. It is no
part of the package, because it consists of what other projects have made.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.vectors import codes
from opilio.vectors.tokenizer import Model, Normalizer, Tokenizer, TokenizerFile

Floats = npt.NDArray[np.float32]

DATA = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
MAKE_IT = "docs/howto/vectors.md says how to make it"
FILE = Path(DATA).expanduser() / "opilio" / "english.npz"


class CodedMatrix:
    """Vectors of words by their numbers, decoded when they are asked for."""

    ndim = 2

    def __init__(self, coded: codes.Codes, size: int) -> None:
        self._coded = coded
        self.shape = (len(coded), size)

    def __len__(self) -> int:
        return len(self._coded)

    def __getitem__(self, numbers: Sequence[int]) -> Floats:
        found = codes.decode(self._coded[numbers], self.shape[1])
        ranks = np.array(numbers, np.float32) + 1
        found *= (np.log1p(ranks) / np.log1p(np.float32(len(self))))[:, None]
        return found

    def part(self, pieces: Sequence[Sequence[int]]) -> tuple[Floats, list[list[int]]]:
        """The vectors of these words in one matrix, and their numbers there."""
        ends = [0, *accumulate(map(len, pieces))]
        numbers = [list(range(*each)) for each in pairwise(ends)]
        return self[list(chain.from_iterable(pieces))], numbers


class WordTable(NamedTuple):
    """The vectors, the words they belong to, and where they come from."""

    matrix: CodedMatrix
    tokenizer: Tokenizer
    source: str


def read(path: Path = FILE) -> WordTable:
    """The table in a file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            coded, size = found["codes"], int(found["dimensions"])
            words = bytes(found["words"]).decode().split("\n")
            source = bytes(found["source"]).decode()
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"{path} is not a table of English words ({error}); {MAKE_IT}"
        ) from None
    vocabulary = {word: number for number, word in enumerate(words)}
    if len(vocabulary) != len(coded) or coded.shape[1:] != (codes.width(size),):
        raise BadInput(f"{path}: its parts do not fit together; {MAKE_IT}")
    return WordTable(CodedMatrix(coded, size), whole_words(vocabulary), source)


def whole_words(vocabulary: dict[str, int]) -> Tokenizer:
    """A tokenizer that knows words and no pieces of them; accents do not matter."""
    model = Model(vocabulary, "WordPiece")
    plain = Normalizer("BertNormalizer", lowercase=True)
    return Tokenizer(TokenizerFile(model, plain), "the table of English words")


def write(path: Path, words: Sequence[str], units: Floats, source: str) -> None:
    """Write a table of words, the most frequent first, and their unit vectors."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(words).encode()
    np.savez(
        path,
        codes=codes.encode(units),
        dimensions=np.array(units.shape[1]),
        words=np.frombuffer(text, np.uint8),
        source=np.frombuffer(source.encode(), np.uint8),
    )
