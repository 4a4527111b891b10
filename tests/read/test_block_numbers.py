"""The compiled loops over blocks give the same numbers as the plain ones."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.read.main_content import block_numbers, plain_block_numbers
from opilio.read.main_content.line_features import CUES, SHORT, cues_of
from opilio.read.main_content.outline import TextBlock
from opilio.read.main_content.trees import load_trees
from opilio.read.main_content.write import without_start

compiled = pytest.mark.skipif(
    block_numbers.odds is plain_block_numbers.odds,
    reason="no C compiler was there when Opilio was installed",
)
LETTERS = st.sampled_from("aZé漢１9 .,;:!?。，、…！\"'”’)]|•/\n\x1c\xa0ǅ")


@compiled
@given(st.text(LETTERS, max_size=300))
@example("One.\n")
@example("a" * 6000)
def test_the_numbers_of_a_text(text: str):
    assert block_numbers.numbers_of(text) == plain_block_numbers.numbers_of(text)


@compiled
@given(st.lists(st.text(LETTERS, min_size=1, max_size=9), max_size=20))
def test_what_blocks_say(texts: list[str]):
    blocks = [TextBlock(0, text, 3, 60, 0, [], 2) for text in texts]
    asked = blocks, [len(text) % 7 for text in texts], lambda text: len(text) / 7
    plain = plain_block_numbers.own_rows(*asked).reshape(-1, 16)
    assert np.array_equal(block_numbers.own_rows(*asked), plain)


@compiled
@given(st.integers(1, 40), st.randoms(use_true_random=False))
def test_what_boxes_around_a_block_say(count: int, chance):
    parents = np.array([-1, *(chance.randrange(n) for n in range(1, count))], np.int32)
    kinds = [chance.getrandbits(62) & chance.getrandbits(62) for _ in range(count)]
    shares = np.array([chance.random() for _ in range(count)], np.float32)
    boxes = parents, np.array(kinds, np.int64), shares
    sides = *boxes, 2**40 - 1, 3 << 40, 1 << 61, 0.5, 2.0
    for name, given_to in (("kind_rows", (*boxes, 62, 2.0)), ("side_rows", sides)):
        plain = getattr(plain_block_numbers, name)(*given_to)
        assert np.array_equal(getattr(block_numbers, name)(*given_to), plain)


@compiled
def test_what_trees_say():
    for trees in load_trees():
        chance = np.random.default_rng(1)
        rows = chance.normal(0, 3, (700, trees.columns.max() + 1)).astype(np.float32)
        asked = rows, trees.columns, trees.thresholds, trees.leaves
        plain = plain_block_numbers.odds(*asked)
        assert np.allclose(block_numbers.odds(*asked), plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("line", "cue"),
    [
        ("12 March 2024", "date"),
        ("two days ago", "date"),
        ("vor 3 Tagen", "date"),  # codespell:ignore
        ("By Jane Doe", "by"),
        ("1,204 views", "count"),
        ("only $5", "price"),
        ("Why?", "question"),
        ("Home", "jump"),
    ],
)
def test_a_line_says_what_it_is(line: str, cue: str):
    assert dict(zip(CUES, cues_of(line), strict=True))[cue]


SAID = st.sampled_from(
    [*re.findall(r"[^\W\d_]+", " ".join(CUES.values())), "©", "(c)", "5", "2024", "€"]
)


@given(st.lists(st.tuples(SAID, st.sampled_from(" -?:\n"))))
def test_a_line_says_what_the_patterns_say(said: list[tuple[str, str]]):
    line = "".join(map("".join, said))[:SHORT]
    told = [re.search(pattern, line.lower()) is not None for pattern in CUES.values()]
    assert cues_of(line) == tuple(told)


@given(st.text("#>+-1.) \ta\n*", max_size=12))
def test_a_paragraph_does_not_begin_as_a_list(text: str):
    escaped = re.sub(r"(?m)^(\s*)([#>+-]|\d{1,9}[.)])(?=\s|$)", r"\1\\\2", text)
    assert without_start(text) == escaped


def test_a_line_without_digits_is_no_price():
    told = dict(zip(CUES, cues_of("count the views: $ and euros"), strict=True))
    assert not (told["price"] or told["count"] or told["date"])
