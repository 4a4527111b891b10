"""Makes small sentence models in ONNX for tests."""

from __future__ import annotations

import string
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

onnx = pytest.importorskip("onnx")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime")

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "lake",
    "river",
    "bee",
    "honey",
    "##s",
]
WATER, HONEY = [1.0, 0.2, 0.0], [0.0, 0.2, 1.0]
MEANT = {"lake": WATER, "river": WATER, "bee": HONEY, "honey": HONEY}


LETTERS = [
    *PIECES[:4],
    *(f"{mark}{letter}" for mark in ("", "##") for letter in string.ascii_lowercase),
]


def write_tokenizer(path: Path, pieces: Sequence[str] = PIECES) -> None:
    """As BERT's, with padding, which models that are made for batches have."""
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    model = tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]")
    made = tokenizers.Tokenizer(model)
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_padding(length=8)
    made.save(str(path))


def table_of_words() -> npt.NDArray[np.float32]:
    """A vector for each piece; those of MEANT are near their meaning."""
    rng = np.random.default_rng(1)
    table = rng.normal(scale=0.05, size=(len(PIECES), 3)).astype(np.float32)
    for piece, vector in MEANT.items():
        table[PIECES.index(piece)] += np.array(vector, np.float32)
    return table


def write_model(
    path: Path,
    wanted: tuple[str, ...] = ("input_ids",),
    pooled: bool = False,
    table: npt.NDArray[np.float32] | None = None,
) -> None:
    """A model that answers with the vectors of its words."""
    table = table_of_words() if table is None else table
    make, kinds = onnx.helper, onnx.TensorProto
    nodes = [make.make_node("Gather", ["table", "input_ids"], ["hidden"])]
    shape: list[str | int] = ["n", "m", 3]
    if pooled:
        nodes.append(make.make_node("ReduceMean", ["hidden"], ["out"], axes=[1]))
        nodes[-1].attribute.append(make.make_attribute("keepdims", 0))
        shape = ["n", 3]
    inputs = [
        make.make_tensor_value_info(name, kinds.INT64, ["n", "m"]) for name in wanted
    ]
    outputs = [
        make.make_tensor_value_info("out" if pooled else "hidden", kinds.FLOAT, shape)
    ]
    weights = [onnx.numpy_helper.from_array(table, "table")]
    graph = make.make_graph(nodes, "sentences", inputs, outputs, weights)
    opset = [make.make_opsetid("", 13)]
    onnx.save(make.make_model(graph, opset_imports=opset, ir_version=8), str(path))


def make_model(folder: Path) -> Path:
    """A folder with a model and its tokenizer."""
    folder.mkdir()
    write_model(folder / "model.onnx")
    write_tokenizer(folder / "tokenizer.json")
    return folder


def make_letter_model(folder: Path) -> Path:
    """A model that tells texts apart by their letters, whatever the words."""
    folder.mkdir()
    rng = np.random.default_rng(2)
    table = rng.normal(size=(len(LETTERS), 3)).astype(np.float32)
    write_model(folder / "model.onnx", table=table)
    write_tokenizer(folder / "tokenizer.json", LETTERS)
    return folder


def make_jar(path: Path, model: Path) -> Path:
    """A jar with the files of a model, under other names, as Java packages have."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
        jar.write(model / "model.onnx", "small-sentences.onnx")
        jar.write(model / "tokenizer.json", "small-sentences-tokenizer.json")
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    return path
