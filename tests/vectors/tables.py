"""Small tables of word vectors, made on the spot for tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from opilio.vectors.files import read_table
from opilio.vectors.words import Vectors

PIECES = [
    *("[PAD]", "[UNK]", "the", "water", "river", "lake", "ship", "sail", "##ing"),
    *("##s", "harbour", "honey", "bee", "hive", "fish"),
]


def tokenizer_json(pieces: Sequence[str] = PIECES) -> bytes:
    """A WordPiece tokenizer with these pieces."""
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    model = {"type": "WordPiece", "vocab": vocabulary, "unk_token": "[UNK]"}
    normalizer = {"type": "BertNormalizer", "lowercase": True}
    return json.dumps({"model": model, "normalizer": normalizer}).encode()


def make_table(
    path: Path,
    matrix: npt.NDArray[np.floating] | None = None,
    tokenizer: bytes | None = None,
) -> Path:
    """A file as `opilio vectors build` writes it; each piece is a dimension."""
    np.savez(
        path,
        vectors=np.eye(len(PIECES), dtype=np.float16) if matrix is None else matrix,
        tokenizer=np.frombuffer(tokenizer or tokenizer_json(), np.uint8),
        source=np.frombuffer(b"a test", np.uint8),
    )
    return path


def load_table(path: Path, dimensions: int = 64) -> Vectors:
    """The vectors of such a file."""
    return Vectors(read_table(str(path)), "en", dimensions)
