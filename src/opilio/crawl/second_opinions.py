"""Asks an adviser about pages that the judge is unsure of, before they are judged.

Other visits continue meanwhile. If the adviser fails, the page is judged without its
opinion; how often that happened is stored with the crawl, for `opilio status`.
"""

from __future__ import annotations

import logging
from contextlib import suppress

import msgspec

from opilio.errors import FetchError
from opilio.progress import OpinionCounts
from opilio.protocols import Adviser, Doubting, Judge
from opilio.records import Reading, Response
from opilio.stage_protocols import Readers
from opilio.storage.packed import unpack_extraction

log = logging.getLogger(__name__)


class SecondOpinions:
    """Asks for opinions and counts them."""

    def __init__(self, adviser: Adviser, readers: Readers) -> None:
        self.adviser = adviser
        self.readers = readers
        self.counts = OpinionCounts(adviser.name)
        self.stored = b""  # the counts, as they were stored last
        self.reported: set[str] = set()  # kinds of failures

    async def ask(self, judge: Judge, reading: Reading, response: Response) -> Reading:
        """The reading with an opinion on its page, if the judge wants one."""
        page = reading.page
        if page is None or not isinstance(judge, Doubting) or not judge.doubts(page):
            return reading
        self.counts.asked += 1
        found = await self.readers.extract(response)
        title, text = page.title, ""
        if found and (content := unpack_extraction(found.packed)):
            title, text = content.title or title, content.text
        try:
            opinion = await self.adviser.opinion(page.url, title, text)
        except FetchError as error:
            self.note(error)
            return msgspec.structs.replace(reading, extraction=found)
        self.counts.answered += 1
        page = msgspec.structs.replace(page, opinion=opinion)
        return msgspec.structs.replace(reading, page=page, extraction=found)

    def note(self, error: FetchError) -> None:
        """Count a failure; the first of each kind is reported."""
        failures = self.counts.failures
        failures[error.reason] = failures.get(error.reason, 0) + 1
        if error.reason not in self.reported:
            self.reported.add(error.reason)
            log.warning("no second opinion: %s", error)

    def dump(self) -> bytes | None:
        """The counts, if they have changed."""
        now = msgspec.json.encode(self.counts)
        if now == self.stored or not self.counts.asked:
            return None
        self.stored = now
        return now

    def load(self, learnt: bytes) -> None:
        """Continue counting where an earlier run ended."""
        with suppress(msgspec.MsgspecError):
            counts = msgspec.json.decode(learnt, type=OpinionCounts)
            if counts.adviser == self.counts.adviser:
                self.counts = counts
