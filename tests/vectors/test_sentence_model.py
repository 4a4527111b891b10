"""Sentence models are found in folders, files and jars, and turn texts into vectors."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from opilio.errors import BadInput
from opilio.vectors.sentence_model import SentenceModel, find_model
from vectors.sentence_models import make_jar, make_model, onnx, write_model


@pytest.fixture
def model(tmp_path) -> Path:
    return make_model(tmp_path / "model")


def loaded(path: Path) -> SentenceModel:
    made = SentenceModel(find_model(path))
    made.check()
    return made


def test_similar_texts_have_similar_vectors_in_every_kind_of_file(model, tmp_path):
    jar = make_jar(tmp_path / "model.jar", model)
    for path in (model, model / "model.onnx", jar):
        made = loaded(path)
        lake, river, bee = map(made.vector, ("Lake", "river rivers", "honey bees"))
        assert lake @ river > 0.8 > lake @ bee
        assert np.linalg.norm(bee) == pytest.approx(1)


def test_only_the_beginning_of_a_text_is_read(model):
    made = loaded(model)
    assert made.vector("lake " * 300 + "bee " * 300) == pytest.approx(
        made.vector("lake " * 300)
    )


def test_masks_are_given_to_models_that_ask_for_them(model):
    plain = loaded(model).vector("lake bee")
    every = ("input_ids", "attention_mask", "token_type_ids")
    write_model(model / "model.onnx", every, pooled=True)
    assert loaded(model).vector("lake bee") == pytest.approx(plain, abs=1e-5)


def test_broken_files_are_named_with_a_remedy(model, tmp_path):
    with pytest.raises(BadInput, match=r"nowhere does not exist; name an ONNX file"):
        find_model(tmp_path / "nowhere")
    jar = tmp_path / "empty.jar"
    with zipfile.ZipFile(jar, "w") as empty:
        empty.writestr("a.txt", "a")
    with pytest.raises(BadInput, match=r"empty\.jar: it contains 0 files .*\.onnx"):
        find_model(jar)
    (model / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match=r"tokenizer\.json cannot be used"):
        loaded(model)
    (model / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(BadInput, match=r"model\.onnx cannot be used: .*sentence model"):
        loaded(model)


def test_a_model_for_short_texts_only_is_refused_before_it_is_used(model):
    write_model(model / "model.onnx")
    made = onnx.load(str(model / "model.onnx"))
    [shape] = [made.graph.input[0].type.tensor_type.shape]
    shape.dim[1].dim_value = 4
    onnx.save(made, str(model / "model.onnx"))
    with pytest.raises(BadInput, match=r"model\.onnx cannot be used"):
        loaded(model)
