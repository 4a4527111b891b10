"""Chooses the blocks of a page that are its main text.

Two sets of trees tell how likely each block is part of it: the first looks at the block
and what is around it, the second also at what the first said of the blocks around it.
A table of data or a list of short items is kept or left out as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.features import describe, shifted, wider_boxes
from opilio.read.main_content.names import KINDS
from opilio.read.main_content.outline import PageOutline
from opilio.read.main_content.plain_block_numbers import Numbers
from opilio.read.main_content.trees import load_trees
from opilio.read.main_content.units import units_of

Chances = npt.NDArray[np.float64]

THRESHOLD = 0.35
LITTLE = 80  # characters; a page with less main text is asked less strictly
LEAST = 0.05  # and no block is kept that is less likely
LEVELS = 5  # boxes around a block of which the first answer is looked at
BESIDE = (-4, -3, -2, -1, 1, 2, 3, 4)
FADING = 0.9  # of a likely block's effect, per block between
FULL = 100  # characters of a block that has its full effect


NEVER = 1 << KINDS.index("nav") | 1 << KINDS.index("dialog")
REGIONS = sum(1 << KINDS.index(tag) for tag in ("nav", "footer", "aside", "dialog"))


def choose(
    outline: PageOutline, title: str, about: Sequence[float]
) -> npt.NDArray[np.bool_]:
    """Whether each block is part of the main text."""
    if not outline.blocks:
        return np.zeros(0, bool)
    chances = chances_of(outline, title, about)
    lengths = np.array([len(block.text) for block in outline.blocks])
    chances[in_boxes(outline, NEVER)] = 0
    least = THRESHOLD
    for first, last in units_of(outline):
        part = slice(first, last)
        chances[part] = np.average(chances[part], weights=lengths[part])
    kept = chances > least
    while lengths[kept].sum() < LITTLE and least > LEAST:
        least *= 0.7
        kept = chances > least
    return kept if kept.any() else outside_regions(outline)


def outside_regions(outline: PageOutline) -> npt.NDArray[np.bool_]:
    """The blocks that are in no menu or footer; if there are none, all blocks."""
    kept = ~in_boxes(outline, REGIONS)
    return kept if kept.any() else ~kept


def in_boxes(outline: PageOutline, kinds: int) -> npt.NDArray[np.bool_]:
    """Whether each block is in a box of these kinds."""
    inside: list[bool] = []
    for number, box in enumerate(outline.boxes):
        inside.append(bool(number and inside[box.parent]) or bool(box.kinds & kinds))
    return np.array([inside[block.box] for block in outline.blocks], bool)


def chances_of(outline: PageOutline, title: str, about: Sequence[float]) -> Chances:
    """How likely each block is part of the main text."""
    first, second = load_trees()
    rows = describe(outline, title, about)
    chances = first.chances(rows)
    return second.chances(np.concatenate((rows, answers(outline, chances)), axis=1))


def answers(outline: PageOutline, chances: Chances) -> Numbers:
    """Columns about what the first trees said of a block and those around it."""
    boxes, blocks = outline.boxes, outline.blocks
    lengths = np.array([len(block.text) for block in blocks], np.float64)
    mass = lengths * chances
    said, sizes = sums(mass), sums(lengths)
    first = np.array([box.first for box in boxes])
    last = np.array([box.last for box in boxes])
    means = (said[last] - said[first]) / np.maximum(1, sizes[last] - sizes[first])
    columns = [chances]
    table = chances[:, None]
    columns += [shifted(table, step)[:, 0] for step in BESIDE]
    number = np.array([block.box for block in blocks])
    wider = wider_boxes(boxes, first, last)
    for _ in range(LEVELS):
        columns.append(means[number])
        number = wider[number]
    columns.append(means_of_sorts(outline, mass, lengths))
    whole = mass.sum() or 1.0
    columns.append(np.cumsum(mass) / whole)
    columns.append(np.full(len(blocks), whole / max(1, lengths.sum())))
    columns.append(np.full(len(blocks), np.log1p(whole)))
    worth = chances * np.minimum(1, lengths / FULL)
    columns += [fading(worth), fading(worth[::-1])[::-1]]
    return np.stack(columns, axis=1).astype(np.float32)


def sums(values: Chances) -> Chances:
    """The sum of all values before each place."""
    return np.concatenate(([0.0], np.cumsum(values)))


def means_of_sorts(outline: PageOutline, mass: Chances, lengths: Chances) -> Chances:
    """The mean answer for blocks in boxes with the same tag and class."""
    names = [outline.boxes[block.box].names for block in outline.blocks]
    totals: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for name, said, length in zip(names, mass.tolist(), lengths.tolist(), strict=True):
        total = totals[name]
        total[0] += said
        total[1] += length
    means = {name: said / max(1, length) for name, (said, length) in totals.items()}
    return np.array([means[name] for name in names])


def fading(worth: Chances) -> Chances:
    """The best of the blocks before each, which fades with distance."""
    found, best = [], 0.0
    for value in worth.tolist():
        found.append(best)
        best = max(best * FADING, value)
    return np.array(found)
