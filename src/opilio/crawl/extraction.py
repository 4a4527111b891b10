"""Lets readers extract the main texts of the pages that are kept, beside the visits.

What a page says does not change what is visited next, so no visit waits for it. Texts
that were under way when a crawl was killed are extracted when it is resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from opilio.records import Response
from opilio.stage_protocols import Readers
from opilio.store.store import LostText, Store
from opilio.store.stored_responses import StoredResponses

MOST = 32  # pages under way; visits wait while there are more


class Extractions:
    """The main texts that are being extracted."""

    def __init__(self, readers: Readers, store: Store) -> None:
        self.readers = readers
        self.store = store
        self.pending: dict[int, asyncio.Task[None]] = {}  # by the id of the page

    def want(self, page: int, response: Response, *, again: bool = False) -> None:
        """Extract the main text of a page; `again`: it replaces an older one."""
        if again:
            self.forget(page)
        self.pending[page] = asyncio.create_task(self.extract(page, response))

    def resume(self, lost: Sequence[LostText]) -> None:
        """Extract texts that were under way when the crawl was killed."""
        records = StoredResponses(self.store.folder.warcs)
        for page, name, offset, length in lost:
            if response := records.response(name, offset, length):
                self.want(page, response)

    def forget(self, page: int) -> None:
        """Delete the main text of a page that has changed or is no longer kept."""
        if before := self.pending.pop(page, None):
            before.cancel()
        self.store.drop_extraction(page)

    async def extract(self, page: int, response: Response) -> None:
        """Extract one main text and store it."""
        if found := await self.readers.extract(response):
            self.store.save_extraction(page, found)
        self.pending.pop(page, None)

    async def room(self) -> None:
        """Wait until few enough are under way."""
        while len(self.pending) > MOST:
            done, _ = await asyncio.wait(
                self.pending.values(), return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()

    async def finish(self) -> None:
        """Wait for all that are under way."""
        while self.pending:
            await asyncio.gather(*self.pending.values())

    def cancel(self) -> None:
        """Drop all that are under way."""
        for task in self.pending.values():
            task.cancel()
        self.pending.clear()
