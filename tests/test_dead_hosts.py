"""A crawl whose hosts are all silent ends by itself, and none of its links is lost."""

from contextlib import AsyncExitStack
from socket import socket

from crawling import SETTINGS, Crawled
from fetch.hostile_server import Connection, answer, serve
from opilio.lab.synthetic.small import page

HASTE = SETTINGS.replace("delay = 0.0", "delay = 0.0\nip_delay = 0.0\nmax_rest = 1.0")
LOOPBACK = ("--allow-network", "127.0.0.0/8")
MANY = 6  # more silent hosts than it takes to believe that the network is away


def topic(ports: list[int]) -> str:
    seeds = [f"http://127.0.0.1:{port}/" for port in ports]
    return f'name = "bees"\nkeywords = ["honey"]\nseeds = {seeds}\n'


async def test_a_crawl_of_hosts_that_are_silent_ends_and_goes_on_when_they_answer(
    tmp_path,
):
    answering = False

    async def script(connection: Connection) -> None:
        if answering:
            title = connection.request.split(b"Host: ")[1][:20].decode(errors="replace")
            await connection.send(answer(page(title, "honey").encode()))

    async with AsyncExitStack() as servers:
        ports = [
            (await servers.enter_async_context(serve(script))).port for _ in range(MANY)
        ]
        life = Crawled(tmp_path, topic_text=topic(ports), settings_text=HASTE)
        ended = await life.crawl(*LOOPBACK)
        assert ended.code == 1
        assert "no page could be fetched" in ended.err
        assert set(life.states().values()) == {("parked", "offline")}
        answering = True
        ended = await life.crawl()
        assert ended.code == 0, ended.err
        assert ended.json()["pages"] == MANY


async def test_a_crawl_of_hosts_that_refuse_ends(tmp_path):
    held = [socket() for _ in range(MANY)]
    try:
        for each in held:  # bound, but nobody takes calls
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in held]
        life = Crawled(tmp_path, topic_text=topic(ports), settings_text=HASTE)
        ended = await life.crawl(*LOOPBACK)
    finally:
        for each in held:
            each.close()
    assert ended.code == 1
    assert set(life.states().values()) == {("unusable", "refused")}
