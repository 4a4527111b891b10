"""The page budget of a crawl: allows visits until that many pages were fetched."""

from __future__ import annotations

import asyncio


class Budget:
    """Allows visits to begin while pages are left in the budget.

    A visit reserves a page before it knows whether it will bring one, and settles
    afterwards; so the crawl ends with exactly as many pages as it was given.
    """

    def __init__(self, limit: int, spent: int = 0) -> None:
        self.limit = limit  # 0: none
        self.spent = spent
        self.reserved = 0
        self.closed = False
        self.changed: asyncio.Event | None = None  # while someone waits

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up."""
        return bool(self.limit) and self.spent >= self.limit

    async def reserve(self) -> bool:
        """Wait until a visit may begin (True) or none may any more (False)."""
        while not self.closed and not self.is_spent:
            if not self.limit or self.spent + self.reserved < self.limit:
                self.reserved += 1
                return True
            self.changed = self.changed or asyncio.Event()
            await self.changed.wait()
        return False

    def reserve_again(self) -> bool:
        """Reserve a page for a visit that had given its page back; returns whether the
        budget has it."""
        self.reserved += 1
        return not self.limit or self.spent + self.reserved <= self.limit

    def settle(self, pages: int) -> None:
        """Count the pages of a visit that has ended: 1 or 0."""
        self.reserved -= 1
        self.spent += pages
        self.wake()

    def close(self) -> None:
        """Allow no more visits."""
        self.closed = True
        self.wake()

    def wake(self) -> None:
        """Let waiting calls check again."""
        if self.changed:
            self.changed.set()
            self.changed = None
