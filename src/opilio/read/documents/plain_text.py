"""Makes HTML of plain text: paragraphs, underlined headings, and links where addresses
stand."""

from __future__ import annotations

import re
from html import escape

LONGEST_TITLE = 120  # characters of a first line that is taken for the title
TRAILING = ".,;:!?'\""

_paragraphs = re.compile(r"\n[ \t]*(?:\n[ \t]*)+").split
_underlined = re.compile(r"\s*(\S.{0,200})\n\s*(={3,}|-{3,}|~{3,})\s*").fullmatch
_is_laid_out = re.compile(r"^(?: {2,}|\t)|\S(?: {3,}|\t)\S", re.MULTILINE).search
_address = re.compile(r"https?://[^\s<>\"'`{}|\\^\x00-\x1f]{1,2000}").finditer


def text_markup(text: str) -> str:
    """Plain text as HTML."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n\f\ufeff ")
    blocks = [block for block in _paragraphs(text) if block.strip()]
    body = "\n".join(map(block_markup, blocks))
    return page_markup(title_of(blocks), body)


def page_markup(title: str, body: str) -> str:
    """A page with a title and a body that is HTML already."""
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def title_of(blocks: list[str]) -> str:
    """The first line, if it is short enough to be a title."""
    if not blocks:
        return ""
    line = " ".join(blocks[0].strip().partition("\n")[0].split())
    return line if len(line) <= LONGEST_TITLE else ""


def block_markup(block: str) -> str:
    """A heading, a paragraph, or lines that were laid out by hand."""
    if heading := _underlined(block):
        level = 1 if heading[2][0] == "=" else 2
        return f"<h{level}>{escape(heading[1])}</h{level}>"
    if _is_laid_out(block):
        return f"<pre>{linked(block)}</pre>"
    return f"<p>{linked(' '.join(block.split()))}</p>"


def linked(text: str) -> str:
    """A text as HTML, with links where addresses stand."""
    parts = []
    place = 0
    for found in _address(text):
        url = found[0].rstrip(TRAILING)
        while url.endswith((")", "]")) and not balanced(url):
            url = url[:-1].rstrip(TRAILING)
        parts += [escape(text[place : found.start()])]
        parts += [f'<a href="{escape(url)}">{escape(url)}</a>']
        place = found.start() + len(url)
    return "".join([*parts, escape(text[place:])])


def balanced(url: str) -> bool:
    """Whether every bracket that an address closes was opened in it."""
    return url.count(")") <= url.count("(") and url.count("]") <= url.count("[")
