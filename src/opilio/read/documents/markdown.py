"""Makes HTML of Markdown: CommonMark with tables, and front matter for the title."""

from __future__ import annotations

import re
from functools import cache
from html import unescape

from markdown_it import MarkdownIt

from opilio.read.documents.plain_text import page_markup

_front = re.compile(
    r"\ufeff?---[ \t]*\r?\n(.{0,20000}?)\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL
)
_title = re.compile(r"^title:[ \t]*[\"']?(.{1,300}?)[\"']?[ \t]*$", re.MULTILINE).search
_heading = re.compile(r"<h1>(.{0,2000}?)</h1>", re.DOTALL).search
_tags = re.compile("<[^<>]*>").sub


def markdown_markup(text: str) -> str:
    """Markdown as HTML."""
    told = None
    if front := _front.match(text):
        told, text = _title(front[1]), text[front.end() :]
    body = parser().render(text)
    heading = _heading(body)
    title = told[1] if told else unescape(_tags("", heading[1])) if heading else ""
    return page_markup(" ".join(title.split()), body)


@cache
def parser() -> MarkdownIt:
    """The parser; HTML inside Markdown is kept, as crawled HTML is."""
    return MarkdownIt("commonmark").enable("table")
