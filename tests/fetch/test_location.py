"""Where redirects lead whose Location has bytes beyond ASCII."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetch.hostile_server import Connection, serve
from fetch.local_egress import LOOPBACK, opened
from opilio import Crawl, Topic
from opilio.fetch.http_head import read_head
from opilio.fetch.robots import target
from opilio.lab.synthetic.small import SmallWeb, redirect
from opilio.records import Response
from opilio.seeds.service_requests import redirect_target
from opilio.storage.warc_reading import read_response
from opilio.text import urls
from sites.evolving_sites import age, evolve, hive

PAGE = "http://a.test/from"
WHERE = [
    ("/ö-ziel".encode(), "http://a.test/%C3%B6-ziel"),
    ("/Ü?q=à".encode(), "http://a.test/%C3%9C?q=%C3%A0"),  # has bytes 9C and A0
    ("//bücher.test/à".encode(), "http://xn--bcher-kva.test/%C3%A0"),
    ("/ö-ziel".encode("latin-1"), "http://a.test/%F6-ziel"),
    (b"/%C3%B6-ziel", "http://a.test/%C3%B6-ziel"),
]


def moved(location: bytes) -> Response:
    head = read_head([b"HTTP/1.1 302 Found\r\n", b"Location: " + location + b"\r\n"])
    return Response(PAGE, head.status, head.headers, b"", 0.0)


@pytest.mark.parametrize(("location", "url"), WHERE)
def test_a_redirect_leads_everywhere_to_what_browsers_ask_for(
    location: bytes, url: str
) -> None:
    response = moved(location)
    assert urls.join(PAGE, response.location) == url
    assert target(response) == url  # of a robots.txt
    assert redirect_target(response) == url  # of a search engine


@given(st.binary().filter(lambda raw: not set(raw) & {*range(32), 127}))
def test_header_values_keep_every_byte_but_blanks_around(raw: bytes) -> None:
    [(_, value)] = moved(raw).headers
    assert value.encode("latin-1") == raw.strip(b" ")


def test_of_several_targets_the_first_counts() -> None:
    lines = [("location", ""), ("location", "/a"), ("location", "/b")]
    assert Response(PAGE, 302, lines, b"", 0.0).location == "/a"
    assert Response(PAGE, 302, (), b"", 0.0).location == ""


async def answer_moved(connection: Connection) -> None:
    """/ leads to /Über, which is there; other pages are not."""
    body = b"<title>Honey</title><p>The honey of bees.</p>"
    lines = b"200 OK\r\nContent-Type: text/html"
    if connection.path == "/":
        lines, body = "302 Found\r\nLocation: /Über".encode(), b""
    elif connection.path != "/%C3%9Cber":
        lines, body = b"404 Not Found", b""
    length = b"\r\nContent-Length: %d\r\n\r\n" % len(body)
    await connection.send(b"HTTP/1.1 " + lines + length + body)


async def test_a_crawl_goes_where_it_is_sent_and_keeps_the_bytes(tmp_path: Path):
    async with serve(answer_moved) as server:
        topic = Topic(name="bees", keywords=("honey",), seeds=(server.url("/"),))
        crawl = Crawl(
            tmp_path / "crawl",
            topic,
            delay=0.0,
            ip_delay=0.0,
            allow_networks=LOOPBACK,
            min_free=0,
        )
        await crawl.arun()
        asked = [request.split(b" ")[1] for request in server.requests]
    assert asked == [b"/robots.txt", b"/", b"/%C3%9Cber"]
    db = sqlite3.connect(tmp_path / "crawl" / "crawl.db")
    query = "SELECT warc, warc_offset, warc_length FROM page WHERE status = 302"
    [(name, offset, length)] = db.execute(query).fetchall()
    db.close()
    kept = read_response(tmp_path / "crawl" / "warc" / name, offset, length)
    assert kept.header("location").encode("latin-1") == "/Über".encode()
    assert kept.location == "/%C3%9Cber"


async def test_an_answer_of_the_network_keeps_the_bytes_of_its_headers():
    async with serve(answer_moved) as server, opened() as egress:
        response = await egress.get(server.url("/"))
    assert response.header("location").encode("latin-1") == "/Über".encode()


async def test_a_page_that_moved_is_found_where_it_is_now(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    web.answers["http://seed.test/%C3%9Cber"] = web.answers["http://seed.test/b"]
    web.answers["http://seed.test/b"] = redirect("/Über".encode().decode("latin-1"))
    age(life, 60)
    assert (await evolve(life))["refresh"]["pages"] == 1
    assert life.states()["http://seed.test/b"] == ("copy", "redirect")
    assert "http://seed.test/%C3%9Cber" in life.states()
