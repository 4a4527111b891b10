"""Finds the heading, list, quotation or table cell that each box of a page is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from opilio.read.main_content.outline import TextBox

DEEPEST_LIST = 9
MOST_CELLS = (("colspan", 50), ("rowspan", 1000))  # that one cell takes


class Role(NamedTuple):
    """The place of a box: in which heading, list, quotation or cell it is."""

    heading: int = 0
    quotes: int = 0
    list: int = -1  # the box of the list around it
    items: tuple[int, ...] = ()  # the boxes of the items around it
    table: int = -1
    row: int = -1
    cell: int = -1
    code: int = -1
    term: bool = False


def roles_of(boxes: Sequence[TextBox]) -> list[Role]:
    """The role of each box."""
    data = data_tables(boxes)
    roles: list[Role] = []
    for number, box in enumerate(boxes):
        role = roles[box.parent] if number else Role()
        tag = box.tag
        if tag == "li":
            role = role._replace(items=(*role.items[-DEEPEST_LIST:], number))
        elif tag in ("ul", "ol", "menu", "dir"):
            role = role._replace(list=number)
        elif tag == "blockquote":
            role = role._replace(quotes=role.quotes + 1)
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            role = role._replace(heading=int(tag[1]))
        elif tag == "pre":
            role = role._replace(code=number)
        elif tag == "dt":
            role = role._replace(term=True)
        elif tag == "table" and number in data:
            role = role._replace(table=number, row=-1, cell=-1)
        elif tag == "tr" and role.table >= 0:
            role = role._replace(row=number)
        elif tag in ("td", "th") and role.table >= 0:
            role = role._replace(cell=number)
        roles.append(role)
    return roles


def data_tables(boxes: Sequence[TextBox]) -> set[int]:
    """The tables with rows of several cells, and no heading or table inside."""
    found: dict[int, dict[int, int]] = {}  # table -> row -> cells
    layout: set[int] = set()
    around = [-1] * len(boxes)
    rows = [-1] * len(boxes)
    for number, box in enumerate(boxes):
        if number:
            around[number], rows[number] = around[box.parent], rows[box.parent]
        if box.tag == "table":
            if around[number] >= 0:
                layout.add(around[number])
            around[number] = number
            found[number] = {}
        elif box.tag == "tr":
            rows[number] = number
        elif box.tag in ("td", "th") and around[number] >= 0:
            cells = found[around[number]]
            cells[rows[number]] = cells.get(rows[number], 0) + 1
        elif box.tag in ("h1", "h2", "h3", "article", "section", "form", "pre"):
            layout.add(around[number])
    return {
        number
        for number, cells in found.items()
        if number not in layout and max(cells.values(), default=0) > 1
    }


def cell_columns(boxes: Sequence[TextBox], roles: Sequence[Role]) -> dict[int, int]:
    """The column of each cell of a table of data, as browsers place them: beside
    those that reach down from rows above."""
    columns: dict[int, int] = {}
    row = table = -1
    below: dict[int, int] = {}  # column -> rows that a cell in it still takes
    for number, box in enumerate(boxes):
        role = roles[number]
        if box.tag not in ("td", "th") or role.table < 0:
            continue
        if role.row != row:
            is_next = role.table == table
            below = {c: n - 1 for c, n in below.items() if n > 1} if is_next else {}
            row, table, column = role.row, role.table, 0
        while column in below:
            column += 1
        columns[number] = column
        across, down = (span(box, *most) for most in MOST_CELLS)
        if down > 1:
            below |= dict.fromkeys(range(column, column + across), down)
        column += across
    return columns


def span(box: TextBox, name: str, most: int) -> int:
    """How many columns or rows a cell takes."""
    told = box.given.get(name, "")
    return max(1, min(most, int(told[:9]))) if told.isdecimal() else 1
