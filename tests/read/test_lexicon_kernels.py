"""Compiled kernels answer what the plain ones do, and refuse what does not fit."""

from __future__ import annotations

import resource

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opilio.read import kernels, plain_kernels
from opilio.read.lexicon import LONGEST, Lexicon
from opilio.read.plain_text import LONGEST_ANCHOR
from opilio.read.plain_tree import mix
from opilio.read.stems import LONG, NO_KEY, StemRow
from opilio.records import NOTHING
from opilio.text.words import Vocabulary
from read.kernel_choice import KERNELS, chosen

pytestmark = pytest.mark.skipif(not kernels.COMPILED, reason="nothing was compiled")

TABLE = np.full((64, 3), NO_KEY, np.uint64)

texts = st.lists(
    st.sampled_from(["a", "Zz9", "_", " ", "\n", "é", "\u00a0", "—", "→", "東京", "़"])
    | st.integers(1, 140).map("x".__mul__)
    | st.text(max_size=5),
    max_size=40,
).map("".join)


@given(texts, st.integers(0, 3))
@example("x" * LONG + " " + "x" * (LONG + 1), 0)
@example("é" * 31 + "a" + " " * 64 + "—", 1)
def test_runs_are_found_alike(text: str, cut: int) -> None:
    # Texts may be cut in the middle of a character.
    longest = max(0, len(text.encode("utf-8", "replace")) - cut)
    found = kernels.look_up(TABLE, text, longest)
    expected = plain_kernels.look_up(TABLE, text, longest)
    assert found[0] == expected[0]
    for ours, theirs in zip(found[1:7], expected[1:7], strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
    assert found[7] == expected[7]


@given(
    st.integers(0, 12).flatmap(
        lambda size: st.dictionaries(
            st.integers(0, max(size - 1, 0)),
            st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 9))),
            max_size=size,
        ).map(lambda within: (size, within))
    )
)
def test_runs_are_divided_alike(
    runs: tuple[int, dict[int, list[tuple[int, int]]]],
) -> None:
    size, within = runs
    compounds = {
        number: ([stem for stem, _ in some], [offset for _, offset in some])
        for number, some in within.items()
    }
    numbers = np.arange(size) * 10
    row = numbers.astype(np.uint64), numbers + 1, numbers + 2, numbers + 3
    tree = Lexicon(Vocabulary(["a", "b c"])).terms.tree
    found = kernels.expand(tree.hashes, tree.begins, *row, compounds)
    expected = plain_kernels.expand(tree.hashes, tree.begins, *row, compounds)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()


def test_what_does_not_fit_is_refused() -> None:
    lexicon = Lexicon(Vocabulary(["law of", "word"]))
    tree = lexicon.terms.tree
    row = lexicon.table.row(lexicon.table.find_runs("the law of the word", LONGEST))
    text = kernels.Text(tree, row, False)
    with pytest.raises(ValueError, match="every word"):
        kernels.Text(tree, StemRow(*row[:3], row.lines[1:]), False)
    with pytest.raises(ValueError, match="every node"):
        kernels.Text(tree._replace(names=tree.names[1:]), row, False)
    with pytest.raises(ValueError, match="marks"):
        kernels.Text(tree, row, False, np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match="every link"):
        text.links([(0, 1, 2, 3)], [1, 2, 3])
    with pytest.raises(ValueError, match="no block"):
        text.blocks([(0, 1)], 1)
    with pytest.raises(ValueError, match="table"):
        kernels.look_up(np.zeros((3, 3), np.uint64), "", LONGEST)
    with pytest.raises(IndexError):
        kernels.expand(tree.hashes, tree.begins, *row, {len(row.stems): ((1,), (0,))})
    assert text.between(0, 99).terms == {"law of": 1, "word": 1}


def test_words_that_differ_in_few_bits_have_keys_of_their_own() -> None:
    # What differs cancels out, for every other salt, if bits were only mixed upwards
    # between the halves. Each digit and its letter differ in one bit.
    words = [f"word{number}1ijk1mno1" for number in range(100, 140)]
    text = " ".join([*words, *(word[:7] + "qijkqmnoq" for word in words)])
    for look_up in (kernels.look_up, plain_kernels.look_up):
        keys = look_up(TABLE, text, LONGEST)[4].tolist()
        assert len(set(keys)) == len(keys) == 80


def test_keys_of_words_cannot_be_foreseen() -> None:
    word = np.frombuffer(b"abcdefgh", "<u8")
    for look_up in (kernels.look_up, plain_kernels.look_up):
        assert look_up(TABLE, "abcdefgh", 8)[4] != mix(word.astype(np.uint64))


def test_the_longest_texts_there_are_take_no_more_than_their_share() -> None:
    lexicon = Lexicon(Vocabulary(["a a", "a a b", "x"]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for text in ("a " * (LONGEST // 2), "x" * LONGEST, " " * LONGEST, "\n" * LONGEST):
        words = lexicon.words(text)
        total = words.total(vector=False)
        assert total.words == len(text.split())
        assert words.between(LONGEST, LONGEST + 1) is NOTHING
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert taken < 2**20 * 200 / 1024  # 200 bytes for each of 2²⁰ words


@given(
    st.lists(st.integers(0, 400), max_size=3000),
    st.integers(0, 3000),
    st.integers(0, 3000),
    st.integers(0, 3000),
)
@settings(max_examples=50)
def test_words_are_told_to_the_index_alike(
    numbers: list[int], text: int, title: int, headings: int
) -> None:
    runs = plain_kernels.look_up(TABLE, " ".join(map(str, numbers)), LONGEST)
    row = runs[4], runs[6], runs[2], runs[3]  # any numbers can be stems
    tree = Lexicon(Vocabulary(["a"])).terms.tree
    found = kernels.Text(tree, row, False).sequence(text, title, headings)
    assert found == plain_kernels.Text(tree, row, False).sequence(text, title, headings)


@given(st.lists(st.integers(0, 2**14), max_size=9000))
@settings(max_examples=30)
def test_stems_are_counted_alike_however_many_there_are(numbers: list[int]) -> None:
    stems = np.array(numbers, np.uint64) * np.uint64(2**50 + 1)
    places = np.arange(len(stems))
    row = StemRow(stems, np.zeros_like(places), places, np.zeros_like(places))
    tree = Lexicon(Vocabulary(["a"])).terms.tree
    ours = kernels.Text(tree, row, False)
    theirs = plain_kernels.Text(tree, row, False)
    for end in (len(stems) // 2, len(stems)):
        assert ours.total(end)[::3] == theirs.total(end)[::3]
        found, expected = ours.stem_counts(end), theirs.stem_counts(end)
        assert [one.tolist() for one in found] == [one.tolist() for one in expected]


@pytest.mark.parametrize("name", KERNELS)
def test_terms_are_sought_in_the_beginning_of_an_anchor(name: str) -> None:
    with chosen(name):
        text = "law " * LONGEST_ANCHOR
        words = Lexicon(Vocabulary(["law"])).words(text)
        size = len(text)
        found = words.links([(0, 4, size - 4, size)], [size] * 5)
    assert found[0].anchor.terms == {"law": LONGEST_ANCHOR // 4}
    assert found[0].around.terms == {"law": 2}
