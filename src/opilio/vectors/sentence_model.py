"""Loads a sentence model in ONNX with its tokenizer, and turns texts into vectors.

The model is a file that the user names: a folder, an `.onnx` file with a
`tokenizer.json` beside it, or a jar that contains both. Nothing is ever downloaded.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput

MASKS = ("attention_mask", "token_type_ids")
MOST_TOKENS = 256  # of a text; the rest is not read
MOST_BYTES = 2**30  # of a file in a jar
SAMPLE = "a " * MOST_TOKENS  # a text of the greatest length
REMEDY = "choose a sentence model in ONNX"
INSTALL = "pip install 'opilio[semantic]'"
TOKENIZER = "tokenizer.json"

Vector = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


class ModelFile(NamedTuple):
    """A file of a model, which may be inside a jar."""

    path: Path
    member: str = ""  # its name in the jar

    def __str__(self) -> str:
        return f"{self.path} ({self.member})" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The name of the file without its folder."""
        return (self.member or self.path.name).rpartition("/")[2]

    def read(self) -> bytes:
        """All of it."""
        try:
            if not self.member:
                return self.path.read_bytes()
            with zipfile.ZipFile(self.path) as jar:
                if (size := jar.getinfo(self.member).file_size) > MOST_BYTES:
                    raise BadInput(
                        f"{self} has {size:,} bytes; at most {MOST_BYTES:,} are read; "
                        "extract it and name the file"
                    )
                return jar.read(self.member)
        except OSError as error:
            raise BadInput(f"{self} cannot be read: {error.strerror}") from None
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise BadInput(f"{self} cannot be read: {error}") from None


class ModelFiles(NamedTuple):
    """The files of a model."""

    model: ModelFile
    tokenizer: ModelFile


def find_model(path: Path) -> ModelFiles:
    """The model and its tokenizer: in a folder, in a jar, or a file with the other
    beside it."""
    if path.is_file() and zipfile.is_zipfile(path):
        return in_jar(path)
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
        raise BadInput(f"{path} does not exist; name an ONNX file, its folder or a jar")
    for folder in dict.fromkeys((model.parent, path, model.parent.parent)):
        if not folder.is_dir():
            continue
        named = folder / TOKENIZER
        others = sorted(folder.glob(f"*{TOKENIZER}"))
        if named.is_file() or len(others) == 1:
            found = named if named.is_file() else others[0]
            return ModelFiles(ModelFile(model), ModelFile(found))
    raise BadInput(f"{model}: there is no {TOKENIZER} beside it; put it there")


def in_jar(path: Path) -> ModelFiles:
    """The model and its tokenizer in a jar, or any other zip file."""
    with zipfile.ZipFile(path) as jar:
        names = jar.namelist()
    found = []
    for suffix in (".onnx", TOKENIZER):
        which = [name for name in names if name.endswith(suffix)]
        if len(which) != 1:
            raise BadInput(
                f"{path}: it contains {len(which)} files whose names end with {suffix}"
                "; name a jar with one, or extract it and name the file"
            )
        found.append(ModelFile(path, which[0]))
    return ModelFiles(*found)


class SentenceModel:
    """A model that is ready to run."""

    def __init__(self, files: ModelFiles, threads: int = 1) -> None:
        """`threads`: that it may use at a time; 0: as many as there are cores."""
        self.files = files
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise BadInput(
                f"{files.model} needs onnxruntime and tokenizers, which are not "
                f"installed; run: {INSTALL}"
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # fatal: errors are raised
        options.intra_op_num_threads = threads
        model = files.model.read() if files.model.member else str(files.model.path)
        try:
            self.session: Any = onnxruntime.InferenceSession(
                model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has many of its own
            raise not_usable(files.model, error) from None
        try:
            self.tokenizer = Tokenizer.from_buffer(files.tokenizer.read())
            self.tokenizer.no_padding()
            self.tokenizer.enable_truncation(MOST_TOKENS)
        except BadInput:
            raise
        except Exception as error:  # whatever the library raises
            raise not_usable(files.tokenizer, error) from None
        self.inputs = {each.name for each in self.session.get_inputs()}

    def affixes(self) -> tuple[list[int], list[int]]:
        """The pieces before and after every text."""
        encoded = self.tokenizer.encode("a")
        marks = encoded.special_tokens_mask
        if 0 not in marks:
            raise BadInput(
                f"{self.files.tokenizer}: it has no piece for the letter a; {REMEDY}"
            )
        begin = marks.index(0)
        end = len(marks) - marks[::-1].index(0)
        return encoded.ids[:begin], encoded.ids[end:]

    def run(self, ids: Ids) -> Vector:
        """The vector of each row of pieces: the mean over its pieces."""
        given = {"input_ids": ids, MASKS[0]: np.ones_like(ids)}
        given[MASKS[1]] = np.zeros_like(ids)
        wanted = {name: given[name] for name in given if name in self.inputs}
        try:
            hidden = self.session.run(None, wanted)[0]
        except Exception as error:  # onnxruntime has many of its own
            raise not_usable(self.files.model, error) from None
        vectors: Vector = hidden.mean(axis=1) if hidden.ndim == 3 else hidden
        if vectors.ndim != 2 or len(vectors) != len(ids):
            raise BadInput(
                f"{self.files.model}: its first output has the shape {hidden.shape}; "
                "choose a sentence model, whose output is (texts, words, dimensions)"
            )
        return vectors

    def vector(self, text: str) -> Vector:
        """The unit vector of the beginning of a text; zeros if there is none."""
        try:
            ids = np.array([self.tokenizer.encode(text).ids], np.int64)
        except Exception as error:  # whatever the library raises
            raise not_usable(self.files.tokenizer, error) from None
        if not ids.size:
            return np.zeros(1, np.float32)
        [vector] = self.run(ids).astype(np.float32)
        if not np.isfinite(vector).all():
            raise BadInput(f"{self.files.model}: some of its vectors are no numbers")
        unit: Vector = vector / max(float(np.linalg.norm(vector)), 1e-12)
        return unit

    def check(self) -> None:
        """Raise BadInput if it cannot turn texts of the greatest length into
        vectors."""
        if not self.vector(SAMPLE).any():
            raise BadInput(f"{self.files.model}: its vectors are empty; {REMEDY}")


def not_usable(file: ModelFile, error: Exception) -> BadInput:
    """The error for a model that cannot be run."""
    why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return BadInput(f"{file} cannot be used: {why}; {REMEDY}")
