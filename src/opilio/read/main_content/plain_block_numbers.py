"""The inner loops of describing blocks and asking trees, in Python and numpy; used if
nothing was compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.outline import TextBlock

Numbers = npt.NDArray[np.float32]
Likeness = Callable[[str], float]

EDITION = 2  # what was compiled is used only if it is of the same edition
MARKS = ".,;:!?。，、"
DIGITS = dict.fromkeys(map(ord, "0123456789"))  # for str.translate: leaves them out
LOGS = np.log1p(np.arange(5001)).tolist()
LIKE_A_TITLE = 300  # characters; what is longer is not compared with it
AT_ONCE = 500  # rows that are asked about
_ends = re.compile(r"[.!?…。！？][\"'”’)\]]*$").search


def numbers_of(text: str) -> tuple[float, ...]:
    """The columns of `own` that follow from the text alone, in their order."""
    words = text.split()
    size, count = len(text), len(words)
    first = words[:40]
    return (
        np.log1p(size) if size > 5000 else LOGS[size],
        min(count, 500),
        size / max(1, count),
        sum(map(text.count, MARKS)) / (count + 1),
        bool(_ends(text)),
        text[:1].isupper(),
        sum([word[0].isupper() for word in first]) / max(1, len(first)),
        digits_in(text[:200]) / max(1, min(size, 200)),
        min(text.count("\n"), 50),
        text.count("|") + text.count("•") + text.count("/"),
    )


def digits_in(text: str) -> int:
    """The number of digits in a text."""
    if text.isascii():
        return len(text) - len(text.translate(DIGITS))
    return sum(map(str.isdigit, text))


def own_rows(
    blocks: Sequence[TextBlock], levels: Sequence[int], likeness: Likeness
) -> Numbers:
    """A row for each block, in the order of OWN: its text, links and bold words, the
    level of its heading, and how much it is like the title."""
    seen: set[str] = set()
    rows = []
    for block, level in zip(blocks, levels, strict=True):
        text = block.text
        size = len(text)
        said = numbers_of(text)
        rows.append(
            (
                *said[:8],
                min(block.links, 50),
                min(1.0, block.linked / size),
                min(1.0, block.marked / size),
                said[8],
                level,
                likeness(text) if size < LIKE_A_TITLE else 0.0,
                text not in seen,
                said[9],
            )
        )
        seen.add(text)
    return np.array(rows, np.float32)


def kind_rows(
    parents: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.int64],
    shares: Numbers,
    width: int,
    absent: float,
) -> Numbers:
    """A row for each box: the share of the nearest box of each kind around it, or
    `absent`. Boxes come after those around them."""
    rows = np.full((len(parents), width), absent, np.float32)
    for number, (parent, rest) in enumerate(zip(parents, kinds.tolist(), strict=True)):
        if number:
            rows[number] = rows[parent]
        while rest:
            bit = rest & -rest
            rows[number, bit.bit_length() - 1] = shares[number]
            rest ^= bit
    return rows


def side_rows(
    parents: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.int64],
    shares: Numbers,
    bad: int,
    good: int,
    comment: int,
    large: float,
    absent: float,
) -> Numbers:
    """A row for each box, over those around it: how many kinds stand beside the main
    text, the smallest share of these boxes, how many kinds stand with it, comments."""
    rows = np.zeros((len(parents), 4), np.float32)
    rows[0, 1] = absent
    for number, kind in enumerate(kinds.tolist()):
        if not number:
            continue
        row = rows[number]
        row[:] = rows[parents[number]]
        if kind & bad and shares[number] < large:
            row[0] += (kind & bad).bit_count()
            row[1] = min(row[1], shares[number])
        row[2] += (kind & good).bit_count()
        row[3] += bool(kind & comment)
    return rows


def odds(
    rows: Numbers,
    columns: npt.NDArray[np.int16],
    thresholds: Numbers,
    leaves: Numbers,
) -> npt.NDArray[np.float64]:
    """The log odds of rows: the sum of the leaves that they reach in all trees."""
    parts = [
        odds_of_some(rows[start : start + AT_ONCE], columns, thresholds, leaves)
        for start in range(0, len(rows), AT_ONCE)
    ]
    return np.concatenate(parts)


def odds_of_some(
    rows: Numbers,
    columns: npt.NDArray[np.int16],
    thresholds: Numbers,
    leaves: Numbers,
) -> npt.NDArray[np.float64]:
    """The same for a few rows."""
    trees, questions = columns.shape
    first = np.arange(trees, dtype=np.int32) * questions
    place = np.zeros((len(rows), trees), np.int32)
    base = (np.arange(len(rows), dtype=np.int32) * rows.shape[1])[:, None]
    asked_of, limits, values = columns.ravel(), thresholds.ravel(), rows.ravel()
    for _ in range(int(np.log2(questions + 1))):
        at = place + first
        asked = values.take(base + asked_of.take(at))
        place = 2 * place + 1 + (asked > limits.take(at))
    leaf = place - questions + np.arange(trees, dtype=np.int32) * (questions + 1)
    found: npt.NDArray[np.float64] = (
        leaves.ravel().take(leaf).sum(axis=1, dtype=np.float64)
    )
    return found
