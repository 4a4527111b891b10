"""A table of English words: small, decoded on demand, and refused if it is damaged."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.errors import BadInput
from opilio.vectors import english
from opilio.vectors.files import VectorTable, read_table, resolve
from opilio.vectors.words import Vectors


def units(count: int, size: int) -> np.ndarray:
    rows = np.random.default_rng(5).normal(size=(count, size)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def made(tmp_path) -> english.WordTable:
    words = ["the", "river", "lake", "harbour"]
    english.write(tmp_path / "t.npz", words, units(4, 64), "a test")
    return english.read(tmp_path / "t.npz")


def test_a_table_that_was_written_is_read_again(made):
    assert made.source == "a test"
    assert made.matrix.shape == (4, 64) and len(made.matrix) == 4
    assert made.tokenizer.pieces("lake") == [2]
    assert made.tokenizer.pieces("lakes") == made.tokenizer.pieces("xyz") == []
    assert made.tokenizer.pieces("hàrbour") == [3]


def test_rare_words_are_longer_and_codes_keep_the_direction(made):
    rows = made.matrix[[0, 1, 2, 3]]
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    expected = np.log1p([1, 2, 3, 4]) / np.log1p(4)
    assert lengths == pytest.approx(0.95 * expected, rel=0.06)
    cosines = (rows * units(4, 64)).sum(axis=1) / lengths
    assert cosines.min() > 0.9


def test_no_words_have_no_rows(made):
    assert made.matrix[[]].shape == (0, 64)


def test_auto_takes_the_table_for_english_topics_once_it_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(english, "FILE", tmp_path / "opilio" / "english.npz")
    with pytest.raises(BadInput, match="there is no table of English words"):
        resolve("english")
    assert resolve("auto") != "english"
    english.write(english.FILE, ["sea", "tide"], units(2, 64), "a test")
    assert resolve("auto") == resolve("auto", "en-GB") == resolve("english")
    assert resolve("auto") == "english" != resolve("auto", "de")
    assert read_table("english").source == "a test"


@pytest.mark.parametrize("content", [b"", b"PK", b"no table at all"])
def test_a_damaged_table_is_named(tmp_path, content):
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(BadInput, match=r"t\.npz is not a table of English words"):
        english.read(tmp_path / "t.npz")


def test_a_table_with_a_word_too_many_is_refused(tmp_path):
    english.write(tmp_path / "t.npz", ["sea", "tide", "ebb"], units(2, 64), "a test")
    with pytest.raises(BadInput, match="do not fit together"):
        english.read(tmp_path / "t.npz")


def test_texts_are_sums_of_their_words(made):
    known = Vectors(VectorTable(*made))
    [both, river] = known.sums([["river", "lake"], ["river"]])
    [lake] = known.sums([["lake", "unheard"]])
    assert both == pytest.approx(river + lake, abs=1e-6)
    assert known.rarity("the") < known.rarity("river") < known.rarity("qqqxyz")
    assert set(known.common()) == {"the", "river", "lake", "harbour"}
