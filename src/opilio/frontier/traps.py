"""Recognises URLs of crawler traps: too deep, too long or repeating themselves."""

from __future__ import annotations

from opilio.settings import BoundsSettings
from opilio.text.urls import MAX_LENGTH


def trap(url: str, depth: int, bounds: BoundsSettings) -> str:
    """The kind of trap: depth, length, segments or repeats; "": none.

    A repeated group of segments, like a/b in /a/b/a/b, repeats its single segments, so
    it is enough to count these.
    """
    if depth > bounds.max_depth:
        return "depth"
    if len(url) > bounds.max_url_length or len(url) >= MAX_LENGTH:
        return "length"
    most = 1 + bounds.max_repeats
    if url.count("/") - 2 <= most < bounds.max_segments:
        return ""  # nearly all URLs: too few segments for what follows
    segments = url.partition("?")[0].split("/")[3:]
    if not segments[-1]:
        segments.pop()  # a slash at the end starts no segment
    if len(segments) > bounds.max_segments:
        return "segments"
    distinct = set(segments)
    if len(segments) - len(distinct) >= most and any(
        segments.count(segment) > most for segment in distinct
    ):
        return "repeats"
    return ""
