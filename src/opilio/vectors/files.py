"""Finds and reads tables of word vectors on disk; nothing is ever downloaded."""

from __future__ import annotations

import mmap
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.vectors import english
from opilio.vectors.tokenizer import Tokenizer, TokenizerFile

AUTO, NONE, ENGLISH, WORDLLAMA = "auto", "none", "english", "wordllama"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
INSTALL = "install it: pip install 'opilio[vectors]'"
MOST_HEADER = 2**20  # bytes of the header of a safetensors file
MOST_TOKENIZER = 2**26  # bytes of a tokenizer file
MOST_PIECES = 2**20
TYPES = {"F16": "<f2", "F32": "<f4"}

Matrix = npt.NDArray[np.float16] | npt.NDArray[np.float32]


class VectorTable(NamedTuple):
    """A vector for each piece of a vocabulary."""

    matrix: Matrix | english.CodedMatrix  # a row for each piece
    tokenizer: Tokenizer
    source: str  # what it was made from


class Tensor(msgspec.Struct, frozen=True):
    """An array in a safetensors file."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


def resolve(setting: str, language: str = "en") -> str:
    """What a setting of vectors names: "" for none, a table by its name, or the path of
    one.

    `auto` is the table of English words for topics in English, if it was made on this
    machine, or else that of wordllama, if that is installed.
    """
    if setting == NONE or not setting:
        return ""
    if setting == AUTO:
        if language.partition("-")[0] == "en" and english.FILE.is_file():
            return ENGLISH
        return WORDLLAMA if installed() else ""
    if setting == ENGLISH:
        if not english.FILE.is_file():
            raise BadInput(
                f"vectors: there is no table of English words at {english.FILE}; "
                f"{english.MAKE_IT}"
            )
        return ENGLISH
    if setting == WORDLLAMA:
        if not installed():
            raise BadInput(f"vectors: the package wordllama is missing; {INSTALL}")
        return WORDLLAMA
    path = Path(setting).absolute()
    if not path.is_file():
        raise BadInput(
            f"vectors: {setting} is no file; give auto, none, {ENGLISH}, {WORDLLAMA}, "
            "or the path of a table that `opilio vectors build` made"
        )
    return str(path)


def installed() -> Path | None:
    """The folder of wordllama; None: it is not installed. Importing it takes long."""
    found = find_spec(WORDLLAMA)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    return folder if (folder / WEIGHTS).is_file() else None


def read_table(name: str) -> VectorTable:
    """The table that a resolved setting names."""
    if name == ENGLISH:
        return VectorTable(*english.read(english.FILE))
    if name != WORDLLAMA:
        return read_built(Path(name))
    folder = installed()
    if folder is None:
        raise BadInput(f"vectors: the package wordllama is missing; {INSTALL}")
    matrix = read_safetensors(folder / WEIGHTS)
    tokenizer = read_tokenizer(folder / TOKENIZER)
    return checked(VectorTable(matrix, tokenizer, WORDLLAMA), folder / WEIGHTS)


def checked(table: VectorTable, path: Path) -> VectorTable:
    """The table, if it has a row for each piece."""
    matrix, pieces = table.matrix, table.tokenizer.vocabulary
    highest = max(pieces.values(), default=-1)
    if matrix.ndim != 2 or not matrix.shape[1] or highest >= len(matrix):
        raise BadInput(
            f"{path}: an array of shape {matrix.shape} does not fit a vocabulary of "
            f"{highest + 1:,} pieces; make the table again or reinstall the package"
        )
    if min(pieces.values(), default=0) < 0 or len(matrix) > MOST_PIECES:
        raise BadInput(f"{path}: its vocabulary has numbers that cannot be")
    return table


def read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer in a tokenizer.json."""
    try:
        if (size := path.stat().st_size) > MOST_TOKENIZER:
            raise BadInput(
                f"{path} has {size:,} bytes; at most {MOST_TOKENIZER:,} are read"
            )
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    return tokenizer_from(data, str(path))


def tokenizer_from(data: bytes, name: str) -> Tokenizer:
    """The tokenizer that this JSON describes."""
    try:
        found = msgspec.json.decode(data, type=TokenizerFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is not a tokenizer.json: {error}") from None
    return Tokenizer(found, name)


def read_safetensors(path: Path) -> Matrix:
    """The one array of a safetensors file, mapped into memory.

    The file is the length of a header in 8 bytes, the header in JSON, and the data.
    """
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    size = int.from_bytes(data[:8], "little")
    if not 0 < size <= MOST_HEADER:
        raise BadInput(f"{path} is not a safetensors file")
    try:
        header = msgspec.json.decode(data[8 : 8 + size], type=dict[str, msgspec.Raw])
        header.pop("__metadata__", None)
        (described,) = header.values()
        tensor = msgspec.json.decode(described, type=Tensor)
        kind = np.dtype(TYPES[tensor.dtype])
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError, KeyError):
        raise BadInput(
            f"{path}: a safetensors file with one array of F16 or F32 is expected"
        ) from None
    start, end = (8 + size + offset for offset in tensor.data_offsets)
    many = end - start
    if many != np.prod(tensor.shape, dtype=np.int64) * kind.itemsize or many < 0:
        raise BadInput(f"{path}: its header contradicts itself")
    if end > len(data):
        raise BadInput(f"{path} is cut short: it has {len(data):,} bytes of {end:,}")
    found: Matrix = np.frombuffer(data, kind, many // kind.itemsize, start)
    return found.reshape(tensor.shape)


def read_built(path: Path) -> VectorTable:
    """A table that `opilio vectors build` made."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as found:
            matrix, source = found["vectors"], bytes(found["source"]).decode()
            tokenizer = tokenizer_from(bytes(found["tokenizer"]), str(path))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"{path} is not a table of vectors ({error}); make one: opilio vectors "
            f"build MODEL -o {path}"
        ) from None
    if matrix.dtype not in (np.float16, np.float32):
        raise BadInput(f"{path}: its vectors are of type {matrix.dtype}, not float16")
    return checked(VectorTable(matrix, tokenizer, source), path)
