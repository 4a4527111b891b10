"""Requests for tdmrep.json are bounded, whatever the site asks for."""

from __future__ import annotations

import asyncio

from opilio.fetch.robots import RobotsRules
from opilio.fetch.robots_rules import read_rules
from opilio.fetch.tdm_files import TdmFiles
from opilio.records import Response, TdmRecord

ORIGIN = "http://a.test"


class Memory:
    def __init__(self) -> None:
        self.saved: list[TdmRecord] = []

    def load(self, origin: str) -> None:
        return None

    def save(self, record: TdmRecord) -> None:
        self.saved.append(record)


class Robots:
    async def rules(self, origin: str) -> RobotsRules:
        told = b"User-agent: *\nCrawl-delay: 999999\n"
        return RobotsRules(read_rules(told, "opilio"))


async def test_a_crawl_delay_of_days_does_not_hold_up_a_visit() -> None:
    """Redirects of the file wait for it, but no longer than for any page."""

    async def redirect(url: str, *, max_bytes: int) -> Response:
        return Response(url, 301, (("location", "/elsewhere"),), b"", 0.0)

    memory = Memory()
    files = TdmFiles(redirect, Robots(), memory, None, longest=0.01)  # type: ignore[arg-type]
    files.want(f"{ORIGIN}/page")
    async with asyncio.timeout(20):
        assert await files.ask(ORIGIN)
    assert [record.status for record in memory.saved] == ["none"]
