"""SearXNG answers that are damaged in one place, or not whole."""

from __future__ import annotations

import pytest

from fetch.hostile_server import answer
from opilio.errors import Unusable
from opilio.records import Response
from opilio.seeds.searxng import SearXNG, read_results
from opilio.seeds.service_requests import MAX_BYTES
from seeds.loopback_web import Web

SEARCH = "https://searx.test/search"
GOOD = b'{"url": "http://good.test/", "engine": "g"}'


async def search(web: Web, body: bytes):
    web.pages[SEARCH] = answer(body)
    instance = SearXNG(web.egress.get, "https://searx.test/", pause=0)
    return await instance.search("bees", 1, "en")


@pytest.mark.parametrize(
    "odd",
    [
        rb'{"url": "http://\ud800.test/", "engine": "g"}',
        rb'{"url": "http://odd.test/\udc00", "engine": "\ud800"}',
        b'{"url": "http://\xff\xfe.test/", "engine": "g"}',
        rb'{"url": "\ud800"}',
    ],
)
async def test_a_result_with_half_a_character_costs_no_other(web: Web, odd: bytes):
    found = await search(web, b'{"results": [' + odd + b", " + GOOD + b"]}")
    assert found["g"] == ["http://good.test/"]


@pytest.mark.parametrize("odd", [rb'"\ud800"', b'"\xff"', b"9" * 10_000])
async def test_what_is_odd_beside_the_url_does_not_matter(web: Web, odd: bytes):
    result = GOOD[:-1] + b', "title": ' + odd + b"}"
    found = await search(web, b'{"results": [' + result + b"]}")
    assert found == {"g": ["http://good.test/"]}


async def test_an_answer_beyond_the_limit_names_the_limit(web: Web):
    long = b'{"results": [' + GOOD + b"], " + b" " * MAX_BYTES + b"}"
    with pytest.raises(Unusable, match=f"longer than the {MAX_BYTES:,} bytes"):
        await search(web, long)


def test_an_answer_that_breaks_off_says_so():
    half = Response(SEARCH, 200, (), b'{"results": [', 0.0, truncated="disconnect")
    with pytest.raises(Unusable, match=r"cut short \(disconnect\)"):
        list(read_results(half))
