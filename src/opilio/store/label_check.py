"""Labels that the judge did not learn from, and how well it does on them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

NAME = "label check"  # among what was learnt
MOST = 60  # the latest ones, that are kept


class CheckedLabel(msgspec.Struct, frozen=True, array_like=True):
    """A label that was not learnt from, and what the judge says of its page now."""

    page: int
    relevant: bool  # as the user says
    without: float  # the score, had nobody labelled a page
    score: float  # the score with all labels that were learnt from
    was_right: bool  # without labels
    is_right: bool  # with them


class LabelCheck(msgspec.Struct, frozen=True):
    """What labels have taught the judge, measured on others."""

    labels: list[CheckedLabel] = []

    def with_label(self, label: CheckedLabel) -> LabelCheck:
        """The same with one more label; an earlier one of the page is replaced."""
        return LabelCheck([*self.without_page(label.page).labels, label][-MOST:])

    def without_page(self, page: int) -> LabelCheck:
        """The same without a page, because its label was learnt from."""
        return LabelCheck([one for one in self.labels if one.page != page])


def label_check_in(db: sqlite3.Connection) -> LabelCheck:
    """What was measured last; nothing if no label was held out."""
    rows: Iterable[tuple[bytes]] = db.execute(
        "SELECT state FROM learnt WHERE name = ?", (NAME,)
    )
    decode = msgspec.json.decode
    return next((decode(row[0], type=LabelCheck) for row in rows), LabelCheck())
