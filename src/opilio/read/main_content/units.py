"""Finds tables of data and lists of short items, which are kept or left out whole."""

from __future__ import annotations

from collections.abc import Iterator

from opilio.read.main_content.outline import PageOutline, TextBox

SHORT_CELL, SHORT_ITEM = 200, 400  # characters on average
BLOCKS_PER_ITEM = 2.5

UNITS = frozenset(("table", "ul", "ol", "dl"))
CELLS = frozenset(("td", "th"))
ITEMS = frozenset(("li", "dt", "dd"))
DIVIDES = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "article", "section", "table", "form")
)


def units_of(outline: PageOutline) -> Iterator[tuple[int, int]]:
    """The first block of each unit, and the one after its last."""
    counts = [InnerCounts() for _ in outline.boxes]
    for number in range(len(outline.boxes) - 1, 0, -1):  # inner ones first
        box = outline.boxes[number]
        counts[box.parent].add(box.tag, counts[number])
    sizes = [0]
    for block in outline.blocks:
        sizes.append(sizes[-1] + len(block.text))
    done = 0
    for box, inside in zip(outline.boxes, counts, strict=True):
        if box.tag in UNITS and box.first >= done and box.last - box.first > 1:
            length = sizes[box.last] - sizes[box.first]
            if inside.make_unit(box, length):
                yield box.first, box.last
                done = box.last


class InnerCounts:
    """How many elements of each sort are in a box."""

    __slots__ = ("cells", "divides", "items", "rows")

    def __init__(self) -> None:
        self.cells = self.divides = self.items = self.rows = 0

    def add(self, tag: str, inside: InnerCounts) -> None:
        """Count an element with everything in it."""
        self.cells += inside.cells + (tag in CELLS)
        self.divides += inside.divides + (tag in DIVIDES)
        self.items += inside.items + (tag in ITEMS)
        self.rows += inside.rows + (tag == "tr")

    def make_unit(self, box: TextBox, length: int) -> bool:
        """Whether the box is a table of data or a list of short items."""
        if self.divides:
            return False
        blocks = box.last - box.first
        if box.tag == "table":
            wide = self.cells >= 2 * self.rows and self.rows > 1
            return wide and length < SHORT_CELL * blocks
        return blocks <= BLOCKS_PER_ITEM * self.items and length < SHORT_ITEM * blocks
