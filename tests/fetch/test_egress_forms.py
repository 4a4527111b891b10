"""Forms, which search engines may be sent: by the same guarded way as all else."""

from __future__ import annotations

import pytest

from fetch.hostile_server import Connection, answer, saying, serve
from fetch.local_egress import opened
from opilio.errors import Unusable


async def test_a_form_is_posted_and_the_next_request_is_a_plain_one() -> None:
    bodies = []

    async def script(connection: Connection) -> None:
        connection.keep = True
        head = connection.request.lower()
        if b"content-length: 7" in head:
            bodies.append(await connection.reader.readexactly(7))
        await connection.send(answer())

    async with serve(script) as server, opened() as egress:
        await egress.get(server.url("/a"), form=b"q=a+b&c")
        await egress.get(server.url("/b"))
        await egress.get(server.url("/c"), form=b"")
        await egress.get(server.url("/d"))
    first, *others = [request.split(b"\r\n")[0] for request in server.requests]
    assert first == b"POST /a HTTP/1.1"
    assert others == [b"GET /b HTTP/1.1", b"POST /c HTTP/1.1", b"GET /d HTTP/1.1"]
    assert bodies == [b"q=a+b&c"]
    assert b"application/x-www-form-urlencoded" in server.requests[0]
    assert b"content-type" not in server.requests[1].lower()
    assert b"Content-Length: 0" in server.requests[2]


async def test_a_form_goes_to_no_private_address_either() -> None:
    async with serve(saying(answer())) as server, opened(allow_networks=()) as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url(), form=b"q=1")
    assert caught.value.reason == "blocked_address"
    assert not server.requests
