"""Removes the links from Markdown that write.py has written, but keeps their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ticks = re.compile("`+")
_links = re.compile(r"(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\([^()\s]*\)")


def without_links(markdown: str) -> str:
    """Markdown with the texts of its links in place of the links."""
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
