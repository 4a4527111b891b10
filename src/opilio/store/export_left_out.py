"""Counts the pages that an export leaves out, by reason."""

from __future__ import annotations

import sqlite3

COUNTS = """
    SELECT
        CASE
            WHEN reason = 'redirect' THEN 'redirect'
            WHEN copy_of IS NOT NULL THEN 'copy'
            WHEN score IS NULL THEN 'unreadable'
            WHEN :relevant_only AND NOT relevant THEN 'irrelevant'
            WHEN noindex AND NOT :noindex THEN 'noindex'
        END AS why,
        count(*)
    FROM page JOIN link USING (id)
    WHERE status BETWEEN 200 AND 299 GROUP BY why
"""
IN_WORDS = {  # of one page, and of several
    "irrelevant": ("not relevant (--relevant-only)",) * 2,
    "copy": ("copy of another page", "copies of other pages"),
    "noindex": ("marked noindex",) * 2,
    "unreadable": ("could not be read",) * 2,
    "filtered": ("not selected by the filters",) * 2,
    "reserved": ("reserved against the purpose",) * 2,
    "redirect": ("redirects to another page", "redirect to other pages"),
}


def count_left_out(
    db: sqlite3.Connection, *, relevant_only: bool = False, noindex: bool = False
) -> dict[str, int]:
    """Pages of a crawl that an export does not contain, by reason, most first."""
    wanted = {"relevant_only": relevant_only, "noindex": noindex}
    found = {why: count for why, count in db.execute(COUNTS, wanted) if why}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def left_out_in_words(left_out: dict[str, int]) -> str:
    """The pages left out, as a sentence; "" if there are none."""
    if not left_out:
        return ""
    total = sum(left_out.values())
    reasons = ", ".join(f"{n:,} {IN_WORDS[why][n > 1]}" for why, n in left_out.items())
    return f"{total:,} {'page' if total == 1 else 'pages'} left out: {reasons}"
