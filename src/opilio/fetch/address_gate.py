"""Spaces out requests to one address from the moment they are sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

REMEMBERED = 10_000  # addresses


class AddressGate:
    """Lets requests to one address through, so many seconds apart.

    The frontier leases links of one address as far apart. But a request is sent some
    time after its lease, and the next one may be quicker.
    """

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._free: OrderedDict[str, float] = OrderedDict()  # when each may be used

    async def turn(self, address: str) -> None:
        """Wait until a request to the address may be sent; it counts as sent then."""
        if not self._delay:
            return
        now = asyncio.get_running_loop().time()
        due = max(self._free.pop(address, now), now)
        self._free[address] = due + self._delay
        if len(self._free) > REMEMBERED:
            self._free.popitem(last=False)
        if due > now:
            await asyncio.sleep(due - now)
