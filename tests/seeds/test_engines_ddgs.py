"""ddgs' engines on our own way out, against a web that answers as they do."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import primp
import pytest

from fetch.hostile_server import answer
from opilio.errors import BadInput, Unusable
from opilio.seeds import engines_ddgs
from opilio.seeds.engines_ddgs import (
    DdgsEngine,
    known_engines,
    make_engine,
    result_url,
    usual_engines,
)
from opilio.seeds.search import make_engines
from seeds import engine_pages
from seeds.loopback_web import Asked, Web, moved

BRAVE = "https://search.brave.com/search"
DUCK = "https://html.duckduckgo.com/html/"
MOJEEK = "https://www.mojeek.com/search"
STARTPAGE = "https://www.startpage.com/sp/search"
URLS = [
    "http://a.test/",
    "https://b.test/x?y=1&z=%26",
    "http://c.test/C%2B%2B%3F",
]


@pytest.fixture(autouse=True)
def _no_other_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """ddgs' own client must never be made, let alone used."""

    def forbidden(*_args: object, **_options: object) -> None:
        raise AssertionError("ddgs made a client of its own")

    monkeypatch.setattr(primp, "Client", forbidden)


def by_page(
    write: Callable[[list[str]], str], pages: list[list[str]], key: str, step: int
) -> Callable[[Asked], bytes]:
    """Serve result pages by the number that the engine was asked for."""

    def reply(asked: Asked) -> bytes:
        sent = asked.form if asked.method == "POST" else asked.query
        start = int(sent.get(key, ["0"])[0])
        number = (start + step - 1) // step
        return answer(write(pages[number] if number < len(pages) else []).encode())

    return reply


async def search(web: Web, name: str, limit: int = 50, language: str = "en"):
    engine = DdgsEngine(web.egress.get, name, pause=0)
    return (await engine.search("lok sabha", limit, language))[name]


async def test_an_engine_is_asked_page_by_page_until_there_are_enough(web: Web):
    pages = [[f"http://r{n}.test/" for n in range(i, i + 10)] for i in (0, 10, 20)]
    web.pages[BRAVE] = by_page(engine_pages.brave, pages, "offset", 1)
    found = await search(web, "brave", limit=15)
    assert found == pages[0] + pages[1]
    assert [asked.query.get("offset") for asked in web.asked] == [None, ["1"]]
    assert all(asked.query["q"] == ["lok sabha"] for asked in web.asked)


async def test_a_page_with_nothing_new_ends_the_paging_and_does_not_count(web: Web):
    web.pages[BRAVE] = engine_pages.brave(URLS)
    assert await search(web, "brave") == URLS
    assert len(web.asked) == 2


async def test_what_an_engine_repeats_among_new_results_comes_twice(web: Web):
    pages = [["http://a.test/", "http://b.test/"], ["http://b.test/", "http://c.test/"]]
    web.pages[BRAVE] = by_page(engine_pages.brave, pages, "offset", 1)
    assert await search(web, "brave") == pages[0] + pages[1]


async def test_we_ask_under_our_own_name_with_the_cookies_of_that_engine(web: Web):
    web.pages[MOJEEK] = engine_pages.mojeek(URLS)
    assert (await search(web, "mojeek", language="hi"))[:3] == URLS
    headers = web.asked[0].headers
    assert headers["user-agent"] == "opilio-test/1"
    assert headers["cookie"] == "arc=in; lb=hi"


async def test_an_engine_that_wants_a_form_is_sent_one(web: Web):
    web.pages[DUCK] = engine_pages.duckduckgo(URLS)
    assert (await search(web, "duckduckgo"))[:3] == URLS
    assert web.asked[0].method == "POST"
    assert web.asked[0].form["q"] == ["lok sabha"]
    assert web.asked[0].form["l"] == ["us-en"]


async def test_an_engine_that_first_needs_a_token_gets_it_by_the_same_way(web: Web):
    web.pages["https://www.startpage.com/"] = engine_pages.startpage([])
    web.pages[STARTPAGE] = engine_pages.startpage(URLS)
    assert (await search(web, "startpage"))[:3] == URLS
    assert [asked.method for asked in web.asked[:2]] == ["GET", "POST"]
    assert web.asked[1].form["sc"] == ["token-of-the-day"]
    assert web.asked[1].headers["referer"] == "https://www.startpage.com/"


async def test_links_are_unwrapped_once(web: Web):
    def reply(asked: Asked) -> bytes:
        assert asked.url.startswith("https://search.yahoo.com/search;_ylt=")
        web.pages[asked.url.partition("?")[0]] = b""
        return answer(engine_pages.yahoo(URLS).encode())

    class AnyPath(dict):
        def get(self, url, default=None):
            return reply if "yahoo" in url else default

    web.pages = AnyPath()
    assert (await search(web, "yahoo"))[:3] == URLS


async def test_an_encyclopaedia_gives_its_article(web: Web):
    article = "https://hi.wikipedia.org/wiki/Lok_Sabha"
    extract = json.dumps({"query": {"pages": {"1": {"extract": "Lower house."}}}})

    def reply(asked: Asked) -> bytes:
        is_search = asked.query["action"] == ["opensearch"]
        body = engine_pages.wikipedia([article]) if is_search else extract
        return answer(body.encode(), content_type=b"application/json")

    web.pages["https://hi.wikipedia.org/w/api.php"] = reply
    assert set(await search(web, "wikipedia", language="hi")) == {article}


async def test_a_redirect_is_followed_but_not_into_a_private_network(web: Web):
    web.pages[BRAVE] = moved("https://searx.test/results")
    web.pages["https://searx.test/results"] = engine_pages.brave(URLS)
    assert (await search(web, "brave"))[:3] == URLS
    assert "cookie" not in web.asked[1].headers
    web.private.add("router.test")
    web.pages[BRAVE] = moved("http://router.test/admin")
    with pytest.raises(Unusable, match=r"10\.0\.0\.1 is not a public address"):
        await search(web, "brave")


async def test_endless_redirects_end(web: Web):
    web.pages[BRAVE] = moved(BRAVE)
    with pytest.raises(Unusable, match="redirects more than 3 times"):
        await search(web, "brave")
    assert len(web.asked) == 4


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (b"202 Accepted", "takes us for a robot"),
        (b"429 Too Many Requests", "takes us for a robot"),
        (b"500 Oops", "status 500"),
    ],
)
async def test_a_refusal_says_its_status(web: Web, status: bytes, told: str):
    web.pages[BRAVE] = answer(engine_pages.brave(URLS).encode(), status=status)
    with pytest.raises(Unusable, match=told):
        await search(web, "brave")


async def test_later_pages_may_fail(web: Web):
    def reply(asked: Asked) -> bytes:
        if "offset" in asked.query:
            return answer(b"", status=b"429 Too Many Requests")
        return answer(engine_pages.brave(URLS).encode())

    web.pages[BRAVE] = reply
    assert await search(web, "brave") == URLS


@pytest.mark.parametrize(
    "body",
    [b"", b"\0" * 1000, b"<" * 100_000, b"<div>" * 100_000, "ÿ".encode("utf-16")],
)
async def test_odd_answers_give_nothing_or_an_error_of_ours(web: Web, body: bytes):
    web.pages[MOJEEK] = answer(body)
    try:
        assert await search(web, "mojeek") == []
    except Unusable as error:
        assert error.reason == "bad_answer"


@pytest.mark.parametrize(
    "body", ["[", "[]", "{}", "null", '["q",[1],[],[7]]', "[" * 99999]
)
async def test_json_of_another_shape_is_an_error_of_ours(web: Web, body: str):
    web.pages["https://en.wikipedia.org/w/api.php"] = body
    with pytest.raises(Unusable) as caught:
        await search(web, "wikipedia")
    assert caught.value.reason == "bad_answer"


async def test_results_that_cannot_be_visited_are_left_out(web: Web):
    odd = [
        "javascript:alert(1)",
        "ftp://f.test/",
        "/relative",
        "http://",
        "data:,x",
        "",
    ]
    web.pages[MOJEEK] = engine_pages.mojeek([*odd, "http://good.test/#top"])
    assert set(await search(web, "mojeek")) == {"http://good.test/"}


def test_a_result_without_a_string_has_no_url():
    for href in (None, 7, ["http://a.test/"], b"http://a.test/"):
        assert result_url(type("Odd", (), {"href": href})()) == ""


async def test_a_silent_engine_is_given_up_and_its_thread_ends(
    web: Web, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(engines_ddgs, "PATIENCE", 0.2)

    async def never(url: str, **_options: object):
        await asyncio.sleep(60)

    before = set(threading.enumerate())
    with pytest.raises(Unusable, match="no answer within"):
        await DdgsEngine(never, "startpage", pause=0).search("q", 10, "en")
    async with asyncio.timeout(20):
        while set(threading.enumerate()) - before:
            await asyncio.sleep(0.01)


def test_every_engine_of_ddgs_can_be_made_on_our_client():
    for kind in known_engines().values():
        client = engines_ddgs.Client(None, None)
        engine = make_engine(kind, client)
        assert engine.http_client is client
        assert kind.search_method in ("GET", "POST")


def test_the_usual_engines_are_general_and_have_an_index_of_their_own():
    names = usual_engines()
    assert len(names) >= 3
    assert not {"wikipedia", "grokipedia"} & set(names)
    indexes = [known_engines()[name].provider for name in names]
    assert len(set(indexes)) == len(indexes)


def test_the_docs_name_every_engine():
    text = (Path(__file__).parents[2] / "docs" / "howto/seeds.md").read_text()
    assert f"one for each index: {', '.join(usual_engines())} |" in text
    assert [name for name in known_engines() if name not in text] == []


def test_without_ddgs_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ddgs.engines", None)
    with pytest.raises(BadInput, match=r'pip install "opilio\[search\]"'):
        make_engines(["ddgs"], None)
