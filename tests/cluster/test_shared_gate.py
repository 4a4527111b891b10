"""Requests to one address are spaced out, whichever worker makes them."""

import asyncio
import time
from contextlib import closing

from opilio.cluster.connection import PatientConnection, open_postgres
from opilio.cluster.schema import make_ready
from opilio.cluster.shared_gate import SharedGate, forget_addresses

DELAY = 0.1


async def test_workers_take_turns_at_an_address(dsn):
    with closing(open_postgres(dsn)) as db:
        make_ready(db)
    databases = [PatientConnection(dsn) for _ in range(3)]
    gates = [SharedGate(DELAY, database) for database in databases]
    sent: list[float] = []

    async def request(gate):
        await gate.turn("192.0.2.1")
        sent.append(time.monotonic())

    began = time.monotonic()
    await asyncio.gather(*(request(gate) for gate in gates * 4))
    # Whoever wakes late is late; nobody is early.
    for place, at in enumerate(sorted(sent)):
        assert at - began > (place - 0.2) * DELAY
    for database in databases:
        database.close()


async def test_other_addresses_and_no_delay_do_not_wait(dsn):
    with closing(open_postgres(dsn)) as db:
        make_ready(db)
        database = PatientConnection(dsn)
        gate = SharedGate(60.0, database)
        async with asyncio.timeout(10):
            await gate.turn("192.0.2.1")
            await gate.turn("192.0.2.2")
            await SharedGate(0.0, database).turn("192.0.2.1")
        database.close()
        db.execute("UPDATE address_gate SET free_at = '2001-01-01' WHERE ip LIKE '%1'")
        forget_addresses(db)
        left = db.execute("SELECT ip FROM address_gate").fetchall()
        assert left == [("192.0.2.2",)]
