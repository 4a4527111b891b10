"""Writes the chosen blocks of a page as plain text and as Markdown.

Plain text has one line per paragraph, item and row; cells are separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from opilio.read.main_content.walk import PageOutline, TextBlock, TextBox

DEEPEST_LIST = 9
SAFE = "!#$%&'*+,-./:;=?@_~"
_special = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)").sub
_starts = re.compile(r"(?m)^(\s*)([#>+-]|\d{1,9}[.)])(?=\s|$)").sub
_language = re.compile(
    r"(?:language|lang|highlight-source|brush)[-:]\s?([\w+#-]{1,20})"
)
_links = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\([^()\s]*\)")
_code = re.compile(r"(?ms)^(`{3,})[^\n]*\n.*?^\1$|(`+)(?!`).*?(?<!`)\2(?!`)")


@dataclass(frozen=True, slots=True)
class Role:
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
        self.roles = roles_of(outline.boxes)
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
                empty = self.skipped(row, cell, role.cell)
                rows[-1] += [""] * empty
                rows[-1].append(said)
            cell = role.cell
        return rows

    def skipped(self, row: int, before: int, cell: int) -> int:
        """How many cells of a row stand between two, or before the first."""
        if row < 0 or cell < 0:
            return 0
        cells = self.cells.get(row) or self.note_cells(row)
        place = cells.index(cell) if cell in cells else 0
        return place - (cells.index(before) + 1 if before in cells else 0)

    @property
    def cells(self) -> dict[int, list[int]]:
        """The cells of each row."""
        if not hasattr(self, "_cells"):
            self._cells: dict[int, list[int]] = {}
            for number, box in enumerate(self.boxes):
                if box.tag in ("td", "th"):
                    self._cells.setdefault(self.roles[number].row, []).append(number)
        return self._cells

    def note_cells(self, row: int) -> list[int]:
        """A row without cells."""
        return self._cells.setdefault(row, [])

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
        fence = "```"
        while fence in block.text:
            fence += "`"
        return f"{fence}{found[1] if found else ''}\n{block.text}\n{fence}"

    def inline(self, block: TextBlock) -> str:
        """The text of a block with its links, bold and italic words and code."""
        text = block.text
        if not block.marks:
            return escaped(text)
        starts: dict[int, list[tuple[int, str, str]]] = {}
        for start, end, kind, href in block.marks:
            if end <= len(text) and text[start:end].strip():
                starts.setdefault(start, []).append((end, kind, href))
        return "".join(self.marked(text, 0, len(text), starts))

    def marked(
        self,
        text: str,
        start: int,
        end: int,
        starts: dict[int, list[tuple[int, str, str]]],
        within: frozenset[str] = frozenset(),
    ) -> Iterator[str]:
        """A stretch of text with its marks; overlapping marks are left out."""
        done = start
        for place in sorted(at for at in starts if start <= at < end):
            if place < done:
                continue
            inner = starts[place]
            marks = sorted(inner, key=lambda mark: -mark[0])
            mark = next((m for m in marks if m[0] <= end and m[1] not in within), None)
            if mark is None:
                continue
            yield escaped(text[done:place])
            rest = {**starts, place: [one for one in inner if one is not mark]}
            said = text[place : mark[0]]
            core = said.strip()
            before = said[: len(said) - len(said.lstrip())]
            after = said[len(said.rstrip()) :]
            if mark[1] == "code":
                ticks = "`" * ((core.count("`") and 2) or 1)
                yield f"{before}{ticks}{core}{ticks}{after}"
            else:
                left, right = place + len(before), mark[0] - len(after)
                inside = within | {mark[1]}
                rest = {left if at == place else at: m for at, m in rest.items()}
                body = "".join(self.marked(text, left, right, rest, inside))
                yield before + self.around(mark[1], body, mark[2]) + after
            done = mark[0]
        yield escaped(text[done:end])

    def around(self, kind: str, body: str, href: str) -> str:
        """Marked text in Markdown."""
        if kind == "a":
            target = self.join(href) if href else ""
            if not target or "\n" in body:
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
            role = replace(role, items=(*role.items[-DEEPEST_LIST:], number))
        elif tag in ("ul", "ol", "menu", "dir"):
            role = replace(role, list=number)
        elif tag == "blockquote":
            role = replace(role, quotes=role.quotes + 1)
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            role = replace(role, heading=int(tag[1]))
        elif tag == "pre":
            role = replace(role, code=number)
        elif tag == "dt":
            role = replace(role, term=True)
        elif tag == "table" and number in data:
            role = replace(role, table=number, row=-1, cell=-1)
        elif tag == "tr" and role.table >= 0:
            role = replace(role, row=number)
        elif tag in ("td", "th") and role.table >= 0:
            role = replace(role, cell=number)
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


def plain(block: TextBlock) -> str:
    """The text of a block."""
    return block.text


def escaped(text: str) -> str:
    """Text in which Markdown sees no marks."""
    return _special(r"\\\g<0>", text)


def without_links(markdown: str) -> str:
    """Our Markdown with the text of its links alone."""
    parts: list[str] = []
    done = 0
    for code in _code.finditer(markdown):
        parts += (_links.sub(r"\1", markdown[done : code.start()]), code[0])
        done = code.end()
    parts.append(_links.sub(r"\1", markdown[done:]))
    return "".join(parts)
