"""Matching and counting at once gives what doing it word by word gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from opilio.read import kernels, lexicon, stems
from opilio.read.lexicon import Lexicon
from opilio.read.simhash import distance
from opilio.records import NOTHING
from opilio.text import words
from opilio.text.words import Vocabulary
from read.kernel_choice import KERNELS, chosen

TERMS = [
    *("chemistry", "chemical elements", "Newton’s law", "newton", "law of", "h2o"),
    *("the law of the", "the law", "law", "a a", "a a b", "b", "!?", "x" * 70),
    *("रसायन विज्ञान", "विज्ञान", "化学", "東京都", "naïve word", "ไทย"),
]
PHRASES = [
    *("chemical elements", "Chemical — element", "newton’s laws", "Newton's law"),
    *(
        "रसायन विज्ञान",
        "रसायन, विज्ञान।",
        "विज्ञान",
        "「東京都」の化学反応",
        "化学",
        "東京",
    ),
    *("chemistry", "elements chemical", "H2O", "naïve", "–", "→", "ไทย", "\0", "\n"),
    *("the law of the law", "the", "law", "of", "a", "b", "running", "ran", "x" * 70),
    *("_under_score_", "é" * 40, "\u00a0", "word\u00a0word", "ﬁne", "İstanbul", "½"),
    *("co\u00adoperate", "\ud800", "क्\u200dष", "“law”", "iPhone手機", "\r"),
]

texts = st.lists(
    st.tuples(
        st.sampled_from(PHRASES)
        | st.text(max_size=12)
        | st.from_regex(r"[a-zA-Z]{1,30}"),
        st.sampled_from([" ", " ", " ", "", "\n", "—", "\u00a0", ", "]),
    ).map("".join),
    max_size=25,
).map("".join)


def matches(stems: list[str], keys: set[str], overlapping: bool) -> Iterator[str]:
    """The terms in a line of text, tried one by one at every word."""
    taken = dict.fromkeys(keys, 0)  # the word up to which each may not begin again
    longest_first = sorted(keys, key=lambda key: -len(key.split()))
    for at in range(len(stems)):
        for key in longest_first:
            wanted = key.split()
            size = len(wanted)
            if stems[at : at + size] == wanted and at >= taken[key]:
                yield key
                taken[key] = at + size
                if not overlapping:
                    taken = dict.fromkeys(keys, at + size)


def plain_terms(
    text: str, terms: list[str], overlapping: bool, language: str = "en"
) -> Counter[str]:
    keys = {" ".join(words.stem(words.tokens(term), language)) for term in terms} - {""}
    found: Counter[str] = Counter()
    for line in text.split("\n"):
        found.update(
            matches(words.stem(words.tokens(line), language), keys, overlapping)
        )
    return found


def plain_norm(counts: Counter[str]) -> float:
    return math.sqrt(sum((1 + math.log(tf)) ** 2 for tf in counts.values()))


def plain_simhash(counts: Counter[str]) -> int:
    """Charikar's definition, bit by bit."""
    simhash = 0
    for byte in range(8):
        for bit in range(8):
            mask = 1 << (8 * byte + 7 - bit)
            total = sum(
                (1 + math.log(tf)) * (1 if hashed(stem) & mask else -1)
                for stem, tf in counts.items()
            )
            simhash |= mask if total > 0 else 0
    return simhash


def hashed(stem: str) -> int:
    return xxh3_64_intdigest(stem.encode("utf-8", "replace"))


@pytest.fixture(scope="module", autouse=True, params=KERNELS)
def small_tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """Words share their places, with either kind of kernels."""
    with chosen(request.param) as patch:
        patch.setattr(stems, "FEWEST", 64)
        patch.setattr(stems, "MOST", 64)
        yield


@pytest.fixture(scope="module", params=[False, True], ids=["longest", "overlapping"])
def shared(small_tables: None, request: pytest.FixtureRequest) -> Lexicon:
    """One that has met the words of all examples before."""
    return Lexicon(Vocabulary(TERMS), overlapping=request.param)


@settings(max_examples=60)
@given(text=texts)
def test_counting_at_once_is_counting_word_by_word(shared: Lexicon, text: str) -> None:
    total = shared.words(text).total()
    found = words.stem(words.tokens(text))
    counts = Counter(found)
    assert total.words == len(found)
    assert total.terms == plain_terms(text, TERMS, shared.overlapping)
    assert total.norm == pytest.approx(plain_norm(counts), rel=1e-5)
    hashes = sorted((hashed(stem), times) for stem, times in counts.items())
    assert np.frombuffer(total.stems, "<u8").tolist() == [value for value, _ in hashes]
    assert np.frombuffer(total.counts, "<u2").tolist() == [times for _, times in hashes]
    new = Lexicon(Vocabulary(TERMS), overlapping=shared.overlapping)
    assert new.words(text).total() == total


@settings(max_examples=60)
@given(before=texts, part=texts, after=texts)
def test_a_part_is_counted_as_if_it_stood_alone(
    shared: Lexicon, before: str, part: str, after: str
) -> None:
    counted = shared.words(f"{before} {part} {after}").between(
        len(before) + 1, len(before) + 1 + len(part)
    )
    terms = plain_terms(part, TERMS, shared.overlapping)
    assert counted.terms == terms
    counts = Counter(words.stem(words.tokens(part)))
    assert counted.norm == pytest.approx(plain_norm(counts) if terms else 0)
    assert (counted is NOTHING) == (not terms)


@settings(max_examples=60)
@given(texts, texts)
def test_the_beginning_is_counted_as_if_it_stood_alone(first: str, rest: str) -> None:
    counter = Lexicon(Vocabulary(TERMS))
    whole = counter.words(f"{first} {rest}")
    assert whole.total(len(first) + 1) == counter.words(first).total()
    assert whole.total(len(first) + len(rest) + 1) == whole.total()


@settings(max_examples=60)
@given(
    shared_out=st.lists(st.tuples(st.integers(-1, 3), texts), max_size=8), unowned=texts
)
def test_blocks_are_counted_as_if_they_stood_alone(
    shared: Lexicon, shared_out: list[tuple[int, str]], unowned: str
) -> None:
    text = f"{unowned} "
    cuts = []
    for owner, part in shared_out:
        cuts.append((len(text), owner))
        text += f"{part} "
    tallies = shared.words(text).tally(cuts, 4)
    assert len(tallies) == 4
    for block, tally in enumerate(tallies):
        parts = [part for owner, part in shared_out if owner == block]
        counts = Counter(words.stem(words.tokens(" ".join(parts))))
        terms: Counter[str] = Counter()
        for part in parts:
            terms += plain_terms(part, TERMS, shared.overlapping)
        assert tally.words == counts.total()
        assert tally.terms == terms
        assert tally.norm == pytest.approx(plain_norm(counts))
        assert tally.most == max(counts.values(), default=0)


def test_a_word_is_where_it_begins() -> None:
    text = "“Öl” 「東京都」の\u00a0chemistry"
    found = Lexicon(Vocabulary(["öl", "東京都", "京都", "chemistry"])).words(text)
    for place in range(len(text)):
        alone = found.between(place, place + 1).terms
        assert alone == {
            text.index("Ö"): {"öl": 1},
            text.index("京"): {"京都": 1},
            text.index("c"): {"chemistri": 1},
        }.get(place, {})
    assert found.between(text.index("東"), text.index("都")).terms == {"東京 京都": 1}


def test_no_word_is_part_of_what_separates_words() -> None:
    table = np.ones((2, 3), np.uint64)
    for char in map(chr, [*range(0x80, 0xC0), *range(0x2000, 0x2040)]):
        separates = words.tokens(f"a{char}b") == ["a", "b"]
        begins = kernels.look_up(table, char, 9)[1]
        assert (len(begins) == 0) == separates


def test_the_simhash_is_charikars() -> None:
    text = " ".join(f"word{number} " * (1 + number % 7) for number in range(100))
    total = Lexicon(Vocabulary([])).words(text).total()
    expected = plain_simhash(Counter(words.stem(words.tokens(text))))
    assert distance(total.simhash, expected) <= 1  # a sum may be as good as zero


def test_a_short_text_has_no_simhash() -> None:
    counter = Lexicon(Vocabulary([]))
    assert counter.words("word " * 49).total().simhash == 0
    assert counter.words("word " * 50).total().simhash != 0


def test_words_that_share_a_place_in_the_table_are_told_apart() -> None:
    text = " ".join(f"word{number % 250}" for number in range(2500))
    counter = Lexicon(Vocabulary(["word7"]))
    for _ in range(3):
        total = counter.words(text).total()
        assert total.terms == {"word7": 10}
        assert total.norm == pytest.approx(math.sqrt(250) * (1 + math.log(10)))


def test_long_words_with_one_beginning_are_told_apart() -> None:
    long = "x" * stems.LONG
    counter = Lexicon(Vocabulary([f"{long}a", long]))
    for _ in range(2):
        total = counter.words(f"{long}a {long}b {long} {long}a").total()
        assert total.terms == {f"{long}a": 2, long: 1}


def test_only_so_much_of_a_text_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexicon, "LONGEST", 16)  # half a letter is left of the third
    found = Lexicon(Vocabulary(["слово"])).words("слово слово слово")
    assert found.total().words == 2
    assert found.total().terms == {"слово": 1}
    assert found.between(6, 17) is NOTHING


def test_counts_are_kept_in_two_bytes() -> None:
    total = Lexicon(Vocabulary(["a"])).words("a " * 70_000).total()
    assert total.terms == {"a": 70_000}
    assert np.frombuffer(total.counts, "<u2").tolist() == [65_535]


def test_no_words_are_no_vector() -> None:
    found = Lexicon(Vocabulary(["x"])).words(" \n-- ")
    assert found.total() == (0, {}, 0.0, 0, b"", b"")
    assert found.between(0, 5) is NOTHING
    assert found.tally([(0, 0)], 1) == [(0, {}, 0.0, 0)]
    assert found.tally([], 0) == []
