"""What a crawl does that is told something while it runs, by the real commands."""

import asyncio
import json

import pytest

import opilio as library
from crawling import opilio
from opilio.assembly.build import assemble
from opilio.assembly.plan import load_plan
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.steering import listening
from opilio.store.folder import CrawlFolder
from opilio.subject.current import current_subject

SETTINGS = """
[crawl]
judge = "cosine"
strategy = "breadth-first"
near_copies = false
[bounds]
per_template = 0
novelty = 0
[politeness]
delay = {delay}
[store]
min_free = 0
commit_every = 0.1
"""
PAGES = 400


def bee_web(*, wax_first: bool = False) -> SmallWeb:
    """A site about bees, with a few pages about wax at the end of its list."""
    links = {f"/{n}": f"Bees {n}" for n in range(1, PAGES)}
    wax = {f"/wax/{n}": f"Candles of wax {n}" for n in range(8)}
    links = wax | links if wax_first else links | wax
    made = {"http://seed.test/": page("Bees", "bee honey hive", links)}
    for n in range(1, PAGES):
        made[f"http://seed.test/{n}"] = page(f"Bees {n}", f"bee honey {n}")
    for n in range(8):
        made[f"http://seed.test/wax/{n}"] = page(f"Wax {n}", f"candles of wax {n}")
    made["http://other.test/"] = page("Other", "bee hive")
    return SmallWeb(made)


@pytest.fixture
async def running(crawled):
    """A crawl that runs: its folder and its process."""
    processes = []

    async def start(web=None, delay=0.05, pages=20):
        life = await crawled(
            web or bee_web(), settings_text=SETTINGS.format(delay=delay)
        )
        processes.append(await life.start("--max-pages", 0))
        await life.until_committed(pages)
        return life, processes[-1]

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


def told(life, verb: str, *words, wait=10.0, **more) -> tuple[str, str]:
    found = library.tell(life.folder, verb, *words, wait=wait, **more)
    return found.state, found.outcome


def requests(life, word: str) -> list[tuple[int, float]]:
    """Which requests for such a URL came when: their places, and the time."""
    return [
        (place, request.at)
        for place, request in enumerate(life.server.requests)
        if word in request.url
    ]


async def thread(call, *args, **more):
    return await asyncio.to_thread(call, *args, **more)


async def test_a_query_is_served_at_once_before_the_other_links(running):
    """Yang, section 4.1: "This design prefers user-oriented Web resource crawling to
    website maintenance"."""
    life, _ = await running()
    ended = await opilio("search", life.folder, "wax candles", "--expand", 5, "--json")
    assert ended.code == 0, ended.err
    answer = ended.json()
    served = requests(life, "/wax/")
    assert len(served) == 5
    [(seconds,)] = life.rows(
        "SELECT min(fetched_at) - min(at) FROM message "
        "JOIN asked_page ON message = message.id JOIN page ON page.id = page"
    )
    assert seconds < 5  # two, and more where tests share a machine with others
    first, last = served[0][0], served[-1][0]
    assert last - first <= 6  # nearly nothing else between them
    assert answer["expansion"]["pages"] == 5
    assert answer["expansion"]["ended"] == "pages"
    assert answer["expansion"]["kept"] == 5  # judged by the query too
    assert all("/wax/" in url for url in answer["expansion"]["urls"])
    assert {hit["url"] for hit in answer["hits"] if hit["new"]} == set(
        answer["expansion"]["urls"]
    )
    assert "Wax" in ended.err  # they were shown as they arrived


async def test_the_crawls_own_pages_are_judged_as_ever_meanwhile(running):
    life, process = await running()
    assert (await thread(told, life, "query", "wax", pages=3))[0] == "serving"
    await until(life, "SELECT 1 FROM message WHERE state = 'done'")
    await thread(told, life, "stop")
    await process.wait()
    others = life.rows(
        "SELECT relevant FROM page JOIN link USING (id) "
        "WHERE url LIKE '%/wax/%' AND id NOT IN (SELECT page FROM asked_page)"
    )
    assert not any(relevant for (relevant,) in others)


async def until(life, query: str) -> list[tuple]:
    """Wait for rows."""
    async with asyncio.timeout(60):
        while not (rows := life.rows(query)):
            await asyncio.sleep(0.02)
    return rows


async def test_a_query_that_was_interrupted_fetches_what_it_lacks(running):
    life, process = await running(delay=0.3, pages=5)
    await thread(told, life, "query", "wax", pages=6)
    await until(life, "SELECT 1 FROM asked_page LIMIT 1 OFFSET 1")
    process.kill()
    await process.wait()
    again = await life.start("--max-pages", 0)
    [(pages, ended)] = await until(
        life,
        "SELECT (SELECT count(*) FROM asked_page), ended FROM message "
        "WHERE state = 'done'",
    )
    again.kill()
    await again.wait()
    assert (pages, ended) == (6, "pages")


async def test_a_query_for_which_no_link_waits_ends_at_once(running):
    life, _ = await running()
    ended = await opilio("search", life.folder, "submarine", "--expand", 5)
    assert ended.code == 0, ended.err
    assert "0 pages fetched; no other waiting link matches the query" in ended.out


async def test_a_proxy_cannot_be_given_to_a_crawl_that_runs(running):
    life, _ = await running()
    proxy = ("--proxy", "http://127.0.0.1:9")
    ended = await opilio("search", life.folder, "wax", "--expand", 5, *proxy)
    assert ended.code == 2
    assert "leave out --proxy" in ended.err


async def test_nothing_is_visited_while_paused_not_even_after_a_restart(running):
    life, process = await running()
    assert await thread(told, life, "pause") == ("done", "paused")
    await asyncio.sleep(0.3)  # visits under way end
    before = len(life.server.requests)
    await asyncio.sleep(0.5)
    assert len(life.server.requests) == before
    shown = await opilio("status", life.folder)
    assert f"paused; `opilio tell {life.folder} resume` continues" in shown.out
    process.kill()
    await process.wait()
    again = await life.start("--max-pages", 0)
    await until(life, "SELECT 1 FROM event WHERE kind = 'started' LIMIT 1 OFFSET 1")
    await asyncio.sleep(0.5)
    assert len(life.server.requests) == before
    assert await thread(told, life, "resume") == ("done", "resumed")
    async with asyncio.timeout(60):
        while len(life.server.requests) == before:
            await asyncio.sleep(0.05)
    again.kill()
    await again.wait()


async def test_a_paused_crawl_refuses_queries_at_once(running):
    life, _ = await running()
    assert await thread(told, life, "pause") == ("done", "paused")
    async with asyncio.timeout(50):  # not the 60 seconds of --expand-seconds
        ended = await opilio("search", life.folder, "wax", "--expand", 5)
    assert ended.code == 2
    assert "the crawl is paused" in ended.err
    assert "resume` first" in " ".join(ended.err.split())
    assert life.rows("SELECT count(*) FROM message") == [(1,)]  # nothing was sent
    state, outcome = await thread(told, life, "query", "wax", pages=5)
    assert (state, "resume` first" in outcome) == ("refused", True)
    await thread(told, life, "resume")
    assert (await thread(told, life, "query", "wax", pages=5))[0] == "serving"


async def test_a_pause_ends_the_queries_that_are_served(running):
    life, _ = await running(delay=0.5, pages=5)
    asked = asyncio.create_task(opilio("search", life.folder, "wax", "--expand", 50))
    await until(life, "SELECT 1 FROM asked_page")
    await thread(told, life, "pause")
    ended = await asyncio.wait_for(asked, 100)
    assert ended.code == 0, ended.err
    assert "the crawl was paused" in " ".join(ended.out.split())
    [(state, why)] = life.rows("SELECT state, ended FROM message WHERE id = 1")
    assert (state, why) == ("done", "paused")


async def test_stop_ends_the_run_and_the_crawl_can_go_on(running):
    life, process = await running()
    assert await thread(told, life, "stop") == ("done", "stopped")
    assert await asyncio.wait_for(process.wait(), 60) == 0
    status = (await opilio("status", life.folder, "--json")).json()
    assert status["stopped"] == "told"
    pages = status["pages"]
    ended = await life.crawl("--max-pages", pages + 5)
    assert ended.code == 0, ended.err
    assert (await opilio("status", life.folder, "--json")).json()["pages"] > pages


async def test_a_crawl_that_has_only_just_begun_can_be_stopped(crawled):
    """It has its folder, so others see that it runs, but it does not listen yet."""
    life = await crawled(bee_web(), settings_text=SETTINGS.format(delay=0.05))
    await life.crawl("--max-pages", 3)
    folder = CrawlFolder(life.folder)
    plan = load_plan(folder)
    async with assemble(plan, folder) as crawl:
        await thread(library.tell, life.folder, "stop", wait=0)
        subject = current_subject(plan.topic, folder, crawl.store.db)
        beside = await listening(crawl, plan, subject)
        assert await crawl.run({}, [beside]) == "told"


async def test_a_crawl_that_does_not_run_takes_messages_up_when_it_goes_on(crawled):
    life = await crawled(bee_web(), settings_text=SETTINGS.format(delay=0.0))
    await life.crawl("--max-pages", 3)
    for words in (["stop"], ["seed", "http://other.test/"], ["block", "seed.test"]):
        ended = await opilio("tell", life.folder, *words)
        assert ended.code == 0
        assert ended.out.startswith(
            "the crawl is not running; the message takes effect"
        )
    listed = await opilio("tell", life.folder)
    assert listed.out.count("waiting") == 3
    status = await opilio("status", life.folder)
    assert "Messages: 3, 3 waiting for the crawl to run" in status.out
    await life.crawl("--max-pages", 0)
    found = json.loads((await opilio("tell", life.folder, "--json")).out)
    assert [(one["state"], one["outcome"]) for one in found] == [
        ("done", "that run had ended already"),
        ("done", "it is visited next"),
        ("done", "no more pages of seed.test are visited"),
    ]
    states = life.states()
    assert states["http://other.test/"] == ("kept", None)
    blocked = [url for url, state in states.items() if state == ("parked", "blocked")]
    assert len(blocked) > 300
    await opilio("tell", life.folder, "unblock", "seed.test")
    await life.crawl("--max-pages", 20)
    assert len(requests(life, "seed.test")) > 10


async def test_messages_that_cannot_be_done_are_refused_with_the_reason(running):
    life, _ = await running()
    url = "http://seed.test/never"
    assert await thread(told, life, "label", url, True) == (
        "refused",
        f"{url} is not known to this crawl",
    )
    assert await thread(told, life, "block", "other.test") == (
        "done",
        "no more pages of other.test are visited",
    )
    state, why = await thread(told, life, "seed", "http://other.test/")
    assert state == "refused"
    assert "other.test is blocked" in why
    ended = await opilio("tell", life.folder, "seed", "https://far.example.com/")
    assert ended.code == 2
    assert "its owners must be able to reach you" in ended.out
    with pytest.raises(library.BadInput, match="nothing that a crawl can be told"):
        library.tell(life.folder, "dance")


async def test_a_message_of_another_version_does_not_stop_the_crawl(running):
    life, _ = await running()
    import sqlite3
    from contextlib import closing

    library.tell(life.folder, "boost", "seed.test", wait=5)
    with closing(sqlite3.connect(life.folder / "inbox.db")) as db, db:
        db.execute(
            "INSERT INTO message (key, at, body) VALUES ('x', 1, '{\"verb\":\"fly\"}')"
        )
    [(state, why)] = await until(
        life, "SELECT state, outcome FROM message WHERE key = 'x'"
    )
    assert state == "refused"
    assert "fly" in why


async def test_a_damaged_inbox_does_not_stop_the_crawl(crawled):
    life = await crawled(bee_web(), settings_text=SETTINGS.format(delay=0.0))
    await life.crawl("--max-pages", 3)
    (life.folder / "inbox.db").write_bytes(b"no database" * 1000)
    ended = await life.crawl("--max-pages", 6)
    assert ended.code == 0, ended.err


async def test_a_label_moves_a_page_and_search_follows(running):
    life, process = await running(bee_web(wax_first=True))
    await until(
        life, "SELECT 1 FROM link WHERE url LIKE '%/wax/%' AND state = 'irrelevant'"
    )
    [(url,)] = life.rows(
        "SELECT url FROM link WHERE url LIKE '%/wax/%' AND state = 'irrelevant' LIMIT 1"
    )
    assert (await thread(told, life, "label", url, True))[0] == "done"
    await thread(told, life, "label", "http://seed.test/1", "no")
    await thread(told, life, "stop")
    await process.wait()
    states = life.states()
    assert states[url] == ("kept", None)
    assert states["http://seed.test/1"] == ("irrelevant", None)
    answer = library.Crawl(life.folder).search("wax candles")
    assert answer.hits[0].url == url
    assert {hit.url for hit in answer.hits} == {url, "http://seed.test/"}
    shown = await opilio("explain", life.folder, url)
    assert "label" in shown.out


async def test_a_program_may_tell_its_own_crawl(crawled):
    life = await crawled(bee_web(), settings_text=SETTINGS.format(delay=0.05))
    crawl = library.Crawl(
        life.folder,
        life.topic,
        proxy=life.server.proxy_url,
        delay=0.05,
        judge="cosine",
        commit_every=0.1,
        min_free=0,
        novelty=0,
    )
    kept = []
    async for found in crawl:
        kept.append(found)
        if len(kept) == 10:
            crawl.tell("stop")
    assert 10 <= len(kept) < PAGES
    assert [(one.text, one.state) for one in crawl.messages()] == [("stop", "done")]
