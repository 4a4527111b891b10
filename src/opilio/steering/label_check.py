"""Measures what labels have taught the judge, on labels that it did not learn from.

Some labels are held out. After each label, the judge looks at their pages as it is now,
and as it would be without any label. Both know the same pages otherwise, so that the
difference is due to the labels alone.
"""

from __future__ import annotations

import msgspec

from opilio.crawl import CrawlLoop
from opilio.protocols import LabelComparing
from opilio.records import Page
from opilio.store.label_check import NAME, CheckedLabel, LabelCheck, label_check_in
from opilio.store.stored_responses import StoredResponses

PLACE = "SELECT warc, warc_offset, warc_length FROM page WHERE id = ?"


class LabelChecker:
    """Looks at the pages of labels that were held out."""

    def __init__(self, crawl: CrawlLoop) -> None:
        self.crawl = crawl
        self.pages: dict[int, Page | None] = {}  # read again; None: not readable

    def note(self, page: int, relevant: bool, *, held_out: bool) -> None:
        """Remember a label that is held out, or that one no longer is; in a turn."""
        known = label_check_in(self.crawl.store.db)
        if held_out:
            label = CheckedLabel(page, relevant, 0.0, 0.0, False, False)
            self.save(known.with_label(label))
        elif known.labels:
            self.save(known.without_page(page))

    async def measure(self) -> None:
        """Judge all pages whose labels are held out, with and without labels."""
        learner = comparing(self.crawl.judge)
        known = label_check_in(self.crawl.store.db)
        if learner is None or not known.labels:
            return
        pages = [(one, await self.page(one.page)) for one in known.labels]
        async with self.crawl.turn():
            before = learner.without_labels()
            measured = [
                compared(one, page, before, learner) for one, page in pages if page
            ]
            self.save(LabelCheck(measured))

    async def page(self, id: int) -> Page | None:
        """A page of the crawl, read once."""
        if id not in self.pages:
            store = self.crawl.store
            place = store.db.execute(PLACE, (id,)).fetchone()
            response = StoredResponses(store.folder.warcs).response(*place)
            read = await self.crawl.readers.read(response) if response else None
            self.pages[id] = read.page if read else None
        return self.pages[id]

    def save(self, known: LabelCheck) -> None:
        """Keep what was measured, in this transaction."""
        self.crawl.store.save_learnt(NAME, msgspec.json.encode(known))


def comparing(judge: object) -> LabelComparing | None:
    """The judge, or the one that it wraps, if it can tell what labels have changed."""
    while judge is not None and not isinstance(judge, LabelComparing):
        judge = getattr(judge, "inner", None)
    return judge


def compared(
    label: CheckedLabel, page: Page, before: LabelComparing, now: LabelComparing
) -> CheckedLabel:
    """What two judges say of a labelled page."""
    old, new = before.look(page), now.look(page)
    return CheckedLabel(
        label.page,
        label.relevant,
        old.score,
        new.score,
        old.relevant == label.relevant,
        new.relevant == label.relevant,
    )
