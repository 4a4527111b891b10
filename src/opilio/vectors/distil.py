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
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio import __version__
from opilio.errors import BadInput
from opilio.vectors.files import MOST_PIECES, read_tokenizer
from opilio.vectors.tokenizer import Tokenizer

DIMENSIONS = 256  # of a table, if the model has so many
BATCH = 512  # pieces that are run at a time
MASKS = ("attention_mask", "token_type_ids")
SPECIAL = re.compile(r"|\[\w+\]|<[\w/]+>")  # [CLS], <s>, <0xC3>: in no text
INSTALL = "install onnxruntime and tokenizers: pip install 'opilio[distil]'"

Matrix = npt.NDArray[np.float32]
Tell = Callable[[int, int], None]
"""Called with the number of pieces that are done, and of all."""


class Found(NamedTuple):
    """The files of a model."""

    model: Path
    tokenizer: Path


def find_model(path: Path) -> Found:
    """The model and its tokenizer: in a folder, or a file with the other beside it."""
    if path.is_dir():
        every = sorted(path.glob("*.onnx")) or sorted(path.glob("onnx/*.onnx"))
        plain = [each for each in every if each.name == "model.onnx"]
        chosen = plain or every
        if len(chosen) != 1:
            names = ", ".join(each.name for each in chosen) or "there is no .onnx file"
            raise BadInput(f"{path}: one model is expected ({names}); name its file")
        model = chosen[0]
    elif path.is_file():
        model = path
    else:
        raise BadInput(f"{path} does not exist; name an ONNX file or its folder")
    for folder in dict.fromkeys((model.parent, path, model.parent.parent)):
        if not folder.is_dir():
            continue
        named = folder / "tokenizer.json"
        others = sorted(folder.glob("*tokenizer.json"))
        if named.is_file() or len(others) == 1:
            return Found(model, named if named.is_file() else others[0])
    raise BadInput(f"{model}: there is no tokenizer.json beside it; put it there")


def build(path: Path, output: Path, tell: Tell = lambda done, of: None) -> str:
    """Write the table of a model to a file; returns what it was made from."""
    found = find_model(path)
    tokenizer = read_tokenizer(found.tokenizer)
    if output.suffix != ".npz":
        raise BadInput(f"{output}: name a file that ends with .npz")
    if output.exists():
        raise BadInput(f"{output} exists; remove it or choose another name")
    if max(tokenizer.vocabulary.values(), default=-1) >= MOST_PIECES:
        raise BadInput(f"{found.tokenizer}: at most {MOST_PIECES:,} pieces are read")
    raw = embed(found, tokenizer, tell)
    vectors = reduced(raw, tokenizer)
    digest = hashlib.sha256(found.model.read_bytes()).hexdigest()
    source = (
        f"{found.model.name} (SHA-256 {digest[:16]}…), {vectors.shape[1]} of "
        f"{raw.shape[1]} dimensions, distilled by Opilio {__version__}"
    )
    save(output, vectors, found.tokenizer, source)
    return source


def embed(found: Found, tokenizer: Tokenizer, tell: Tell) -> Matrix:
    """The vector of each piece by itself; zeros for what is no piece of a text."""
    session, before, after = open_model(found)
    pieces = sorted(
        number
        for piece, number in tokenizer.vocabulary.items()
        if not SPECIAL.fullmatch(piece)
    )
    if not pieces:
        raise BadInput(f"{found.tokenizer}: its vocabulary is empty")
    wanted = {each.name for each in session.get_inputs()}
    size = 1 + max(tokenizer.vocabulary.values())
    every: Matrix | None = None
    for batch in batches(pieces):
        ids = np.array([[*before, piece, *after] for piece in batch], np.int64)
        given = {"input_ids": ids, **dict(zip(MASKS, masks(ids), strict=True))}
        try:
            hidden = session.run(
                None, {name: given[name] for name in given if name in wanted}
            )[0]
        except Exception as error:  # onnxruntime has many of its own
            raise not_usable(found.model, error) from None
        vectors = hidden.mean(axis=1) if hidden.ndim == 3 else hidden
        if vectors.ndim != 2 or len(vectors) != len(batch):
            raise BadInput(
                f"{found.model}: its first output has the shape {hidden.shape}; choose "
                "a sentence model, whose output is (texts, words, dimensions)"
            )
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


def masks(ids: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """What else models ask for: that all words count, and that all are one text."""
    return np.ones_like(ids), np.zeros_like(ids)


def open_model(found: Found) -> tuple[Any, list[int], list[int]]:
    """The model, ready to run, and the pieces before and after every text."""
    try:
        import onnxruntime
        from tokenizers import Tokenizer as FullTokenizer
    except ImportError as error:
        raise BadInput(f"{found.model} cannot be distilled: {INSTALL}") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    try:
        session = onnxruntime.InferenceSession(
            str(found.model), options, providers=["CPUExecutionProvider"]
        )
        full = FullTokenizer.from_file(str(found.tokenizer))
        full.no_padding()
        encoded = full.encode("a")
    except Exception as error:  # both have many of their own
        raise not_usable(found.model, error) from None
    marks = encoded.special_tokens_mask
    if 0 not in marks:
        raise BadInput(f"{found.tokenizer}: it has no piece for the letter a")
    begin = marks.index(0)
    end = len(marks) - marks[::-1].index(0)
    return session, encoded.ids[:begin], encoded.ids[end:]


def not_usable(model: Path, error: Exception) -> BadInput:
    """The error for a model that cannot be run."""
    why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return BadInput(f"{model} cannot be used: {why}; choose a sentence model in ONNX")


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
    output: Path, vectors: npt.NDArray[np.float16], tokenizer: Path, source: str
) -> None:
    """Write a table, completely or not at all."""
    draft = output.with_suffix(".new")
    needed = msgspec.json.decode(tokenizer.read_bytes())
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
