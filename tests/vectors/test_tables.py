"""Tables of word vectors are read from disk, and bad ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from opilio.errors import BadInput
from opilio.vectors import files
from opilio.vectors.files import installed, read_safetensors, read_table, resolve
from vectors.tables import make_table, tokenizer_json

wordllama = pytest.mark.skipif(installed() is None, reason="needs opilio[vectors]")


def safetensors(path: Path, header: object, data: bytes = b"") -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(kind: str = "F32", shape: tuple[int, ...] = (2, 2), size: int = 16):
    return {"t": {"dtype": kind, "shape": shape, "data_offsets": [0, size]}}


def test_an_array_of_a_safetensors_file_is_read(tmp_path):
    data = np.arange(4, dtype="<f4")
    path = safetensors(tmp_path / "a", tensor() | {"__metadata__": {}}, data.tobytes())
    assert read_safetensors(path).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (tensor(), bytes(15), "is cut short: it has"),
        (tensor(shape=(2, 3)), bytes(16), "contradicts itself"),
        (tensor(size=-16), bytes(16), "contradicts itself"),
        (tensor(kind="I64"), bytes(16), "F16 or F32"),
        (tensor() | {"u": {}}, bytes(16), "one array"),
        ({}, b"", "one array"),
        (b"{", b"", "one array"),
        (b"\xff\xfe", b"", "one array"),
        (b"", b"", "is not a safetensors file"),
        ({"t": 5}, b"", "one array"),
    ],
)
def test_bad_safetensors_files_are_refused(tmp_path, header, data, message):
    with pytest.raises(BadInput, match=message):
        read_safetensors(safetensors(tmp_path / "bad", header, data))


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "huge").write_bytes(b"\xff" * 16)
    for name in ("empty", "huge", "missing"):
        with pytest.raises(BadInput, match=name):
            read_safetensors(tmp_path / name)


@pytest.mark.parametrize(
    ("matrix", "tokenizer", "message"),
    [
        (np.zeros((3, 4), np.float16), None, "does not fit a vocabulary of 15 pieces"),
        (np.zeros(15, np.float16), None, "does not fit"),
        (np.zeros((15, 0), np.float16), None, "does not fit"),
        (np.zeros((15, 4), np.int64), None, "of type int64"),
        (None, b"{", "is not a tokenizer.json"),
        (None, b'{"model": {"vocab": {"a": -1}}}', "numbers that cannot be"),
        (None, b'{"model": {"type": "Unigram", "vocab": [["a", 0]]}}', "Unigram"),
        (None, b'{"model": {"type": "BPE", "vocab": {"a": 0}}}', "BPE or WordPiece"),
    ],
)
def test_bad_tables_are_refused(tmp_path, matrix, tokenizer, message):
    path = make_table(tmp_path / "bad.npz", matrix, tokenizer)
    with pytest.raises(BadInput, match=message):
        read_table(str(path))


def test_what_is_no_table_is_refused_with_the_remedy(tmp_path):
    whole = make_table(tmp_path / "whole.npz").read_bytes()
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", vectors=np.array([{}], object))
    (tmp_path / "text.npz").write_text("not a table")
    (tmp_path / "short.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "torn.npz").write_bytes(whole[:600] + bytes(64) + whole[664:])
    for name in ("other", "pickled", "text", "short", "torn"):
        with pytest.raises(BadInput, match=r"opilio vectors build MODEL -o"):
            read_table(str(tmp_path / f"{name}.npz"))


def test_a_tokenizer_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TOKENIZER", 10)
    (tmp_path / "t.json").write_bytes(tokenizer_json())
    with pytest.raises(BadInput, match="at most 10 are read"):
        files.read_tokenizer(tmp_path / "t.json")


def test_a_setting_names_a_table(tmp_path, monkeypatch):
    path = make_table(tmp_path / "table.npz")
    monkeypatch.chdir(tmp_path)
    assert resolve("table.npz") == str(path)
    assert resolve("none") == resolve("") == ""
    with pytest.raises(BadInput, match=r"missing\.npz is no file; give auto, none"):
        resolve("missing.npz")


def test_without_wordllama_there_are_none_unless_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    monkeypatch.setattr(files.english, "FILE", Path("missing"))
    assert resolve("auto") == ""
    for use in (resolve, read_table):
        with pytest.raises(BadInput, match=r"pip install 'opilio\[vectors\]'"):
            use("wordllama")


@wordllama
def test_wordllama_is_found_and_read_without_importing_it():
    import sys

    assert resolve("auto", "de") == resolve("wordllama") == "wordllama"
    table = read_table("wordllama")
    assert table.matrix.shape == (32000, 256)
    assert "wordllama" not in sys.modules
