"""Counting with numpy gives what counting word by word gives."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from opilio import words
from opilio.read import lexicon
from opilio.read.lexicon import Lexicon
from opilio.read.simhash import distance
from opilio.words import Vocabulary

TERMS = [
    "chemistry",
    "chemical elements",
    "Newton’s law",
    "रसायन विज्ञान",
    "h2o",
    "化学",
]
PHRASES = [
    *("chemical elements", "Chemical — element", "newton’s laws", "Newton's law"),
    *(
        "रसायन विज्ञान",
        "chemistry",
        "elements chemical",
        "H2O",
        "化学反応",
        "naïve",
        "–",
    ),
    *("the", "a", "of", "running", "ran", "_under_score_", "x" * 70, "é" * 40, "\0"),
    *("\u00a0", "word\u00a0word", "ﬁne", "İstanbul", "co\u00adoperate", "\ud800"),
]

texts = st.lists(
    st.sampled_from(PHRASES) | st.text(max_size=12) | st.from_regex(r"[a-zA-Z]{1,30}")
).map(" ".join)


def plain_simhash(counts: Counter[str]) -> int:
    """Charikar's definition, bit by bit."""
    simhash = 0
    for byte in range(8):
        for bit in range(8):
            mask = 1 << (8 * byte + 7 - bit)
            total = sum(
                (1 + math.log(tf))
                * (
                    1
                    if xxh3_64_intdigest(stem.encode("utf-8", "replace")) & mask
                    else -1
                )
                for stem, tf in counts.items()
            )
            simhash |= mask if total > 0 else 0
    return simhash


@pytest.fixture(scope="module")
def shared() -> Lexicon:
    """One that has met the words of all examples before."""
    return Lexicon(Vocabulary(TERMS))


@settings(max_examples=300)
@given(text=texts)
def test_counting_at_once_is_counting_word_by_word(shared: Lexicon, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    vector = shared.vector(text.encode())
    stems = words.stem(words.tokens(text))
    counts = Counter(stems)
    norm = math.sqrt(sum((1 + math.log(tf)) ** 2 for tf in counts.values()))
    assert vector.words == len(stems)
    assert vector.terms == Vocabulary(TERMS).count(stems, counts)
    assert vector.norm == pytest.approx(norm, rel=1e-5)
    assert Lexicon(Vocabulary(TERMS)).vector(text.encode()) == vector


def test_the_simhash_is_charikars() -> None:
    text = " ".join(f"word{number} " * (1 + number % 7) for number in range(100))
    vector = Lexicon(Vocabulary([])).vector(text.encode())
    expected = plain_simhash(Counter(words.stem(words.tokens(text))))
    assert distance(vector.simhash, expected) <= 1  # a sum may be as good as zero


def test_a_short_text_has_no_simhash() -> None:
    counter = Lexicon(Vocabulary([]))
    assert counter.vector(b"word " * 49).simhash == 0
    assert counter.vector(b"word " * 50).simhash != 0


def test_words_that_share_a_place_in_the_table_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lexicon, "TABLE_BITS", 1)
    text = " ".join(f"word{number % 50}" for number in range(500))
    counter = Lexicon(Vocabulary(["word7"]))
    for _ in range(3):
        vector = counter.vector(text.encode())
        assert vector.terms == {"word7": 10}
        assert vector.norm == pytest.approx(math.sqrt(50) * (1 + math.log(10)))


def test_long_words_with_one_beginning_are_told_apart() -> None:
    long = "x" * lexicon.LONG
    counter = Lexicon(Vocabulary([f"{long}a", long]))
    for _ in range(2):
        vector = counter.vector(f"{long}a {long}b {long} {long}a".encode())
        assert vector.terms == {f"{long}a": 2, long: 1}


def test_only_so_much_of_a_text_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "LONGEST", 17)
    vector = Lexicon(Vocabulary([])).vector("слово слово слово".encode())
    assert vector.words == 2


def test_no_words_are_no_vector() -> None:
    assert Lexicon(Vocabulary(["x"])).vector(b" \n-- ") == (0, {}, 0.0, 0)
