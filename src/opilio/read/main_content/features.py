"""Describes each block of a page in numbers, from which trees.py tells its main text.

A block is described by its own text, the blocks beside it, the boxes around it and the
page as a whole. columns.py names the numbers in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.block_numbers import kind_rows, own_rows, side_rows
from opilio.read.main_content.columns import BESIDE, INLINE, LEVELS, OWN_TAGS, PAGE
from opilio.read.main_content.line_features import cues_of, heading_level
from opilio.read.main_content.names import KINDS, bits_of
from opilio.read.main_content.outline import PageOutline, TextBox
from opilio.read.main_content.plain_block_numbers import Numbers

LARGE = 0.5  # share of a page above which a box is the page itself
ABSENT = 2.0  # more than any share of a page

# Kinds of boxes beside the main text, and of those with it.
BAD = bits_of(
    *("related", "popular", "share", "navigation", "footer", "sidebar", "advertising"),
    *("newsletter", "login", "popup", "search", "nav", "aside", "dialog"),
)
GOOD = bits_of("content", "article", "main", "summary", "thread")
COMMENT = bits_of("comment")
PLACES = {tag: number for number, tag in enumerate(OWN_TAGS)}
_words = re.compile(r"\w+").findall
_first_word = re.compile(r"\w+").search


def describe(outline: PageOutline, title: str, about: Sequence[float]) -> Numbers:
    """One row per block, one column per name in COLUMNS; `about`: see page_kind.py."""
    rows = BlockFeatures(outline, title).rows()
    whole = np.tile(np.array(about, np.float32), (len(rows), 1))
    return np.concatenate((rows, whole), axis=1)


class BlockFeatures:
    """The numbers of one page."""

    def __init__(self, outline: PageOutline, title: str) -> None:
        self.blocks = outline.blocks
        self.boxes = outline.boxes
        words = _words(title.lower())
        self.title, self.title_start = " ".join(words), words[0] if words else ""
        self.length = np.array([len(block.text) for block in self.blocks], np.float32)
        self.linked = np.array([block.linked for block in self.blocks], np.float32)
        self.linked = np.minimum(self.linked, self.length)
        self.inner = np.array([block.box for block in self.blocks], np.int32)
        self.first = np.array([box.first for box in self.boxes], np.int32)
        self.last = np.array([box.last for box in self.boxes], np.int32)
        self.parents = np.array([box.parent for box in self.boxes], np.int32)
        self.box_kinds = np.array([box.kinds for box in self.boxes], np.int64)
        self.tags = [box.tag for box in self.boxes]

    def rows(self) -> Numbers:
        """All columns."""
        own, tags = self.own(), self.own_tags()
        cues = self.cues()
        self.note_sums(own, tags)
        columns = (
            own,
            tags,
            cues,
            self.beside(own, tags),
            self.around(),
            self.kinds(),
            self.inline(),
            self.page(own),
        )
        return np.concatenate(columns, axis=1, dtype=np.float32)

    def own(self) -> Numbers:
        """Columns about the text of a block."""
        levels = [heading_level(self.tags[block.box]) for block in self.blocks]
        return own_rows(self.blocks, levels, self.likeness)

    def likeness(self, text: str) -> float:
        """How much of the title a block repeats."""
        said = text.lower()
        first = _first_word(said)
        if not first or not self.title:
            return 0.0
        if first[0] not in self.title and self.title_start not in said:
            return 0.0  # as for most blocks
        plain = " ".join(_words(said))
        if len(plain) < 4:
            return 0.0
        if plain == self.title:
            return 2.0
        if plain in self.title:
            return 1.0 + len(plain) / len(self.title) / 2
        return 0.5 if self.title in plain else 0.0

    def own_tags(self) -> Numbers:
        """One column per tag."""
        rows = np.zeros((len(self.blocks), len(OWN_TAGS) + 1), np.float32)
        places = [PLACES.get(self.tags[block.box], -1) for block in self.blocks]
        rows[np.arange(len(rows)), places] = 1
        return rows[:, :-1]  # the last column is for all other tags

    def cues(self) -> Numbers:
        """Columns about what a short line says."""
        return np.array([cues_of(block.text) for block in self.blocks], np.float32)

    def note_sums(self, own: Numbers, tags: Numbers) -> None:
        """Sums over all blocks before each, from which those of a box follow."""
        prose = np.where(
            (self.length > 80) & (self.linked < 0.3 * self.length), self.length, 0
        )
        self.prose = prose - np.minimum(self.linked, prose)
        marks = own[:, 3] * (own[:, 1] + 1)
        columns = (
            self.length,
            self.linked,
            marks,
            self.prose,
            own[:, 12] > 0,
            own[:, 4],
        )
        table = np.stack(columns, axis=1).astype(np.float64)
        self.sums = np.zeros((len(table) + 1, len(columns)))
        np.cumsum(table, axis=0, out=self.sums[1:])
        self.totals = self.sums[self.last] - self.sums[self.first]
        self.all = self.sums[-1]
        size = np.maximum(self.totals[:, 0], 1)
        sorts = Counter(box.names for box in self.boxes)
        same = np.log1p([sorts[box.names] for box in self.boxes])
        count = self.last - self.first
        self.box_rows = np.stack(
            (
                self.totals[:, 0] / max(1, self.all[0]),
                self.totals[:, 1] / size,
                self.totals[:, 2] / size,
                np.log1p(count),
                self.totals[:, 3] / size,
                same,
                np.log1p(self.totals[:, 4]),
                self.totals[:, 5] / np.maximum(1, count),
            ),
            axis=1,
        ).astype(np.float32)
        self.wider = wider_boxes(self.boxes, self.first, self.last)

    def beside(self, own: Numbers, tags: Numbers) -> Numbers:
        """Columns about the blocks before and after."""
        table = np.stack(
            (own[:, 0], own[:, 9], own[:, 4], own[:, 12], tags[:, 0], tags[:, 1]),
            axis=1,
        )
        table = np.concatenate((table, own[:, 3:4]), axis=1)
        return np.concatenate([shifted(table, step) for step in BESIDE], axis=1)

    def around(self) -> Numbers:
        """Columns about the boxes around a block, from the inside out."""
        number = self.inner
        columns = []
        for _ in range(LEVELS):
            columns.append(self.box_rows[number])
            number = self.wider[number]
        return np.concatenate(columns, axis=1)

    def kinds(self) -> Numbers:
        """One column per kind: the share of the page of the nearest box of it."""
        self.kind_rows = kind_rows(
            self.parents, self.box_kinds, self.box_rows[:, 0], len(KINDS), ABSENT
        )
        return self.kind_rows[self.inner]

    def inline(self) -> Numbers:
        """One column per kind of the elements in a line."""
        rows = np.zeros((len(self.blocks), INLINE), np.float32)
        for number, block in enumerate(self.blocks):
            kinds = block.kinds
            while kinds:
                bit = kinds & -kinds
                place = bit.bit_length() - 1
                if place < INLINE:
                    rows[number, place] = 1
                kinds ^= bit
        return rows

    def page(self, own: Numbers) -> Numbers:
        """Columns about the page and the place of a block on it."""
        count = len(self.blocks)
        rows = np.zeros((count, len(PAGE)), np.float32)
        place = np.arange(count)
        chars = max(1, self.all[0])
        rows[:, 0] = np.log1p(chars)
        rows[:, 1] = np.log1p(count)
        rows[:, 2] = self.all[1] / chars
        rows[:, 3] = self.all[3] / chars
        rows[:, 4] = min(20, self.tags.count("article"))
        rows[:, 5] = min(3, self.tags.count("main"))
        rows[:, 6] = place / count
        rows[:, 7] = self.sums[:-1, 0] / chars
        main = self.title_place(own)
        if main >= 0:
            rows[:, 8] = place > main
            rows[:, 9] = np.sign(place - main) * np.log1p(np.abs(place - main))
        self.add_best(rows, place)
        shares = self.kind_rows[self.inner]
        rows[:, 17] = shares[:, KINDS.index("article")] < ABSENT
        rows[:, 18] = shares[:, KINDS.index("main")] < ABSENT
        boxes = [self.boxes[block.box] for block in self.blocks]
        sorts = [(box.names, box.parent) for box in boxes]
        rows[:, 19] = list(map(Counter(sorts).__getitem__, sorts))
        depths = [0]
        for box in self.boxes[1:]:
            depths.append(depths[box.parent] + 1)
        rows[:, 20] = [depths[block.box] for block in self.blocks]
        articles = [n for n, tag in enumerate(self.tags) if tag == "article"]
        if articles:
            best = max(articles, key=lambda n: self.totals[n, 3])
            inside = (place >= self.first[best]) & (place < self.last[best])
            rows[:, 21] = self.box_rows[best, 0] * np.where(inside, 1, -1)
            rows[:, 22] = inside * (self.totals[best, 3] / max(1, self.all[3]))
        self.add_sides(rows)
        return rows

    def add_sides(self, rows: Numbers) -> None:
        """Columns about all boxes around a block that stand beside the main text."""
        table = side_rows(
            self.parents,
            self.box_kinds,
            self.box_rows[:, 0],
            BAD,
            GOOD,
            COMMENT,
            LARGE,
            ABSENT,
        )
        rows[:, 23:27] = table[self.inner]
        chars = max(1, self.all[0])
        for place, kind in enumerate(("comment", "thread", "sidebar", "cards"), 27):
            inside = self.kind_rows[self.inner, KINDS.index(kind)] < ABSENT
            rows[:, place] = (self.length * inside).sum() / chars

    def title_place(self, own: Numbers) -> int:
        """The number of the block that is the page's own heading; -1: none."""
        level, like = own[:, 12], own[:, 13]
        worth = like * 2 + (level == 1) * 2 + (level == 2) * 0.5
        worth = np.where(level > 0, worth, 0)
        if not len(worth) or worth.max() < 1.5:
            return -1
        return int(np.argmax(worth))

    def add_best(self, rows: Numbers, place: npt.NDArray[np.int64]) -> None:
        """Columns about the box with most prose directly in it, as Readability does."""
        worth = np.zeros(len(self.boxes))
        number = self.inner
        for weight in (1.0, 0.8, 0.4):
            np.add.at(worth, number, self.prose * weight)
            number = self.wider[number]
        worth *= 1 - self.box_rows[:, 1]
        worth[0] = 0
        best = int(np.argmax(worth))
        first, last = int(self.first[best]), int(self.last[best])
        inside = (place >= first) & (place < last)
        away = np.where(place < first, place - first, np.maximum(0, place - last + 1))
        rows[:, 10] = inside
        rows[:, 11] = self.box_rows[best, 0]
        rows[:, 12] = np.sign(away) * np.log1p(np.abs(away))
        rows[:, 13] = self.box_rows[best, 4]
        rows[:, 14] = self.box_rows[best, 1]
        around = self.wider[best]
        rows[:, 15] = (place >= self.first[around]) & (place < self.last[around])
        rows[:, 16] = self.box_rows[around, 0]


def wider_boxes(
    boxes: Sequence[TextBox], first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """For each box the next one around it that holds more blocks."""
    wider = [0] * len(boxes)
    ranges = list(zip(first.tolist(), last.tolist(), strict=True))
    for number, box in enumerate(boxes):
        if number:
            above = box.parent
            same = ranges[above] == ranges[number]
            wider[number] = wider[above] if same else above
    return np.array(wider, np.int32)


def shifted(table: Any, step: int) -> Any:
    """The rows of the blocks `step` further on; -1 beyond the ends."""
    found = np.full_like(table, -1)
    if abs(step) >= len(table):
        return found
    if step > 0:
        found[:-step] = table[step:]
    else:
        found[-step:] = table[:step]
    return found
