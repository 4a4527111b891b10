"""Joins the lines of a PDF file to headings, items and paragraphs.

A PDF file only says where letters stand. Lines with larger letters are headings; a
wide gap, an indent or a bullet begins a paragraph; lines at the top or bottom that most
pages share are running titles and page numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from opilio.read.documents.pdf_lines import PdfLine, PdfPiece

LARGER = 1.15  # times the usual size: a heading
LONGEST_HEADING = 200  # characters
LEVELS = 4  # of headings
WIDE = 1.4  # times the usual distance of two lines: a new paragraph
INDENT = 0.8  # times the size of the letters
SHORT = 0.8  # of the widest line: the last one of a paragraph
MARGIN_LINES = 2  # at each end of a page, which may repeat
FEWEST_PAGES = 3  # of a file that has running titles
NEAR = 6.0  # points; lines at the same place of their pages are nearer than this

_bullet = re.compile(r"[•◦▪‣●○■–—*-]\s+").match
_numbers = re.compile(r"\d+|\b[ivxlc]+\b").sub
_ends = re.compile(r"""[.!?:;。]["'”’)\]]*\s*$""").search


class PdfBlock(NamedTuple):
    """A part of the text: an HTML element and what is in it."""

    element: str  # h1 … h4, p or li
    pieces: tuple[PdfPiece, ...]

    @property
    def words(self) -> str:
        """The text of the block."""
        return "".join(piece.words for piece in self.pieces)


def pdf_blocks_of(pages: Sequence[Sequence[PdfLine]]) -> list[PdfBlock]:
    """The headings, items and paragraphs of a file, given the lines of its pages."""
    pages = without_running_titles(pages)
    usual = usual_size(pages)
    levels = heading_levels(pages, usual)
    return [
        as_block(lines, levels.get(round(lines[0].size, 1), 0))
        for lines in paragraphs(pages)
    ]


def usual_size(pages: Sequence[Sequence[PdfLine]]) -> float:
    """The size of most letters."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[round(line.size, 1)] += len(line.words)
    return max(sizes, key=lambda size: sizes[size], default=0.0)


def heading_levels(
    pages: Sequence[Sequence[PdfLine]], usual: float
) -> dict[float, int]:
    """The sizes of headings -> their levels, the largest first."""
    sizes = {round(line.size, 1) for page in pages for line in page}
    larger = sorted((size for size in sizes if size >= LARGER * usual), reverse=True)
    return {size: min(level, LEVELS) for level, size in enumerate(larger, 1)}


def without_running_titles(pages: Sequence[Sequence[PdfLine]]) -> list[list[PdfLine]]:
    """The pages without lines that most of them have at the same place at an end, but
    for numbers; the first page keeps its title."""
    if len(pages) < FEWEST_PAGES:
        return [list(page) for page in pages]
    counts = Counter(key for page in pages for key in {*map(key_of, ends_of(page))})
    repeated = {key for key, count in counts.items() if count > len(pages) / 2}
    kept = []
    for number, page in enumerate(pages):
        beside = {
            line
            for line in ends_of(page)
            if (key := key_of(line)) in repeated and (number or key[0] == "#")
        }
        kept.append([line for line in page if line not in beside])
    return kept


def ends_of(page: Sequence[PdfLine]) -> list[PdfLine]:
    """The first and the last lines of a page."""
    return [*page[:MARGIN_LINES], *page[-MARGIN_LINES:]]


def key_of(line: PdfLine) -> tuple[str, int]:
    """A line without its numbers, and how far down the page it is."""
    shape = " ".join(_numbers("#", line.words.lower()).split())
    return shape, round(line.foot / NEAR)


def paragraphs(pages: Sequence[Sequence[PdfLine]]) -> Iterator[list[PdfLine]]:
    """The lines of each paragraph; one may continue on the next page."""
    lines: list[PdfLine] = []
    for page in pages:
        gap = usual_gap(page)
        widest = max((line.right for line in page), default=0.0)
        for line in page:
            if lines and begins(lines, line, gap, widest):
                yield lines
                lines = []
            lines.append(line)
    if lines:
        yield lines


def usual_gap(page: Sequence[PdfLine]) -> float:
    """The distance of two lines of a paragraph."""
    gaps = [
        above.foot - below.foot
        for above, below in pairwise(page)
        if 0 < above.foot - below.foot < 4 * above.size
        and abs(above.size - below.size) < 0.1 * above.size
    ]
    return median(gaps) if gaps else 0.0


def begins(lines: Sequence[PdfLine], line: PdfLine, gap: float, widest: float) -> bool:
    """Whether a line begins a paragraph after these."""
    last = lines[-1]
    if abs(line.size - last.size) > 0.05 * last.size or _bullet(line.words):
        return True
    distance = last.foot - line.foot
    if distance < -0.5 * line.size or distance > 4 * line.size:  # a column or page
        return bool(_ends(last.words)) or not line.words.lstrip()[:1].islower()
    if gap and distance > WIDE * gap:
        return True
    if abs(distance) < 0.5 * line.size:  # the same line, further right
        return False
    starts = line.left - last.left > INDENT * line.size and len(lines) > 1
    return starts or bool(last.right < SHORT * widest and _ends(last.words))


def as_block(lines: Sequence[PdfLine], level: int) -> PdfBlock:
    """The block of some lines with letters of the level of a heading; 0: of none."""
    pieces = joined(lines)
    block = PdfBlock("p", pieces)
    if bullet := _bullet(pieces[0].words) if pieces else None:
        first = PdfPiece(pieces[0].words[bullet.end() :], pieces[0].url)
        return PdfBlock("li", (first, *pieces[1:]))
    if level and len(block.words) <= LONGEST_HEADING:
        return PdfBlock(f"h{level}", pieces)
    return block


def joined(lines: Sequence[PdfLine]) -> tuple[PdfPiece, ...]:
    """The pieces of the lines one after another; words and links that were broken at
    the end of a line are whole again."""
    pieces: list[PdfPiece] = []
    for line in lines:
        for number, piece in enumerate(line.pieces):
            if not pieces:
                pieces.append(piece)
                continue
            before = pieces[-1]
            glue = "" if number else " "
            if glue and is_broken(before.words, piece.words):
                before, glue = PdfPiece(before.words.rstrip()[:-1], before.url), ""
            if before.url == piece.url:
                pieces[-1] = PdfPiece(before.words + glue + piece.words, piece.url)
            else:
                pieces[-1:] = [before, PdfPiece(glue + piece.words, piece.url)]
    return tuple(pieces)


def is_broken(before: str, after: str) -> bool:
    """Whether a line ends within a word, at a hyphen."""
    before = before.rstrip()
    return before.endswith("-") and before[-2:-1].isalpha() and after[:1].islower()
