"""`opilio vectors build` makes a table from a sentence model; `show` compares texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crawling import opilio
from opilio.cli import app
from opilio.errors import BadInput
from opilio.vectors import distil
from opilio.vectors.files import read_table
from vectors.sentence_models import PIECES, make_jar, make_model, write_model
from vectors.tables import load_table, make_table


@pytest.fixture
def model(tmp_path) -> Path:
    return make_model(tmp_path / "model")


def test_a_table_knows_what_the_model_knows(model, tmp_path):
    source = distil.build(model, tmp_path / "table.npz")
    assert "model.onnx (SHA-256" in source and "3 of 3 dimensions" in source
    table = read_table(str(tmp_path / "table.npz"))
    assert table.source == source
    assert table.matrix.dtype == np.float16
    found = load_table(tmp_path / "table.npz")
    assert found.of("LAKE") @ found.of("river") > 0.8
    assert found.of("lake") @ found.of("honey") < 0
    assert not table.matrix[[0, 1, 2, 3]].any()  # [PAD], …: in no text


def test_the_vectors_are_centred_principal_components_weighed_by_rank(model, tmp_path):
    distil.build(model, tmp_path / "table.npz")
    matrix = read_table(str(tmp_path / "table.npz")).matrix.astype(float)
    first = PIECES.index("lake")
    rank = np.maximum(1, np.arange(len(PIECES)) - first + 1)
    bare = (matrix / np.log1p(rank)[:, None])[4:]
    assert bare.mean(axis=0) == pytest.approx(np.zeros(3), abs=2e-3)
    spread = bare.T @ bare
    assert np.abs(spread - np.diag(np.diag(spread))).max() < 2e-3 * spread.max()
    assert list(np.diag(spread)) == sorted(np.diag(spread), reverse=True)


def test_the_same_model_gives_the_same_table(model, tmp_path):
    for name in ("one.npz", "two.npz"):
        distil.build(model, tmp_path / name)
    one, two = (read_table(str(tmp_path / name)) for name in ("one.npz", "two.npz"))
    assert (one.matrix == two.matrix).all() and one.source == two.source


def test_models_may_ask_for_masks_and_answer_with_one_vector(model, tmp_path):
    distil.build(model, tmp_path / "plain.npz")
    every = ("input_ids", "attention_mask", "token_type_ids")
    write_model(model / "model.onnx", every, pooled=True)
    distil.build(model / "model.onnx", tmp_path / "other.npz")
    plain, other = (load_table(tmp_path / name) for name in ("plain.npz", "other.npz"))
    for text in ("lake", "bee honey"):
        assert plain.of(text) == pytest.approx(other.of(text), abs=2e-3)


def test_the_files_of_a_model_are_found(model, tmp_path):
    (model / "onnx").mkdir()
    (model / "model.onnx").rename(model / "onnx" / "model.onnx")
    assert distil.find_model(model).tokenizer.path == model / "tokenizer.json"
    (model / "tokenizer.json").rename(model / "x-tokenizer.json")
    assert distil.find_model(model).tokenizer.path == model / "x-tokenizer.json"
    (model / "onnx" / "model.onnx").rename(model / "onnx" / "a.onnx")
    (model / "onnx" / "b.onnx").touch()
    with pytest.raises(BadInput, match=r"a\.onnx, b\.onnx\); name its file"):
        distil.find_model(model)
    (model / "x-tokenizer.json").unlink()
    with pytest.raises(BadInput, match=r"no tokenizer\.json beside it"):
        distil.find_model(model / "onnx" / "a.onnx")
    with pytest.raises(BadInput, match=r"there is no \.onnx file"):
        distil.find_model(tmp_path)


def test_a_jar_gives_the_same_table(model, tmp_path):
    jar = make_jar(tmp_path / "model.jar", model)
    for path, name in ((model, "one.npz"), (jar, "two.npz")):
        distil.build(path, tmp_path / name)
    one, two = (read_table(str(tmp_path / name)) for name in ("one.npz", "two.npz"))
    assert (one.matrix == two.matrix).all()


def test_what_cannot_be_distilled_is_refused(model, tmp_path):
    (tmp_path / "there.npz").touch()
    with pytest.raises(BadInput, match="exists; remove it"):
        distil.build(model, tmp_path / "there.npz")
    with pytest.raises(BadInput, match="ends with"):
        distil.build(model, tmp_path / "table")
    write_model(model / "model.onnx", ("input_ids", "another"))
    with pytest.raises(BadInput, match=r"cannot be used: .*another"):
        distil.build(model, tmp_path / "table.npz")
    (model / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(BadInput, match=r"model\.onnx cannot be used"):
        distil.build(model, tmp_path / "table.npz")
    (model / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match=r"is not a tokenizer\.json"):
        distil.build(model, tmp_path / "table.npz")
    assert not (tmp_path / "table.npz").exists()


async def test_commands_build_and_show_a_table(model, tmp_path):
    table = str(tmp_path / "table.npz")
    built = await opilio("vectors", "build", str(model), "-o", table)
    assert built.code == 0, built.err
    assert "from model.onnx" in built.out
    shown = await opilio("vectors", "show", table, "lake", "[river]", "xyzzy")
    assert shown.code == 0, shown.err
    assert "10 pieces of words, 3 dimensions\n" in shown.out
    assert "[river]" in shown.out and "no word of 'xyzzy' is known" in shown.out


def test_show_says_how_much_of_a_wide_table_is_used(tmp_path):
    wide = np.ones((15, 300), np.float16)  # as many pieces as its tokenizer has
    table = str(make_table(tmp_path / "table.npz", wide))
    shown = CliRunner().invoke(app, ["vectors", "show", table])
    assert "15 pieces of words, 300 dimensions, of which 256 are used" in shown.output


def test_show_answers_programs(tmp_path):
    table = str(make_table(tmp_path / "table.npz"))
    arguments = ["vectors", "show", table, "lake ship", "lake", "bee", "--json"]
    told = json.loads(CliRunner().invoke(app, arguments).output)
    assert told["dimensions"] == told["used"] == told["pieces"] == 15
    assert told["similar"] == [
        ["lake ship", "lake", 0.707],
        ["lake ship", "bee", 0.0],
        ["lake", "bee", 0.0],
    ]
    many = CliRunner().invoke(app, ["vectors", "show", table, *["a"] * 21])
    assert "at most 20" in str(many.exception)
