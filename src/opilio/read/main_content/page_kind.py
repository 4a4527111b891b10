"""Guesses from URL and declared types what kind of page it is."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import urlsplit

ARTICLE = re.compile("(?i)article|blogposting|report").search
PRODUCT = re.compile("(?i)product|offer|vehicle|apartment|hotel").search
THREAD = re.compile("(?i)discussion|qapage|question|forum").search
LIST = re.compile("(?i)collectionpage|itemlist|searchresults|blog$|website").search
THREAD_URL = re.compile(
    r"(?i)forum|thread|viewtopic|/topics?/|/questions?/|community|discuss|/t/|showthread|"
    r"comments/"
).search


def about_page(url: str, types: Collection[str], declared: str) -> tuple[float, ...]:
    """The columns ABOUT of features.py, by URL, types in JSON-LD and og:type."""
    parts = urlsplit(url)
    path = parts.path.strip("/")
    last = path.rpartition("/")[2]
    said = " ".join(types)
    return (
        2.0 * bool(ARTICLE(said)) + ("article" in declared.lower()),
        2.0 * bool(PRODUCT(said)) + ("product" in declared.lower()),
        2.0 * bool(THREAD(said)) + bool(THREAD_URL(f"{parts.netloc}/{parts.path}")),
        float(bool(LIST(said))),
        float(not path and not parts.query),
        float(min(12, len(re.findall("[-_]", last)))),
        float(path.count("/")),
    )
