"""A number of pages in; permissions to visit, until that many pages came, out."""

from __future__ import annotations

import asyncio


class Budget:
    """Lets visits begin while pages are left to be had.

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
        """Has every page been had?"""
        return bool(self.limit) and self.spent >= self.limit

    async def reserve(self) -> bool:
        """True: a visit may begin. False: none may any more. Waits to know."""
        while not self.closed and not self.is_spent:
            if not self.limit or self.spent + self.reserved < self.limit:
                self.reserved += 1
                return True
            self.changed = self.changed or asyncio.Event()
            await self.changed.wait()
        return False

    def settle(self, pages: int) -> None:
        """A visit has ended and brought so many pages: one or none."""
        self.reserved -= 1
        self.spent += pages
        self.wake()

    def close(self) -> None:
        """Let no visit begin any more."""
        self.closed = True
        self.wake()

    def wake(self) -> None:
        """Let those who wait look again."""
        if self.changed:
            self.changed.set()
            self.changed = None
