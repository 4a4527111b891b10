"""Distils a static table of vectors from a sentence model in ONNX.

Every piece of the model's vocabulary is run through the model on its own, as a sentence
of one word, and the mean of what comes out is its vector. Then, as in model2vec:

    V = (X - mean) P · ln(1 + rank)

P are the first principal components of X. Pieces stand in their vocabulary in the order
of frequency, so that ln(1 + rank) weighs rare ones more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from opilio import __version__
from opilio.errors import BadInput
from opilio.vectors.files import MOST_PIECES, tokenizer_from
from opilio.vectors.sentence_model import ModelFiles, SentenceModel, find_model
from opilio.vectors.tokenizer import Tokenizer

DIMENSIONS = 256  # of a table, if the model has so many
BATCH = 512  # pieces that are run at a time
SPECIAL = re.compile(r"|\[\w+\]|<[\w/]+>")  # [CLS], <s>, <0xC3>: in no text

Matrix = npt.NDArray[np.float32]
Tell = Callable[[int, int], None]
"""Called with the number of pieces that are done, and of all."""


def build(path: Path, output: Path, tell: Tell = lambda done, of: None) -> str:
    """Write the table of a model to a file; returns what it was made from."""
    found = find_model(path)
    described = found.tokenizer.read()
    tokenizer = tokenizer_from(described, str(found.tokenizer))
    if output.suffix != ".npz":
        raise BadInput(f"{output}: name a file that ends with .npz")
    if output.exists():
        raise BadInput(f"{output} exists; remove it or choose another name")
    if max(tokenizer.vocabulary.values(), default=-1) >= MOST_PIECES:
        raise BadInput(f"{found.tokenizer}: at most {MOST_PIECES:,} pieces are read")
    raw = embed(found, tokenizer, tell)
    vectors = reduced(raw, tokenizer)
    digest = hashlib.sha256(found.model.read()).hexdigest()
    source = (
        f"{found.model.name} (SHA-256 {digest[:16]}…), {vectors.shape[1]} of "
        f"{raw.shape[1]} dimensions, distilled by Opilio {__version__}"
    )
    save(output, vectors, described, source)
    return source


def embed(found: ModelFiles, tokenizer: Tokenizer, tell: Tell) -> Matrix:
    """The vector of each piece by itself; zeros for what is no piece of a text."""
    model = SentenceModel(found, threads=0)
    before, after = model.affixes()
    pieces = sorted(
        number
        for piece, number in tokenizer.vocabulary.items()
        if not SPECIAL.fullmatch(piece)
    )
    if not pieces:
        raise BadInput(f"{found.tokenizer}: its vocabulary is empty")
    size = 1 + max(tokenizer.vocabulary.values())
    every: Matrix | None = None
    for batch in batches(pieces):
        ids = np.array([[*before, piece, *after] for piece in batch], np.int64)
        vectors = model.run(ids)
        if every is None:
            every = np.zeros((size, vectors.shape[1]), np.float32)
        every[batch] = vectors
        tell(batch[-1] + 1, size)
    if every is None or not np.isfinite(every).all():
        raise BadInput(f"{found.model}: some of its vectors are no numbers")
    return every


def batches(pieces: list[int]) -> Iterator[list[int]]:
    """The pieces in batches."""
    for start in range(0, len(pieces), BATCH):
        yield pieces[start : start + BATCH]


def reduced(every: Matrix, tokenizer: Tokenizer) -> npt.NDArray[np.float16]:
    """The first principal components of the vectors, weighed by rank."""
    real = np.any(every != 0, axis=1)
    centred = np.where(real[:, None], every - every[real].mean(axis=0), np.float32(0))
    # The components are the same as those of the vectors, and there are few of them.
    components = np.linalg.svd(centred.T @ centred)[2][:DIMENSIONS]
    largest = np.abs(components).argmax(axis=1)
    components *= np.sign(components[np.arange(len(components)), largest])[:, None]
    rank = np.maximum(1, np.arange(len(every)) - tokenizer.first + 1)
    found = centred @ components.T * np.log1p(rank)[:, None]
    scale = np.sqrt((found[real] ** 2).sum(axis=1).mean())
    table: npt.NDArray[np.float16] = (found / max(scale, 1e-12)).astype(np.float16)
    return table


def save(
    output: Path, vectors: npt.NDArray[np.float16], tokenizer: bytes, source: str
) -> None:
    """Write a table, completely or not at all."""
    draft = output.with_suffix(".new")
    needed = msgspec.json.decode(tokenizer)
    kept = {name: needed[name] for name in ("model", "normalizer") if name in needed}
    try:
        with draft.open("wb") as file:
            np.savez(
                file,
                vectors=vectors,
                tokenizer=np.frombuffer(msgspec.json.encode(kept), np.uint8),
                source=np.frombuffer(source.encode(), np.uint8),
            )
        draft.replace(output)
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}") from None
