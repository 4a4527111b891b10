"""Single odd answers: each ends in a named state, and nothing is printed."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from crawling import SETTINGS, Crawled
from fetch.hostile_server import Connection, answer, saying, serve
from fetch.local_egress import Names, opened
from opilio.errors import BadInput, Transient, Unusable
from opilio.fetch.egress import Egress
from opilio.fetch.limited_response import MOST_SMALL, STOP, Exchange, Limits
from opilio.lab.hostile.wire_cases import zstd_zeros
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.settings import FetchSettings, read_toml

HASTE = SETTINGS.replace("delay = 0.0", "delay = 0.0\nip_delay = 0.0")


@pytest.mark.parametrize(
    "sent", [b"\r\n\r\n", b"\n\n", b"\r\n" * 50, b"\0\r\n\r\n", b"HTTP/1.1\r\n\r\n"]
)
async def test_an_answer_without_a_head_is_an_error(
    sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    async with serve(saying(sent)) as server, opened() as egress:
        with pytest.raises((Unusable, Transient)) as caught:
            await egress.get(server.url())
    assert caught.value.reason in ("bad_http", "network")
    assert capfd.readouterr().err == ""


async def test_zstd_was_not_asked_for_and_is_refused() -> None:
    body = zstd_zeros(256)
    assert len(body) < 10_000
    told = answer(body, b"Content-Encoding: zstd")
    async with serve(saying(told)) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url())
    assert caught.value.reason == "bad_encoding"
    assert b"zstd" not in server.requests[0]


def test_the_zstd_bomb_is_one(tmp_path: Path) -> None:
    program = shutil.which("zstd")
    if not program:
        pytest.skip("zstd is not installed")
    packed = tmp_path / "bomb.zst"
    packed.write_bytes(zstd_zeros(2))
    unpacked = subprocess.run([program, "-dc", packed], capture_output=True, check=True)
    assert unpacked.stdout == bytes(2 * 2**20)


CODE = "__import__('os').system('touch CANARY')"


@pytest.mark.parametrize(
    "charset", ["zlib_codec", "unicode_escape", "idna", "os", CODE]
)
async def test_what_a_header_says_is_never_looked_up_as_code(
    charset: str, crawled
) -> None:
    """A name in a header chooses neither a function nor a module, also no codec of
    Python that is no encoding of texts."""
    canary = Path("CANARY")
    headers = [
        ("content-type", f"text/html; charset={charset}"),
        *(("referrer-policy", name) for name in ("os.system", CODE)),
        ("x-robots-tag", CODE),
        ("last-modified", CODE),
        ("link", f'<{CODE}>; rel="{CODE}"'),
    ]
    body = page("Bees", "honey \\x41 hive").encode()
    web = {"http://seed.test/": SyntheticAnswer(200, tuple(headers), body)}
    life: Crawled = await crawled(SmallWeb(web))
    before = set(sys.modules)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert life.states() == {"http://seed.test/": ("kept", None)}
    [(charset_used,)] = life.rows("SELECT charset FROM page")
    assert charset_used.lower() in ("windows-1252", "utf-8"), charset_used
    assert not canary.exists() and not (life.folder / "CANARY").exists()
    assert not [name for name in set(sys.modules) - before if "codec" in name]


async def test_a_link_that_is_too_long_leaves_a_row(crawled) -> None:
    links = {f"http://long.test/{'x' * 100_000}": "honey", "/next": "honey"}
    web = {"http://seed.test/": page("Bees", "honey hive", links)}
    life: Crawled = await crawled(SmallWeb(web))
    assert (await life.crawl()).code == 0
    [(url, state, reason)] = life.rows(
        "SELECT url, state, reason FROM link WHERE url LIKE '%long%'"
    )
    assert (state, reason) == ("unusable", "trap_length")
    assert len(url) <= 2083


async def test_a_long_rest_does_not_hold_up_a_finished_crawl(crawled) -> None:
    rest = SyntheticAnswer(429, (HTML, ("retry-after", "99999999")))
    web: dict[str, str | SyntheticAnswer] = {
        "http://seed.test/": page("Bees", "honey", {"http://busy.test/": "bees"}),
        "http://busy.test/": rest,
    }
    life: Crawled = await crawled(SmallWeb(web))
    began = time.monotonic()
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert ended.json()["ended"] == "resting"
    assert time.monotonic() - began < 30
    assert life.states()["http://busy.test/"] == ("waiting", None)
    again = await life.crawl()
    assert again.json()["ended"] == "resting"


async def test_requests_to_one_address_are_apart_when_they_are_sent() -> None:
    delay, arrivals = 0.1, []

    async def script(connection: Connection) -> None:
        arrivals.append(time.monotonic())
        await connection.send(answer())

    async with serve(script) as server:
        names = Names(lambda host: [f"127.0.0.1:{server.port}"])
        settings = FetchSettings(allow_networks=("127.0.0.0/8",))
        egress = Egress(settings, names, ip_delay=delay)
        try:
            urls = [f"http://h{number}.test/" for number in range(5)]
            await asyncio.gather(*map(egress.get, urls))
        finally:
            await egress.close()
    # Each waits from the sending of the one before it, not from its own start.
    assert arrivals[-1] - arrivals[0] >= 4 * delay - 0.06  # a busy machine
    assert min(b - a for a, b in pairwise(arrivals)) > delay / 2


def test_a_body_of_tiny_pieces_takes_no_more_memory_than_a_whole_one() -> None:
    exchange = Exchange(None, Limits())
    exchange.clear("http://a.test/", 2**20)
    exchange.room = 2**20
    pieces = [b"ab", b"c" * 1000, b"de", b"f", b"g" * 600, b"h"] * 500
    for piece in pieces:
        assert exchange.on_body(piece) is None
    assert len(exchange.chunks) == 4 * 500 + 1
    left = MOST_SMALL - exchange.small
    for _ in range(left):
        assert exchange.on_body(b"xy") is None
    assert len(exchange.chunks) == 4 * 500 + 1
    assert exchange.on_body(b"xy") == STOP  # no page is sent like that
    assert exchange.truncated == "length"
    assert b"".join(exchange.chunks) == b"".join(pieces) + b"xy" * left


@pytest.mark.parametrize(
    "text",
    [
        "a." * 20_000 + "b = 1",
        "[" + "a." * 20_000 + "b]",
        "\n".join(f"[{'.'.join('abcdefghij')}{n}]" for n in range(100_000)),
    ],
    ids=["key", "table", "many"],
)
def test_a_settings_file_cannot_fill_the_memory(text: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(BadInput, match="too deeply"):
        read_toml(path)
