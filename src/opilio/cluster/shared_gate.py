"""Spaces out requests to one address, whichever worker makes them.

Hosts of different domains may share an address, and different workers own them. So the
time of the next request to an address is a row in PostgreSQL.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from opilio.cluster.connection import PatientConnection
from opilio.fetch.address_gate import AddressGate

if TYPE_CHECKING:
    import psycopg

# Returns the seconds to wait.
_TURN = """
    INSERT INTO address_gate AS gate
    VALUES (%(ip)s, clock_timestamp() + make_interval(secs => %(delay)s))
    ON CONFLICT (ip) DO UPDATE SET free_at =
        greatest(gate.free_at, clock_timestamp()) + make_interval(secs => %(delay)s)
    RETURNING extract(epoch FROM
        free_at - make_interval(secs => %(delay)s) - clock_timestamp())
"""
OLD = 3600  # seconds after which an address is forgotten
_FORGET = """
    DELETE FROM address_gate
    WHERE free_at < clock_timestamp() - make_interval(secs => %s)
"""


class SharedGate(AddressGate):
    """Lets requests of all workers to one address through, so many seconds apart."""

    def __init__(self, delay: float, database: PatientConnection) -> None:
        super().__init__(delay)
        self._seconds = delay
        self._database = database

    async def turn(self, address: str) -> None:
        """Wait until a request to the address may be sent; it counts as sent then."""
        if not self._seconds:
            return
        asked = {"ip": address, "delay": self._seconds}

        def ask(db: psycopg.Connection) -> float:
            [(wait,)] = db.execute(_TURN, asked).fetchall()
            return float(wait)

        wait = await self._database.ask(ask)
        if wait > 0:
            await asyncio.sleep(wait)


def forget_addresses(db: psycopg.Connection) -> None:
    """Delete addresses that nobody has asked for a long time."""
    db.execute(_FORGET, (OLD,))
