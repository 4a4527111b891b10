"""Seeds from everywhere together, in one order, with where they came from."""

from __future__ import annotations

import pytest

from fetch.hostile_server import answer
from opilio.errors import BadInput, OpilioError
from opilio.seeds import Priority, Seed, gather_seeds
from opilio.seeds.search import MAX_QUERY, make_engines, shortened
from opilio.topic.file import Sources
from seeds import engine_pages
from seeds.loopback_web import Web

A, B, C, D = (f"http://{name}.test/" for name in "abcd")
BRAVE = "https://search.brave.com/search"
DUCK = "https://html.duckduckgo.com/html/"
MOJEEK = "https://www.mojeek.com/search"
SEARX = "https://searx.test/search"


async def gather(web: Web, keywords: str = "bees", **table: object) -> list[Seed]:
    return await gather_seeds(
        Sources(**table),
        keywords,
        web.egress.get,
        web.visits,
        pause=0,
    )


async def test_given_urls_alone_ask_nobody(web: Web):
    seeds = await gather(web, urls=("http://A.test:80", A, "http://b.test"))
    assert seeds == [
        Seed(A, Priority.HIGH, 1.0, ("given",)),
        Seed(B, Priority.HIGH, 1.0, ("given",)),
    ]
    assert web.asked == []


async def test_engines_vouch_for_each_others_results(web: Web):
    web.pages[BRAVE] = engine_pages.brave([A, B, "http://c.test:80/#x"])
    web.pages[MOJEEK] = engine_pages.mojeek([C, D])
    seeds = await gather(web, search=("ddgs:brave", "ddgs:mojeek"))
    assert [(seed.url, seed.priority, seed.sources) for seed in seeds] == [
        (C, Priority.HIGH, ("brave", "mojeek")),
        (A, Priority.LOW, ("brave",)),
        (B, Priority.LOW, ("brave",)),
        (D, Priority.LOW, ("mojeek",)),
    ]


async def test_one_instance_of_searxng_is_several_engines(web: Web):
    web.pages[SEARX] = engine_pages.searxng([(A, ["google"]), (B, ["google", "bing"])])
    seeds = await gather(web, search=("searxng:https://searx.test",))
    assert [(seed.url, seed.priority) for seed in seeds] == [
        (B, Priority.HIGH),
        (A, Priority.LOW),
    ]
    common = await gather(web, search=("searxng:https://searx.test",), common=True)
    assert [seed.url for seed in common] == [B]


async def test_the_table_has_its_own_query_and_limit(web: Web):
    web.pages[BRAVE] = engine_pages.brave([A, B, C])
    seeds = await gather(web, search=("ddgs:brave",), query="honey  bees\n", limit=2)
    assert [seed.url for seed in seeds] == [A, B]
    assert web.asked[0].query["q"] == ["honey bees"]


async def test_an_engine_that_fails_is_told_and_the_others_count(web: Web):
    web.pages[BRAVE] = answer(b"", status=b"429 Too Many Requests")
    web.pages[MOJEEK] = engine_pages.mojeek([A])
    web.pages[DUCK] = engine_pages.duckduckgo([])
    names = ("ddgs:brave", "ddgs:mojeek", "ddgs:duckduckgo")
    assert [seed.url for seed in await gather(web, search=names)] == [A]
    assert web.told == [
        "no seeds from brave: it takes us for a robot (status 429); try again later",
        "no seeds from duckduckgo: it found nothing",
    ]


async def test_when_no_engine_answers_the_error_names_each_and_says_what_to_do(
    web: Web,
):
    web.pages[BRAVE] = answer(b"", status=b"500 Oops")
    web.pages[SEARX] = answer(b"", status=b"403 Forbidden")
    web.private.add("www.mojeek.com")
    names = ("ddgs:brave", "ddgs:mojeek", "searxng:https://searx.test")
    with pytest.raises(OpilioError) as caught:
        await gather(web, search=names, urls=(A,))
    told = str(caught.value)
    assert "no search engine found anything for 'bees'" in told
    assert "brave: it answered with status 500" in told
    assert "mojeek: 10.0.0.1 is not a public address" in told
    assert "searxng:https://searx.test: it refuses JSON" in told
    for remedy in ("network", "--seed-url", "searxng:https://", "seeds.query"):
        assert remedy in told


async def test_the_bare_name_asks_the_usual_engines_at_once(web: Web):
    web.pages[BRAVE] = engine_pages.brave([A])
    await gather(web, search=("ddgs",))
    asked = {asked.headers["host"] for asked in web.asked}
    assert {"search.brave.com", "html.duckduckgo.com", "www.mojeek.com"} <= asked


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"search": ("google",)}, "'google' is not a search engine; write ddgs"),
        ({"search": ("ddgs:brawe",)}, "did you mean 'brave'"),
        ({"search": ("searxng:nowhere",)}, "is not an instance"),
        ({"search": ("ddgs:brave",), "limit": 500}, "from 1 to 499"),
        ({"search": ("ddgs:brave",), "query": " "}, "no query for"),
        ({"urls": ("nonsense",)}, "is not a URL"),
        ({"sitemaps": True}, "add some to seeds.urls"),
        ({"feeds": True}, "add some to seeds.urls"),
    ],
)
async def test_a_table_that_cannot_be_used_says_why(web: Web, table: dict, told: str):
    with pytest.raises(BadInput, match=told):
        await gather(web, **table)
    assert web.asked == []


async def test_what_sites_list_comes_behind_all_else_the_best_of_each_first(web: Web):
    web.pages[BRAVE] = engine_pages.brave([C, f"{A}2"])
    web.pages[f"{A}sitemap.xml"] = f"{A}1\n{A}2\n{A}3"
    web.pages[f"{B}sitemap.xml"] = f"{B}1\n{B}\n"
    web.pages[A] = (
        f"<rss><item><link>{A}1</link></item><item><link>{D}</link></item></rss>"
    )
    web.pages[B] = "<p>no feed"
    seeds = await gather(
        web, urls=(A, B), search=("ddgs:brave",), sitemaps=True, feeds=True
    )
    assert [(seed.url, seed.sources) for seed in seeds] == [
        (A, ("given",)),
        (B, ("given", "sitemap")),
        (C, ("brave",)),
        (f"{A}2", ("brave", "sitemap")),
        (f"{A}1", ("feed", "sitemap")),
        (f"{B}1", ("sitemap",)),
        (D, ("feed",)),
        (f"{A}3", ("sitemap",)),
    ]
    promises = [seed.promise for seed in seeds]
    assert promises[:2] == [1.0, 1.0]
    assert promises == sorted(promises, reverse=True)
    assert len(set(promises[1:])) == len(promises) - 1
    assert all(seed.priority is Priority.LOW for seed in seeds[2:])


async def test_a_site_is_asked_for_its_sitemaps_once(web: Web):
    await gather(web, urls=(f"{A}x", f"{A}y"), sitemaps=True)
    assert web.urls().count(f"{A}sitemap.xml") == 1
    assert web.urls().count(f"{A}robots.txt") == 1


def test_long_questions_are_cut_at_a_word():
    question = shortened("word " * 200)
    assert len(question) <= MAX_QUERY
    assert set(question.split()) == {"word"}
    assert len(shortened("x" * 1000)) == MAX_QUERY


def test_an_engine_that_is_named_twice_is_asked_once(web: Web):
    names = ["ddgs:brave", "ddgs", "ddgs:brave", "searxng:http://a", "searxng:http://a"]
    engines = [engine.name for engine in make_engines(names, web.egress.get)]
    assert len(engines) == len(set(engines))
    assert engines[0] == "brave"
