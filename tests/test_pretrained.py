"""Weights files: the one in the package, and what is said of others."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from opilio.errors import BadInput
from opilio.judge.opilio import SCALES
from opilio.pretrained import FORMAT, PACKAGED, Weights, load_weights, weights_for
from opilio.strategies.shared.chooser.features import WITH_VECTORS, WITHOUT_VECTORS

FREE = {"pages", "base"}  # the only weights that may be negative


@pytest.mark.parametrize("vectors", [True, False])
def test_the_weights_in_the_package_are_of_known_features_and_not_negative(
    vectors: bool,
):
    found = weights_for("", vectors)
    features = WITH_VECTORS if vectors else WITHOUT_VECTORS
    assert set(found.chooser.weights) <= set(features) | FREE
    evidence = {"cosine", "bm25", "address"} | (
        {"opening", "text"} if vectors else set()
    )
    assert set(found.opening.weights) <= evidence
    assert set(found.judge.weights) <= set(SCALES) | {"title", "site", "like_seeds"}
    for linear in (found.opening, found.judge, found.chooser):
        negative = {name for name, weight in linear.weights.items() if weight < 0}
        assert negative <= FREE


def test_a_file_of_ones_own_is_read(tmp_path: Path):
    changed = msgspec.json.decode(PACKAGED.read_bytes())
    changed["with_vectors"]["chooser"]["bias"] = -7.5
    file = tmp_path / "mine.json"
    file.write_bytes(msgspec.json.encode(changed))
    assert isinstance(weights_for(str(file), True), Weights)
    assert weights_for(str(file), True).chooser.bias == -7.5
    assert weights_for(str(file), True).chooser.of("no such feature") == 0.0
    assert weights_for("", True).chooser.bias != -7.5


BROKEN = {
    "no JSON": (b"weights", "is not a weights file"),
    "another thing": (b'{"a": 1}', "is not a weights file"),
    "words for numbers": (
        PACKAGED.read_bytes().replace(b'"bias": ', b'"bias": "x", "b": ', 1),
        "Expected `float`",
    ),
    "another format": (
        PACKAGED.read_bytes().replace(b'"format": 1', b'"format": 99', 1),
        f"has format 99, this version reads {FORMAT}",
    ),
    "not UTF-8": (b'{"format": "\xff"}', "is not a weights file"),
    "nothing": (b"", "is not a weights file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_by_name_with_a_remedy(name: str, tmp_path: Path):
    content, says = BROKEN[name]
    file = tmp_path / "weights.json"
    file.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        load_weights(str(file))
    assert str(file) in str(refused.value)
    assert says in str(refused.value)
    assert "opilio lab train" in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(BadInput, match=r"missing\.json cannot be read: No such file"):
        load_weights(str(tmp_path / "missing.json"))
