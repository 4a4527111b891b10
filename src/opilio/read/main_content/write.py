"""Writes the chosen blocks of a page as plain text and as Markdown.

Plain text has one line per paragraph, item and row; cells are separated by tabs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from opilio.read.main_content.block_roles import Role, cell_columns, roles_of
from opilio.read.main_content.outline import PageOutline, TextBlock

MOST_LINKS = 10_000  # of a page; further ones are written as text
SAFE = "!#$%&'*+,-./:;=?@_~"
_may_be_special = re.compile(r"[\\`*\[\]<_]").search
_special = re.compile(r"[\\`*\[\]<]|(?<!\w)_|_(?!\w)").sub
_starts = re.compile(r"(?m)^(\s*)([#>+-]|\d{1,9}[.)])(?=\s|$)").sub
_start = re.compile(r"(\s*)([#>+-]|\d{1,9}[.)])(?=\s|$)").match
_ticks = re.compile("`+")
_language = re.compile(
    r"(?:language|lang|highlight-source|brush)[-:]\s?([\w+#-]{1,20})"
)


class ChosenText:
    """The chosen blocks of a page, with their roles."""

    def __init__(
        self, outline: PageOutline, kept: Sequence[bool], join: Callable[[str], str]
    ) -> None:
        self.boxes = outline.boxes
        self.join = join
        self.links = 0  # that were written
        self.roles = roles_of(outline.boxes)
        self.columns = cell_columns(outline.boxes, self.roles)
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
            said = without_start(self.inline(block)).replace("\n", "  \n")
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


def without_start(text: str) -> str:
    """Text whose lines do not begin with what makes headings, quotations or lists."""
    if "\n" in text:
        return _starts(r"\1\\\2", text)
    found = _start(text)
    return f"{found[1]}\\{text[found.end(1) :]}" if found else text


def plain(block: TextBlock) -> str:
    """The text of a block."""
    return block.text


def escaped(text: str) -> str:
    """Text in which Markdown sees no marks."""
    return _special(_escape, text) if _may_be_special(text) else text


def _escape(found: re.Match[str]) -> str:
    return f"\\{found[0]}"  # much faster than a template
