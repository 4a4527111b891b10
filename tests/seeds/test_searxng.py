"""SearXNG instances: their JSON, their refusals, and odd answers."""

from __future__ import annotations

import json

import pytest

from fetch.hostile_server import answer
from opilio.errors import BadInput, Unusable
from opilio.seeds.searxng import MAX_ENGINES, MAX_PAGES, SearXNG, search_address
from seeds import engine_pages
from seeds.loopback_web import Asked, Web, moved

SEARCH = "https://searx.test/search"


async def search(web: Web, limit: int = 50, address: str = "https://searx.test/"):
    instance = SearXNG(web.egress.get, address, pause=0)
    return await instance.search("कंप्यूटर & science", limit, "hi")


async def test_each_engine_behind_the_instance_is_one_of_its_own(web: Web):
    web.pages[SEARCH] = engine_pages.searxng(
        [
            ("http://a.test/", ["google", "brave"]),
            ("http://b.test:80/x#y", ["brave"]),
        ]
    )
    found = await search(web, limit=2)
    assert found == {
        "brave": ["http://a.test/", "http://b.test/x"],
        "google": ["http://a.test/"],
    }
    assert web.asked[0].query == {
        "q": ["कंप्यूटर & science"],
        "format": ["json"],
        "pageno": ["1"],
        "language": ["hi"],
    }


async def test_pages_are_asked_for_until_there_are_enough(web: Web):
    def reply(asked: Asked) -> bytes:
        page = int(asked.query["pageno"][0])
        results = [(f"http://r{page}-{n}.test/", ["google"]) for n in range(10)]
        return answer(engine_pages.searxng(results).encode())

    web.pages[SEARCH] = reply
    assert len((await search(web, limit=25))["google"]) == 30
    assert len(web.asked) == 3
    await search(web, limit=499)
    assert len(web.asked) == 3 + MAX_PAGES


async def test_paging_ends_when_nothing_new_comes_or_a_later_page_fails(web: Web):
    web.pages[SEARCH] = engine_pages.searxng([("http://a.test/", ["google"])])
    assert await search(web) == {"google": ["http://a.test/"]}
    assert len(web.asked) == 2

    def reply(asked: Asked) -> bytes:
        if asked.query["pageno"] == ["1"]:
            return answer(engine_pages.searxng([("http://a.test/", ["g"])]).encode())
        return answer(b"", status=b"429 Too Many Requests")

    web.pages[SEARCH] = reply
    assert await search(web) == {"g": ["http://a.test/"]}


async def test_an_instance_without_json_says_how_to_switch_it_on(web: Web):
    web.pages[SEARCH] = answer(b"Forbidden", status=b"403 Forbidden")
    with pytest.raises(Unusable, match=r"add json to search\.formats in its settings"):
        await search(web)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (answer(b"", status=b"500 Oops"), "status 500"),
        (answer(b"<html>hello</html>"), "no JSON"),
        (answer(b"\xff\xfe"), "no JSON"),
        (answer(b"[" * 100_000), "no JSON"),
        (answer(b"[]"), "no results"),
        (answer(b'{"results": 7}'), "no results"),
    ],
)
async def test_another_answer_says_what_is_wrong(web: Web, reply: bytes, told: str):
    web.pages[SEARCH] = reply
    with pytest.raises(Unusable, match=told):
        await search(web)


async def test_odd_results_are_left_out(web: Web):
    odd = [
        None, 7, "http://string.test/", [], {}, {"url": None}, {"url": 7},
        {"url": ["http://list.test/"]}, {"url": "javascript:alert(1)"},
        {"url": "/relative"}, {"url": "x" * 100_000}, {"url": "http://"},
        {"url": "http://plain.test/"},
        {"url": "http://named.test/", "engines": "google"},
        {"url": "http://mixed.test/", "engines": [None, 7, "", "a\nb", "brave"]},
        {"url": "http://long.test/", "engine": "e" * 100_000},
    ]  # fmt: skip
    web.pages[SEARCH] = json.dumps({"results": odd})
    found = await search(web, limit=4)
    assert found == {
        "searxng": ["http://plain.test/", "http://named.test/"],
        "brave": ["http://mixed.test/"],
        "e" * 40: ["http://long.test/"],
    }


async def test_an_instance_cannot_make_up_engines_without_end(web: Web):
    results = [(f"http://{n}.test/", [f"e{n}"]) for n in range(1000)]
    web.pages[SEARCH] = engine_pages.searxng(results)
    assert len(await search(web, limit=5)) == MAX_ENGINES


async def test_a_redirect_into_a_private_network_is_refused(web: Web):
    web.private.add("router.test")
    web.pages[SEARCH] = moved("http://router.test/")
    with pytest.raises(Unusable, match="not a public address"):
        await search(web)


async def test_an_instance_in_a_private_network_must_be_allowed_like_any_other(
    web: Web,
):
    web.private.add("searx.lan")
    with pytest.raises(Unusable, match="--allow-network"):
        await search(web, address="http://searx.lan")


def test_addresses_are_read_as_people_write_them():
    assert search_address("https://searx.test") == SEARCH
    assert search_address("https://searx.test/search") == SEARCH
    assert search_address("http://h.test:8888/sx/") == "http://h.test:8888/sx/search"
    for wrong in ("", "searx.test", "ftp://searx.test", "https://searx.test/?q=1"):
        with pytest.raises(BadInput, match="is not an instance; write it like"):
            search_address(wrong)
