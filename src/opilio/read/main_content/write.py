"""Writes the chosen blocks of a page as plain text and as Markdown.

Plain text has one line per paragraph, item and row; cells are separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote

from opilio.read.main_content.walk import PageOutline, TextBlock, TextBox

DEEPEST_LIST = 9
MOST_CELLS = (("colspan", 50), ("rowspan", 1000))  # that one cell takes
MOST_LINKS = 10_000  # of a page; further ones are written as text
SAFE = "!#$%&'*+,-./:;=?@_~"
_may_be_special = re.compile(r"[\\`*\[\]<_]").search
_special = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)").sub
_starts = re.compile(r"(?m)^(\s*)([#>+-]|\d{1,9}[.)])(?=\s|$)").sub
_ticks = re.compile("`+")
_language = re.compile(
    r"(?:language|lang|highlight-source|brush)[-:]\s?([\w+#-]{1,20})"
)
_links = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\([^()\s]*\)")


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


class ChosenText:
    """The chosen blocks of a page, with their roles."""

    def __init__(
        self, outline: PageOutline, kept: Sequence[bool], join: Callable[[str], str]
    ) -> None:
        self.boxes = outline.boxes
        self.join = join
        self.links = 0  # that were written
        self.roles = roles_of(outline.boxes)
        self.columns = columns_of(outline.boxes, self.roles)
        self.blocks = [
            block
            for block, is_kept in zip(outline.blocks, kept, strict=True)
            if is_kept
        ]

    def text(self) -> str:
        """The plain text."""
        lines: list[str] = []
        for table, blocks in self.parts():
            if table >= 0:
                lines += ("\t".join(row).rstrip() for row in self.rows(blocks, plain))
            else:
                lines += (block.text for block in blocks)
        return "\n".join(lines)

    def markdown(self) -> str:
        """The Markdown, with links."""
        parts: list[str] = []
        self.numbers: dict[int, int] = {}
        self.widths: dict[int, int] = {}  # of the markers of items
        before = Role()
        for table, blocks in self.parts():
            if table >= 0:
                parts += ("\n\n", self.table(blocks))
                before = Role()
                continue
            for block in blocks:
                role = self.roles[block.box]
                tight = role.items and before.items and role.items != before.items
                parts += ("\n" if tight else "\n\n", self.paragraph(block, role))
                before = role
        return "".join(parts[1:])

    def parts(self) -> Iterator[tuple[int, list[TextBlock]]]:
        """The blocks in order, those of one table together; -1: of none."""
        table, blocks = -1, list[TextBlock]()
        for block in self.blocks:
            its = self.roles[block.box].table
            if its != table and blocks:
                yield table, blocks
                blocks = []
            table = its
            blocks.append(block)
        if blocks:
            yield table, blocks

    def rows(
        self, blocks: Sequence[TextBlock], say: Callable[[TextBlock], str]
    ) -> list[list[str]]:
        """The rows of a table, each a list of cells; a caption is a row of its own."""
        rows: list[list[str]] = []
        row = cell = -2
        for block in blocks:
            role = self.roles[block.box]
            said = say(block).replace("\n", " ")
            if role.row != row or role.row < 0:
                rows.append([])
                row, cell = role.row, -2
            if role.cell == cell and rows[-1]:
                rows[-1][-1] += f" {said}"
            else:
                place = self.columns.get(role.cell, 0)
                rows[-1] += [""] * (place - len(rows[-1]))
                rows[-1].append(said)
            cell = role.cell
        return rows

    def table(self, blocks: Sequence[TextBlock]) -> str:
        """A table in Markdown; what stands outside of its rows comes before it."""
        outside = [block for block in blocks if self.roles[block.box].row < 0]
        inside = [block for block in blocks if self.roles[block.box].row >= 0]
        rows = self.rows(inside, self.inline)
        before = "".join(f"{self.inline(block)}\n\n" for block in outside)
        if not rows:
            return before.rstrip()
        width = max(map(len, rows))
        lines = []
        for number, row in enumerate(rows):
            cells = [cell.replace("|", "\\|") for cell in row]
            cells += [""] * (width - len(cells))
            lines.append(f"| {' | '.join(cells)} |")
            if not number:
                lines.append(f"|{' --- |' * width}")
        return before + "\n".join(lines)

    def paragraph(self, block: TextBlock, role: Role) -> str:
        """One block in Markdown."""
        if role.code >= 0:
            said = self.code(block, role)
        elif role.heading:
            said = f"{'#' * role.heading} {self.inline(block).replace(chr(10), ' ')}"
        else:
            said = _starts(r"\1\\\2", self.inline(block)).replace("\n", "  \n")
            if role.term:
                said = f"**{said}**" if "**" not in said else said
        lead = "> " * role.quotes
        first = lead
        for item in role.items:
            if item in self.widths:
                first += " " * self.widths[item]
            else:
                marker = self.marker(item)
                first += marker
                self.widths[item] = len(marker)
            lead += " " * self.widths[item]
        return first + said.replace("\n", f"\n{lead}")

    def marker(self, item: int) -> str:
        """What an item begins with."""
        holder = self.roles[item].list
        box = self.boxes[holder]
        if box.tag != "ol":
            return "- "
        start = box.given.get("start", "1")
        number = self.numbers.get(holder)
        if number is None:
            number = int(start) if start.isdecimal() and len(start) < 9 else 1
        self.numbers[holder] = number + 1
        return f"{number}. "

    def code(self, block: TextBlock, role: Role) -> str:
        """A fenced block of code."""
        names = self.boxes[role.code].given.get("class", "")
        found = _language.search(names)
        longest = max(map(len, _ticks.findall(block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{found[1] if found else ''}\n{block.text}\n{fence}"

    def inline(self, block: TextBlock) -> str:
        """The text of a block with its links, bold and italic words and code."""
        text = block.text
        if not block.marks:
            return escaped(text)
        marks = [
            mark
            for mark in sorted(block.marks, key=lambda mark: (mark[0], -mark[1]))
            if mark[1] <= len(text) and not text[mark[0] : mark[1]].isspace()
        ]
        marks.reverse()  # the next one is the last
        return "".join(self.marked(text, 0, len(text), marks))

    def marked(
        self,
        text: str,
        start: int,
        end: int,
        marks: list[tuple[int, int, str, str]],
        within: frozenset[str] = frozenset(),
    ) -> Iterator[str]:
        """A stretch of text with its marks, which it takes from the list; overlapping
        ones are left out."""
        done = start
        while marks and marks[-1][0] < end:
            begin, stop, kind, href = marks.pop()
            begin = max(begin, start)  # blanks before `start` are outside the marks
            if begin < done or stop > end or kind in within:
                continue
            yield escaped(text[done:begin])
            said = text[begin:stop]
            core = said.strip()
            left = begin + len(said) - len(said.lstrip())
            right = left + len(core)
            if kind == "code":
                ticks = "`" * ((core.count("`") and 2) or 1)
                body = f"{ticks}{core}{ticks}"
            else:
                inner = self.marked(text, left, right, marks, within | {kind})
                body = self.around(kind, "".join(inner), href)
            yield f"{text[begin:left]}{body}{text[right:stop]}"
            done = stop
        yield escaped(text[done:end])

    def around(self, kind: str, body: str, href: str) -> str:
        """Marked text in Markdown."""
        if kind == "a":
            if not href or "\n" in body or self.links >= MOST_LINKS:
                return body
            self.links += 1
            target = self.join(href)
            if not target:
                return body
            return f"[{body}]({quote(target, safe=SAFE)})"
        sign = "**" if kind == "strong" else "*"
        return f"{sign}{body}{sign}" if "\n" not in body else body


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


def columns_of(boxes: Sequence[TextBox], roles: Sequence[Role]) -> dict[int, int]:
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


def plain(block: TextBlock) -> str:
    """The text of a block."""
    return block.text


def escaped(text: str) -> str:
    """Text in which Markdown sees no marks."""
    return _special(_escape, text) if _may_be_special(text) else text


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"  # much faster than a template


def without_links(markdown: str) -> str:
    """Our Markdown with the text of its links alone."""
    parts: list[str] = []
    done = 0
    for start, end in code_spans(markdown):
        parts += (_links.sub(r"\1", markdown[done:start]), markdown[start:end])
        done = end
    parts.append(_links.sub(r"\1", markdown[done:]))
    return "".join(parts)


def code_spans(markdown: str) -> Iterator[tuple[int, int]]:
    """Where code is, with its backticks, in a time that is linear in the text.

    Code ends at the next run of as many backticks as it began with; a fenced block, at
    the next line that consists of them.
    """
    runs = [found.span() for found in _ticks.finditer(markdown)]
    ends, fences = [-1] * len(runs), [-1] * len(runs)
    next_run: dict[int, int] = {}  # length -> the next run of it
    next_fence: dict[int, int] = {}
    for place in range(len(runs) - 1, -1, -1):
        start, end = runs[place]
        ends[place] = next_run.get(end - start, -1)
        fences[place] = next_fence.get(end - start, -1)
        next_run[end - start] = place
        if markdown[start - 1 : start] in ("", "\n") and markdown[end : end + 1] in (
            "",
            "\n",
        ):
            next_fence[end - start] = place
    place = 0
    while place < len(runs):
        start, end = runs[place]
        before = markdown[start - 1 : start] if start else "\n"
        last = fences[place] if before == "\n" and end - start >= 3 else -1
        if last < 0 and before != "\\":
            last = ends[place]
        if last >= 0:
            yield start, runs[last][1]
            place = last
        place += 1
