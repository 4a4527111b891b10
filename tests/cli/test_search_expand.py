"""`opilio search --expand` over loopback HTTP, in replays, and when it is killed."""

import asyncio
import json
import random

from crawling import SETTINGS, TOPIC, Crawled, opilio, start_opilio
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

BEES = "The bee makes honey in the hive. " * 20
ONE = f"{SETTINGS}[crawl]\nin_flight = 1\nstrategy = 'breadth-first'\n"
LINKS = {f"/dull-{n}": f"news {n}" for n in range(20)}
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees", BEES, LINKS | {"/d": "Drones", "http://other.test/m": "moved drone"}
        ),
        "http://seed.test/d": page(
            "A drone", f"{BEES} drone " * 3, {"/e": "drone eggs", "/f": "further"}
        ),
        "http://seed.test/e": page("Eggs", f"{BEES} drone eggs one"),
        "http://seed.test/f": page("Further", f"{BEES} something else"),
        "http://other.test/m": redirect("http://other.test/n"),
        "http://other.test/n": page("Moved", f"{BEES} all about a drone elsewhere"),
    }
    | {
        f"http://seed.test/dull-{n}": page(f"Dull {n}", f"{BEES} dull{n} " * 2)
        for n in range(20)
    }
)


class WithEngine(SmallWeb):
    """The web with a SearXNG in it that knows one page on drones, one far away."""

    def __init__(self) -> None:
        super().__init__(
            WEB.answers
            | {
                "http://far.test/": page("Far drones", f"{BEES} drone far away"),
                "http://far.test/other": page("Far bees", f"{BEES} nothing else"),
            }
        )

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if not url.startswith("http://engine.test/search?"):
            return super().respond(url, attempt)
        asked = "" if "q=drone&" in url else "other"
        results = [{"url": f"http://far.test/{asked}", "engines": ["a"]}]
        body = json.dumps({"results": results}).encode()
        return SyntheticAnswer(200, (("content-type", "application/json"),), body)


async def test_search_engines_of_the_topic_are_asked_first(crawled):
    topic = f'{TOPIC}[seeds]\nsearch = ["searxng:http://engine.test"]\n'.replace(
        'seeds = ["http://seed.test/"]', ""
    )
    topic += 'urls = ["http://seed.test/"]\n'
    life = await crawled(WithEngine(), topic_text=topic, settings_text=ONE)
    assert (await life.crawl("--max-pages", 2)).code == 0
    asked = len(life.server.requests)
    ended = await search(life, "drone", "--expand", 2, "--json")
    assert ended.code == 0, ended.err
    requests = [one.url for one in life.server.requests[asked:]]
    assert requests[0].startswith("http://engine.test/search?q=drone&")
    assert "http://far.test/" in requests
    assert {"url": "http://far.test/", "new": True}.items() <= next(
        hit.items() for hit in ended.json()["hits"] if "far" in hit["url"]
    )


class WithManyResults(WithEngine):
    """The same, but the engine knows more pages than are asked for."""

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if "far.test/drone-" in url:
            body = page(f"Far {url[-1]}", f"{BEES} drone number {url[-1]} ".strip())
            return SyntheticAnswer(200, (HTML,), body.encode())
        if not url.startswith("http://engine.test/search?"):
            return super().respond(url, attempt)
        urls = [f"http://far.test/drone-{n}" for n in range(9)]
        results = [{"url": one, "engines": ["a"]} for one in urls]
        body = json.dumps({"results": results}).encode()
        return SyntheticAnswer(200, (("content-type", "application/json"),), body)


async def test_engines_get_at_most_half_of_the_pages(crawled):
    topic = TOPIC.replace('seeds = ["http://seed.test/"]', "")
    topic += '[seeds]\nsearch = ["searxng:http://engine.test"]\n'
    topic += 'urls = ["http://seed.test/"]\nlimit = 1\n'
    life = await crawled(WithManyResults(), topic_text=topic, settings_text=ONE)
    await life.crawl("--max-pages", 2)
    asked = len(life.server.requests)
    ended = await search(life, "drone", "--expand", 4, "--json")
    assert ended.code == 0, ended.err
    requests = [one.url for one in life.server.requests[asked:]]
    far = [url for url in requests if "far.test/drone-" in url]
    assert 0 < len(far) <= 2
    assert any(url.startswith("http://seed.test/") for url in requests)


async def search(life: Crawled, *options: object):
    proxy = ("--proxy", life.server.proxy_url) if life.server else ()
    return await opilio("search", life.folder, *proxy, *options)


async def test_pages_for_a_query_are_fetched_marked_and_nothing_else_is(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--max-pages", 2)
    # The home page has the word in its links alone, not in its main text.
    assert (await search(life, "drone", "--json")).json()["total"] == 0
    asked = len(life.server.requests)
    ended = await search(life, "drone", "--expand", 9, "--json")
    assert ended.code == 0, ended.err
    told = ended.json()
    fetched = {one.url for one in life.server.requests[asked:]} - {
        "http://other.test/robots.txt"
    }
    # what names it, where that redirects to, and all that stands on a page about it
    assert fetched == {
        "http://seed.test/d",
        "http://seed.test/e",
        "http://seed.test/f",
        "http://other.test/m",
        "http://other.test/n",
    }
    assert {hit["url"]: hit["new"] for hit in told["hits"]} == {
        "http://seed.test/d": True,
        "http://seed.test/e": True,
        "http://other.test/n": True,
    }
    more = told["expansion"]
    assert (more["pages"], more["kept"], more["ended"]) == (4, 4, "links")
    assert more["terms"] == {"drone": 1.0}
    again = (await search(life, "drone", "--expand", 9, "--json")).json()
    assert again["expansion"]["pages"] == 0
    assert [hit["new"] for hit in again["hits"]] == [False] * 3
    # the crawl continues with what it had been going to do, each page once
    assert (await life.crawl("--max-pages", 0)).code == 0
    assert {state for state, _ in life.states().values()} == {"kept", "copy"}
    urls = [one.url for one in life.server.requests]
    assert len(urls) == len(set(urls))


async def test_a_person_is_told_what_came_of_it(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--max-pages", 1)
    ended = await search(life, "drone", "--expand", 1)
    assert "new: A drone" in ended.out
    assert "1 page fetched: 1 relevant; 1 of them among the results above" in ended.out
    ended = await search(life, "zebra", "--expand", 5)
    assert "0 pages fetched" in ended.out and "no other waiting link" in ended.out


async def test_the_figures_add_up(crawled):
    text = f"{BEES} drone"
    odd = {
        "http://seed.test/": page(
            "Bees",
            BEES,
            {f"/{name}": f"a drone {name}" for name in ("a", "b", "c", "d", "e", "f")},
        ),
        "http://seed.test/a": page("A drone", text),
        "http://seed.test/b": page("A drone", text),  # a copy
        "http://seed.test/c": page("Drone ships", "A ship sails the sea. " * 30),
        "http://seed.test/d": SyntheticAnswer(
            200,
            (HTML, ("x-robots-tag", "noindex")),
            page("Hidden", f"{text} again, at length").encode(),
        ),
        "http://seed.test/e": SyntheticAnswer(
            200, (("content-type", "text/html"),), b"\x00" * 3000
        ),
    }
    life = await crawled(SmallWeb(odd), settings_text=f"{ONE}judge = 'cosine'\n")
    await life.crawl("--max-pages", 1)
    told = (await search(life, "drone", "--expand", 9, "--json")).json()["expansion"]
    kinds = ("kept", "irrelevant", "copies", "unread", "noindex")
    assert sum(told[kind] for kind in kinds) == told["pages"] == 4
    assert (told["kept"], told["copies"], told["noindex"]) == (1, 1, 1)
    assert (told["irrelevant"], told["failed"]) == (1, 2)


async def test_a_replayed_crawl_is_expanded_from_its_archive(crawled):
    life = await crawled(WEB)
    await life.crawl()
    home = life.home / "replayed"
    home.mkdir()
    replayed = Crawled(home, settings_text=ONE)
    warc = next((life.folder / "warc").iterdir())
    assert (await replayed.crawl("--replay", warc, "--max-pages", 2)).code == 0
    told = (await search(replayed, "drone", "--expand", 3, "--json")).json()
    assert told["expansion"]["pages"] == 3
    assert any(hit["new"] for hit in told["hits"])
    warc.rename(warc.with_suffix(".away"))
    ended = await search(replayed, "drone", "--expand", 3)
    assert ended.code == 2 and "does not exist" in ended.err
    assert (await search(replayed, "drone")).code == 0


async def test_a_running_crawl_that_gets_no_page_in_time_keeps_nobody_waiting(crawled):
    late = SyntheticAnswer(200, delay=100.0)
    links = {url: late for url in WEB.answers if url != "http://seed.test/"}
    life = await crawled(SmallWeb(WEB.answers | links), settings_text=ONE)
    process = await life.start()
    try:
        await asyncio.wait_for(life.until_committed(1), 60)
        options = ("--expand", 3, "--expand-seconds", 2)
        ended = await opilio("search", life.folder, "news", *options)
        assert ended.code == 0, ended.err
        assert "0 pages fetched; stopped after --expand-seconds" in ended.out
        assert (await search(life, "honey", "--json")).json()["total"]
        refused = await opilio("evolve", life.folder)
        assert refused.code == 2
        assert f"stop it first: opilio tell {life.folder} stop" in refused.err
    finally:
        process.kill()
        await process.wait()


async def test_time_and_ctrl_c_end_it_and_show_what_there_is(crawled):
    slow = ONE.replace("delay = 0.0", "delay = 0.4")  # 8 s for all 20 links
    life = await crawled(WEB, settings_text=slow)
    await life.crawl("--max-pages", 1)
    options = ("--expand", 20, "--json")
    ended = await search(life, "news", *options, "--expand-seconds", 3)
    told = ended.json()["expansion"]
    assert ended.code == 0 and told["ended"] == "time" and 0 < told["pages"] < 10
    enough = len(life.server.requests) + 2
    process = await start_opilio(
        *("search", life.folder, "news", *options),
        *("--proxy", life.server.proxy_url),
        stderr=None,
    )
    async with asyncio.timeout(60):
        while len(life.server.requests) < enough:
            await asyncio.sleep(0.01)
        process.terminate()
        out, _ = await process.communicate()
    assert process.returncode == 130
    assert b'"ended":"interrupted"' in out


async def test_after_a_kill_the_crawl_goes_on_and_loses_nothing(crawled):
    rng = random.Random(2)
    slow = ONE.replace("delay = 0.0", "delay = 0.03")
    life = await crawled(WEB, settings_text=slow)
    await life.crawl("--max-pages", 1)
    for _ in range(2):
        enough = len(life.server.requests) + rng.randint(2, 5)
        process = await start_opilio(
            *("search", life.folder, "news", "--expand", 20),
            *("--proxy", life.server.proxy_url),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(60):
            while len(life.server.requests) < enough:
                await asyncio.sleep(0.002)
        process.kill()  # -9
        await process.wait()
    assert (await life.crawl("--max-pages", 0)).code == 0
    pages = [url for url, answer in WEB.answers.items() if answer.status == 200]
    states = life.states()
    assert {states[url][0] for url in pages} == {"kept"}
    [(count,)] = life.rows("SELECT count(*) FROM indexed WHERE page")
    assert count == len(pages)


SHIPS = "A ship sails over the sea to the harbour. " * 20
WITH_SHIPS = SmallWeb(
    {
        "http://seed.test/": page("Bees", BEES, {"/s": "ships", "/t": "ship models"}),
        "http://seed.test/s": page("Ships", SHIPS),
        "http://seed.test/t": page("More ships", f"{SHIPS} models"),
    }
)


async def test_a_query_that_is_not_logged_counts_for_its_own_pages_alone(crawled):
    life = await crawled(WITH_SHIPS, settings_text=ONE)
    await life.crawl("--max-pages", 1)
    ended = await search(life, "ship harbour", "--expand", 1, "--json")
    assert ended.code == 0, ended.err
    assert ended.json()["expansion"]["kept"] == 1
    assert not (life.folder / "queries.txt").exists()
    await life.crawl("--max-pages", 3)
    states = {url[-1]: state for url, (state, _) in life.states().items()}
    assert states == {"/": "kept", "s": "kept", "t": "irrelevant"}
    named = life.rows("SELECT DISTINCT concepts FROM page_profile ORDER BY id")
    assert "ship" not in str(named)


async def test_a_learning_judge_forgets_the_pages_of_a_query_that_is_not_logged(
    crawled,
):
    life = await crawled(WITH_SHIPS, settings_text=f"{ONE}judge = 'bootstrapped'\n")
    await life.crawl("--max-pages", 1)
    knows = "SELECT name, state FROM learnt WHERE name LIKE 'judge%'"
    before = life.rows(knows)
    assert before, "it has learnt from the page that was crawled"
    ended = await search(life, "ship harbour", "--expand", 1, "--json")
    assert ended.json()["expansion"]["kept"] == 1
    assert life.rows(knows) == before
    await search(life, "ship harbour", "--expand", 1, "--log")
    assert life.rows(knows) != before
