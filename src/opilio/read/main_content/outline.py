"""Records of the blocks of text on a page, and of the elements around them."""

from __future__ import annotations

import msgspec


class TextBox(msgspec.Struct):
    """An element around blocks: not one inside a line of text."""

    tag: str
    parent: int  # number of the box around it
    kinds: int  # as bits, see names.py
    names: str  # its tag and class: boxes of one sort share them
    first: int  # number of its first block
    last: int = 0  # number of the block after its last
    given: dict[str, str] = {}


class TextBlock(msgspec.Struct):
    """A line or paragraph of text."""

    box: int  # number of the innermost box
    text: str
    linked: int  # characters of it in links
    links: int
    kinds: int  # of the inline elements in it
    marks: list[tuple[int, int, str, str]]  # start, end, kind, link target
    marked: int = 0  # characters in bold


class PageOutline(msgspec.Struct):
    """The blocks and boxes of a page."""

    blocks: list[TextBlock]
    boxes: list[TextBox]
    unseen: int  # characters that were hidden
    seen: int
