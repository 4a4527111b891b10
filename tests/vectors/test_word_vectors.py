"""Words and texts have vectors: the sums of those of their pieces."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from opilio.errors import BadInput
from opilio.vectors import plain_merges, words
from opilio.vectors import tokenizer as tokenizer_module
from opilio.vectors.files import installed, read_table, tokenizer_from
from opilio.vectors.plain_merges import sums_of_rows
from opilio.vectors.words import DIMENSIONS, Vectors, load_vectors
from vectors.tables import PIECES, load_table, make_table, tokenizer_json

wordllama = pytest.mark.skipif(installed() is None, reason="needs opilio[vectors]")


@pytest.fixture
def vectors(tmp_path) -> Vectors:
    return load_table(make_table(tmp_path / "table.npz"))


def told(vector) -> dict[str, float]:
    return {PIECES[at]: pytest.approx(vector[at]) for at in np.flatnonzero(vector)}


def test_a_text_is_the_unit_vector_of_the_sum_of_its_words(vectors):
    third = 3**-0.5
    found = vectors.of("The river, SAILING!")
    assert told(found) == {"river": third, "sail": third, "##ing": third}
    assert found.dtype == np.float32


def test_stop_words_count_only_where_there_is_nothing_else(vectors):
    assert told(vectors.of("the")) == {"the": 1}
    assert "the" not in told(vectors.of("the lake"))


def test_a_stop_word_that_is_not_common_counts(tmp_path):
    pieces = [
        "the",
        "of",
        *(f"x{n}" for n in range(18)),
        "system",
        "lake",
        "bee",
        "hive",
    ]
    matrix = np.eye(len(pieces), dtype=np.float16)
    tokenizer = tokenizer_json(pieces)
    found = load_table(make_table(tmp_path / "t.npz", matrix, tokenizer))
    assert np.flatnonzero(found.of("the system of the lake")).tolist() == [20, 21]


def test_unknown_words_have_no_vector(vectors):
    for text in ("", "xyzzy", "fishes", "?!", "नदी", "w" * 10_000):
        assert not vectors.of(text).any()
        assert vectors.of(text).shape == (vectors.size,)


def test_accents_are_taken_off_where_the_tokenizer_says_so(vectors):
    assert told(vectors.of("rívér")) == {"river": 1}


def test_only_the_first_dimensions_are_used(tmp_path):
    found = load_table(make_table(tmp_path / "table.npz"), dimensions=4)
    assert found.size == 4
    assert told(found.of("water ship")) == {"water": 1}


def test_numbers_that_are_none_are_not_taken_over(tmp_path):
    matrix = np.eye(len(PIECES), dtype=np.float16)
    matrix[PIECES.index("lake")] = np.inf
    found = load_table(make_table(tmp_path / "table.npz", matrix))
    assert not found.of("lake").any()
    assert told(found.of("lake river")) == {"river": 1}


def test_what_is_remembered_is_bounded(vectors, monkeypatch):
    monkeypatch.setattr(words, "MOST_WORDS", 10)
    monkeypatch.setattr(words, "MOST_TEXTS", 10)
    for number in range(100):
        vectors.of(f"lake w{number}")
        assert max(len(vectors._words), len(vectors._texts)) <= 10
    vectors.of("lake " * 1000)
    assert max(map(len, vectors._texts)) <= words.LONGEST_KEPT


def test_rare_words_stand_late_in_the_vocabulary(vectors):
    assert vectors.rarity("the") < vectors.rarity("water") < vectors.rarity("fish") < 1
    assert vectors.rarity("sailing") == vectors.rarity("xyzzy") == 1
    both = (vectors.rarity("water") + vectors.rarity("xyzzy")) / 2
    assert vectors.rarity("water xyzzy") == pytest.approx(both)
    assert vectors.rarity("") == 0


def test_terms_have_their_vectors_by_key(vectors):
    found = vectors.by_key({"lake": "Lakes", "x": "xyzzy"})
    assert told(np.frombuffer(found["lake"], "<f4")).keys() == {"lake", "##s"}
    assert found["x"] == bytes(4 * vectors.size)


@pytest.fixture(params=["compiled", "plain"])
def merges(request, monkeypatch):
    if request.param == "plain":
        monkeypatch.setattr(tokenizer_module, "Merges", plain_merges.Merges)
    elif tokenizer_module.Merges is plain_merges.Merges:
        pytest.skip("no C compiler was there when Opilio was installed")


def bpe(vocabulary: list[str], merges: list, **more):
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    model = {"type": "BPE", "vocab": numbers, "merges": merges, **more}
    tokenizer = tokenizer_from(json.dumps({"model": model}).encode(), "test")
    return lambda word: [vocabulary[number] for number in tokenizer.pieces(word)]


def test_pairs_are_merged_in_the_order_of_the_merges(merges):
    letters = ["▁", "a", "b", "c", "ab", "bc", "▁ab", "▁Ab"]
    merges = ["b c", "a b", ["▁", "ab"]]
    pieces = bpe(letters, merges)
    assert pieces("abc") == ["▁", "a", "bc"]
    assert pieces("abab") == ["▁ab", "ab"]
    assert pieces("ab") == ["▁ab"]
    assert pieces("abx") == ["▁ab"]  # without the letter that is unknown


def test_bytes_stand_for_letters_that_a_vocabulary_lacks(merges):
    letters = ["<unk>", "▁", "a", "▁a", "<0xC3>", "<0xA9>"]
    pieces = bpe(letters, ["▁ a"], byte_fallback=True, unk_token="<unk>")
    assert pieces("é") == ["▁", "<0xC3>", "<0xA9>"]


def test_byte_level_merges_are_read(merges):
    pieces = bpe(["Ġ", "a", "Ã", "©", "Ġa", "Ã©"], ["Ġ a", "Ã ©"])
    assert pieces("aé") == ["Ġa", "Ã©"]


def test_a_name_is_taken_with_its_capital():
    pieces = bpe(["▁", "r", "o", "m", "e", "om", "▁Rome"], ["o m"])
    assert pieces("rome") == ["▁Rome"]
    assert pieces("rom") == ["▁", "r", "om"]


def test_a_tokenizer_must_be_known():
    with pytest.raises(BadInput, match="WordLevel"):
        bpe([], [], type="WordLevel")("a")


def test_merges_are_the_same_compiled_and_plain():
    rng = random.Random(5)
    pieces = ["▁", *"abc"]
    merges = []
    for _ in range(60):
        left, right = rng.choice(pieces), rng.choice(pieces)
        if len(left + right) < 9:
            merges.append(f"{left} {right}")
            pieces.append(left + right)
    known = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    ours = tokenizer_module.Merges(known, merges, False)
    plain = plain_merges.Merges(known, merges, False)
    for _ in range(500):
        word = "▁" + "".join(rng.choices("abcx", k=rng.randrange(40)))
        assert ours.split(word) == plain.split(word)
    assert ours.split("a" * 300) == plain.split("a" * 300) == []


def test_a_vocabulary_without_words_is_no_trouble(tmp_path):
    tokenizer = tokenizer_json(["!", "?"])
    path = make_table(tmp_path / "t.npz", np.ones((2, 3), np.float16), tokenizer)
    assert load_table(path).rarity("a") == 1


@wordllama
def test_wordllama_knows_what_is_similar():
    found = load_vectors("wordllama")
    near = found.of("chemistry") @ found.of("chemical elements and molecules")
    assert near > found.of("chemistry") @ found.of("football club") + 0.3
    assert found.rarity("the") < found.rarity("water") < found.rarity("molecule")


@wordllama
def test_words_are_split_as_the_tokenizers_package_does(merges):
    tokenizers = pytest.importorskip("tokenizers")
    from opilio.vectors.files import TOKENIZER

    theirs = tokenizers.Tokenizer.from_file(str(installed() / TOKENIZER))
    ours = read_table("wordllama").tokenizer
    others = ["chemistry", "beekeeping", "naïve", "शहद", "x86", "蜂", "aaaaaa"]
    read = re.findall(r"[^\W_]+", Path(__file__).read_text())
    for word in read + others:
        assert ours.split(word) == theirs.encode(word, add_special_tokens=False).ids


@wordllama
def test_a_table_is_loaded_once_whether_its_dimensions_are_given_or_not():
    assert load_vectors("wordllama") is load_vectors("wordllama", "en", DIMENSIONS)


@pytest.mark.parametrize("longest", [1, 2, 3, 8, 12])
def test_sums_of_rows_are_those_of_numpy_to_the_last_bit(longest):
    chance = np.random.default_rng(longest)
    lengths = [*chance.integers(1, longest + 1, 50).tolist(), longest]
    rows = chance.standard_normal((sum(lengths), 16)).astype(np.float32)
    starts = np.cumsum([0, *lengths[:-1]])
    assert np.array_equal(sums_of_rows(rows, lengths), np.add.reduceat(rows, starts))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("longest", [0, 1, 3, 8, 12])
def test_sums_are_the_same_compiled_and_plain(kind, longest):
    chance = np.random.default_rng(longest)
    matrix = chance.standard_normal((50, 20)).astype(kind)
    matrix[3, 4], matrix[5, 19], matrix[6] = np.inf, np.nan, 1e-7  # 1e-7 is subnormal
    pieces = [
        chance.integers(0, 50, size).tolist()
        for size in chance.integers(0, longest + 1, 200)
    ]
    found = tokenizer_module.sums(matrix, pieces)
    assert found.dtype == np.float32
    assert np.array_equal(found, plain_merges.sums(matrix, pieces))


def test_a_piece_without_a_row_is_an_error():
    with pytest.raises(IndexError):
        tokenizer_module.sums(np.ones((3, 4), np.float16), [[0, 3]])
