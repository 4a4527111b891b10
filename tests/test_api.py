"""`opilio.Crawl` over loopback HTTP: running, stopping, reading, refusing."""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import opilio
from bee_web import bee_web
from crawling import serving
from in_process import run
from opilio.api import async_pages, given_objects, page_flow
from opilio.api.background_loop import ending_runs
from opilio.lab.synthetic.server import Server
from opilio.lab.synthetic.small import SmallWeb
from opilio.lab.synthetic.small import page as html
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

TOPIC = opilio.Topic(
    name="bees", keywords=["honey bee", "hive"], seeds=["http://seed.test/"]
)


class ByText:
    """A judge that reads the text of a page, and notes what it read."""

    reads = opilio.Reads(text=True)

    def __init__(self) -> None:
        self.read: list[str] = []
        self.threads: set[str] = set()

    def judge(self, page: opilio.Page) -> opilio.Verdict:
        self.read.append(page.text)
        self.threads.add(threading.current_thread().name)
        score = min(page.text.count("bee") / 20, 1.0)
        return opilio.Verdict(score, score > 0.5, {"bees": score})


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(bee_web()) as server:
        yield server


def crawl_of(
    server: Server, folder: Path, topic: opilio.Topic | None = TOPIC, **settings: object
) -> opilio.Crawl:
    """A crawl that asks the server for everything, without much waiting."""
    quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
    all_settings = quick | {"proxy": server.proxy_url, "max_pages": 12} | settings
    return opilio.Crawl(folder, topic, **all_settings)  # type: ignore[arg-type]


def stored(folder: Path) -> int:
    """The pages that another process would find."""
    address = f"file:{folder}/crawl.db?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            return int(db.execute("SELECT count(*) FROM page").fetchone()[0])
    except sqlite3.OperationalError:  # it has only just begun
        return 0


def is_free(folder: Path) -> bool:
    """Does nobody have the crawl open?"""
    from opilio.store.folder import CrawlFolder

    home = CrawlFolder(folder)
    try:
        home.lock()
    except opilio.BadInput:
        return False
    home.unlock()
    return True


def test_each_page_that_is_kept_comes_once_with_all_its_fields(server, tmp_path):
    judge = ByText()
    crawl = crawl_of(server, tmp_path / "c", judge=judge, max_pages=40)
    pages = list(crawl)
    assert len({page.url for page in pages}) == len(pages) == 31
    first = pages[0]
    assert (first.url, first.title, first.language) == (
        "http://seed.test/",
        "Bees",
        "en",
    )
    assert (first.parent, first.depth, first.relevant) == (None, 0, True)
    assert first.parts == {"bees": first.score}
    assert "The honey bee makes honey" in first.text
    assert first.html.startswith("<!doctype html>")
    assert first.warc is not None
    assert first.warc.file.is_file()
    assert first.fetched.tzinfo is not None
    assert (pages[1].parent, pages[1].depth) == ("http://seed.test/", 1)
    assert judge.threads == {"opilio"}
    assert sorted(page.text for page in pages) == sorted(
        text for text in judge.read if "bee" in text
    )


def test_leaving_the_loop_stops_the_crawl_and_the_next_run_goes_on(server, tmp_path):
    crawl = crawl_of(server, tmp_path / "c", delay=0.05)
    earlier = len(server.requests)
    for page in crawl:
        if page.depth:
            break
    assert is_free(tmp_path / "c")
    before = crawl.status()
    assert 2 <= before.pages < 12
    assert before.last_event is not None
    assert before.last_event["detail"] == {"reason": "interrupted"}
    assert before.pages == stored(tmp_path / "c")
    asked = [one.url for one in server.requests[earlier:]]
    summary = crawl.run()
    assert summary.pages == 12
    again = [one.url for one in server.requests[earlier + len(asked) :]]
    visited = {url for url in asked if "robots" not in url}
    assert not visited.intersection(again)  # nothing was lost
    assert [page.url for page in crawl] == []  # the budget is spent


def test_an_error_in_the_loop_stops_the_crawl(server, tmp_path):
    crawl = crawl_of(server, tmp_path / "c", delay=0.05)
    with pytest.raises(ZeroDivisionError):
        for page in crawl:
            print(1 // page.depth)
    assert is_free(tmp_path / "c")
    assert crawl.status().pages == stored(tmp_path / "c") >= 1


async def test_both_loops_work_inside_a_running_event_loop(server, tmp_path):
    crawl = crawl_of(server, tmp_path / "c")
    pages = [page.url for page in crawl]
    assert len(pages) == len(set(pages)) == crawl.status().kept
    more = crawl_of(server, tmp_path / "d")
    assert [page.url async for page in more] == pages
    summary = await more.arun(max_pages=15)
    assert summary.pages == 15


async def test_leaving_an_async_loop_stops_the_crawl(server, tmp_path):
    crawl = crawl_of(server, tmp_path / "c", delay=0.05)
    async for _ in crawl:
        break
    assert crawl.status().pages == stored(tmp_path / "c") < 12  # waits for the end
    assert is_free(tmp_path / "c")
    async with contextlib.aclosing(aiter(crawl)) as pages:
        async for _ in pages:
            break
    assert is_free(tmp_path / "c")
    assert (await crawl.arun()).pages == 12


@pytest.fixture
def slow_server() -> Iterator[Server]:
    """A seed, and a page that is never sent."""
    home = html("Bees", "A honey bee in its hive. " * 60, {"/slow": "more bees"})
    slow = SyntheticAnswer(200, (HTML,), b"", delay=3600.0)
    with serving(
        SmallWeb({"http://seed.test/": home, "http://seed.test/slow": slow})
    ) as server:
        yield server


def is_asked(server: Server, url: str) -> bool:
    return any(request.url == url for request in server.requests)


async def test_leaving_an_async_loop_does_not_wait_for_visits_under_way(
    slow_server, tmp_path, monkeypatch
):
    monkeypatch.setattr(async_pages, "LEAVE_SECONDS", 3600.0)
    crawl = crawl_of(slow_server, tmp_path / "c")
    async for _ in crawl:
        while not is_asked(slow_server, "http://seed.test/slow"):
            await asyncio.sleep(0.02)
        break
    assert not is_free(tmp_path / "c")  # the visit is still under way
    [ending] = ending_runs(tmp_path / "c")
    ending.stop(0.0)
    other = opilio.Crawl(tmp_path / "c")  # waits for the end of that run
    await other.arun(max_pages=1)
    assert other.status().states == {"kept": 1, "waiting": 1}  # to be repeated


def test_leaving_a_loop_drops_visits_that_take_too_long(slow_server, tmp_path):
    crawl = crawl_of(slow_server, tmp_path / "c", timeout=3600.0)
    for _ in crawl:
        while not is_asked(slow_server, "http://seed.test/slow"):
            time.sleep(0.02)
        break
    assert is_free(tmp_path / "c")
    assert crawl.status().states == {"kept": 1, "waiting": 1}


@pytest.mark.parametrize("kind", ["for", "async for"])
async def test_a_slow_loop_holds_the_crawl_back(server, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(page_flow, "LOOK_AHEAD", 5)
    judge = ByText()
    held: queue.SimpleQueue[int] = queue.SimpleQueue()  # pages kept when it waits

    async def room(flow: page_flow.PageFlow) -> None:
        if not flow._room.is_set():
            held.put(sum("bee" in text for text in judge.read))
        await waits(flow)

    waits = page_flow.PageFlow.room
    monkeypatch.setattr(page_flow.PageFlow, "room", room)
    crawl = crawl_of(server, tmp_path / "c", judge=judge, max_pages=40, in_flight=1)

    def check(taken: int) -> None:
        """The only worker waits with five pages that nobody has taken."""
        while taken <= 31 - 5 and (kept := held.get(timeout=60)) != taken + 5:
            assert kept < taken + 5

    taken = 0
    if kind == "for":
        for _ in crawl:
            taken += 1
            check(taken)
    else:
        async for _ in crawl:
            taken += 1
            await asyncio.to_thread(check, taken)
    assert taken == 31


async def test_cancelling_a_task_stops_its_crawl(server, tmp_path):
    async def read(crawl: opilio.Crawl) -> None:
        async for _ in crawl:
            pass

    crawl = crawl_of(server, tmp_path / "c", delay=0.2)
    for work in (crawl.arun, lambda: read(crawl)):
        task = asyncio.create_task(work())
        before = stored(tmp_path / "c")
        while stored(tmp_path / "c") <= before:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert is_free(tmp_path / "c")
    assert 2 <= crawl.status().pages < 12


def test_a_crawl_can_be_stopped_from_another_thread_and_read_meanwhile(
    server, tmp_path
):
    crawl = crawl_of(server, tmp_path / "c", delay=0.05)
    for number, _ in enumerate(crawl):
        if number == 0:
            assert crawl.status().pages >= 1
            with pytest.raises(opilio.BadInput, match="already crawling"):
                crawl.run()
        threading.Thread(target=crawl.stop).start()
    assert 1 <= crawl.status().pages < 12


def test_what_a_judge_raises_comes_to_the_program(server, tmp_path):
    class Broken:
        def judge(self, page: opilio.Page) -> opilio.Verdict:
            raise LookupError(page.url)

    class Vague:
        def judge(self, page: opilio.Page) -> opilio.Verdict:
            return opilio.Verdict(7.5, True)

    crawl = crawl_of(server, tmp_path / "c", judge=Broken())
    with pytest.raises(LookupError, match=r"http://seed\.test/"):
        list(crawl)
    assert is_free(tmp_path / "c")
    crawl = crawl_of(server, tmp_path / "d", judge=Vague())
    with pytest.raises(
        opilio.BadInput, match=r"object:.*Vague returned 7\.5 .* as the"
    ):
        crawl.run()


def test_pages_search_explain_and_export_read_what_was_crawled(server, tmp_path):
    crawl_of(server, tmp_path / "c", judge="cosine", max_pages=40).run()
    crawl = opilio.Crawl(tmp_path / "c")
    assert repr(crawl) == f"Crawl({str(tmp_path / 'c')!r}, topic='bees')"
    every, kept = list(crawl.pages()), list(crawl.pages(relevant=True))
    assert len(every) == 32
    assert "http://seed.test/ships" in {page.url for page in every}
    assert "http://seed.test/ships" not in {page.url for page in kept}
    scores = [page.score for page in every]
    assert scores == sorted(scores, reverse=True)
    assert crawl.search("number7").hits[0].url == "http://seed.test/7"
    assert not (tmp_path / "c/queries.txt").exists()  # searching changes nothing
    found = crawl.explain("HTTP://SEED.test:80/7#top")
    assert [step.url for step in found.way] == [
        "http://seed.test/",
        "http://seed.test/7",
    ]
    with pytest.raises(opilio.BadInput, match="no crawled page links to it"):
        crawl.explain("http://seed.test/unknown")
    done = crawl.export(tmp_path / "bees.jsonl", relevant=True)
    assert (done.pages, done.left_out) == (31, {"irrelevant": 1})
    assert len((tmp_path / "bees.jsonl").read_bytes().splitlines()) == 31


def test_a_program_gives_an_object_once(server, tmp_path):
    judge = ByText()
    crawl_of(server, tmp_path / "c", judge=judge, max_pages=2).run()
    assert opilio.Crawl(tmp_path / "c").run(max_pages=4).pages == 4
    assert len(judge.read) == 4
    other = ByText()
    assert opilio.Crawl(tmp_path / "c", judge=other).run(max_pages=6).pages == 6
    assert (len(judge.read), len(other.read)) == (4, 2)


def test_another_program_is_told_to_give_an_object_again(server, tmp_path, monkeypatch):
    crawl_of(server, tmp_path / "c", judge=ByText(), max_pages=2).run()
    monkeypatch.setattr(given_objects, "_given", {})  # as in another program
    again = opilio.Crawl(tmp_path / "c")
    assert len(list(again.pages())) == 2
    with pytest.raises(opilio.BadInput, match=r"an object of class ByText.*judge="):
        again.run(max_pages=4)
    with pytest.raises(opilio.BadInput, match="with --judge object:ByText"):
        opilio.Crawl(tmp_path / "c", judge="cosine").run()
    crawl = crawl_of(server, tmp_path / "c", None, judge=ByText(), max_pages=4)
    assert crawl.run().pages == 4


def test_the_command_line_cannot_run_a_crawl_with_an_object(server, tmp_path):
    crawl_of(server, tmp_path / "c", judge=ByText(), max_pages=2).run()
    ended = run("crawl", tmp_path / "c", "-q")
    assert ended.code == 2
    assert "object of class ByText; pass it again" in ended.err
    ended = run("explain", tmp_path / "c", "http://seed.test/", "--json")
    assert ended.json()["page"]["parts"] == {"bees": 1.0}


def test_a_crawl_is_replayed_from_its_own_archive(server, tmp_path):
    first = crawl_of(server, tmp_path / "c", max_pages=5)
    urls = {page.url for page in first}
    asked = len(server.requests)
    warcs = list((tmp_path / "c/warc").iterdir())
    again = opilio.Crawl(tmp_path / "d", TOPIC, replay=warcs, min_free=0)
    assert {page.url for page in again} == urls
    assert len(server.requests) == asked


def test_growing_uses_the_objects_that_were_given(server, tmp_path):
    judge = ByText()
    crawl = crawl_of(server, tmp_path / "c", judge=judge, max_pages=3)
    crawl.run()
    more = crawl.expand("bee", pages=1)
    assert more.kept == 1
    assert len(judge.read) == 4
    assert sum(outcome.pages for outcome in crawl.evolve(pages=2)) == 2
    assert len(judge.read) == 6


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_page": 5}, "unknown setting 'max_page'; did you mean 'max_pages'?"),
        ({"alow_network": []}, "did you mean 'allow_network'?"),
        (
            {"bounds": {"per_hosts": 1}},
            "'per_hosts' of bounds; did you mean 'per_host'",
        ),
        ({"per_host": 1}, "write politeness={'per_host': …} or bounds={'per_host': …}"),
        ({"bounds": 3}, "bounds is a section"),
        ({"judge": "cosin"}, "unknown judge 'cosin'; did you mean 'cosine'?"),
        ({"strategy": "opilo"}, "unknown strategy 'opilo'; did you mean 'opilio'?"),
        ({"judge": 3}, "3 is not a judge: it has no method judge"),
        ({"strategy": ByText()}, "is not a strategy: it has no method rank"),
        ({"seeds": ["ftp://seed.test"]}, "is not a URL"),
        ({"seeds": "nobody"}, "unknown seed source 'nobody'"),
        ({"seeds": 3}, "3 is not a seed source"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(
    tmp_path, given, said
):
    with pytest.raises(opilio.BadInput) as caught:
        opilio.Crawl(tmp_path / "c", TOPIC, **given).run()
    assert said in str(caught.value)
    assert not (tmp_path / "c").exists()


def test_a_topic_without_seeds_and_a_folder_without_a_crawl_are_refused(tmp_path):
    topic = opilio.Topic(name="bees", keywords=["bee"])
    with pytest.raises(opilio.BadInput, match="the crawl has no seeds"):
        opilio.Crawl(tmp_path / "c", topic)
    with pytest.raises(opilio.BadInput, match="holds no crawl"):
        opilio.Crawl(tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_seeds_may_be_urls_and_objects_beside_those_of_the_topic(tmp_path):
    class Listed:
        async def find(self, request: opilio.SeedRequest) -> list[str]:
            assert (request.query, request.language) == ("bee", "en")
            response = await request.get("http://list.test/urls.txt")
            return response.body.decode().split()

    class Silent:
        async def find(self, request: opilio.SeedRequest) -> list[str]:
            await request.get("http://list.test/nothing")
            raise opilio.OpilioError("it is Sunday")

    pages = {
        f"http://{name}.test/": html(name, f"A bee {name} " * 60) for name in "abc"
    }
    listed = "http://b.test/ http://c.test/"
    web = SmallWeb({**pages, "http://list.test/urls.txt": listed})
    topic = opilio.Topic(name="bees", keywords=["bee"])
    with serving(web) as server:
        crawl = crawl_of(
            server, tmp_path / "c", topic, seeds=["http://a.test/", Silent(), Listed()]
        )
        crawl.run()
        asked = len(server.requests)
        crawl.run()
        assert len(server.requests) == asked  # sources are asked once
    assert {page.url for page in crawl.pages()} == set(pages)


def test_fresh_starts_again_once(server, tmp_path):
    crawl_of(server, tmp_path / "c", max_pages=3).run()
    crawl = crawl_of(server, tmp_path / "c", fresh=True, max_pages=2, judge="cosine")
    assert crawl.run().pages == 2
    assert crawl.run(max_pages=4).pages == 4


async def test_two_crawls_run_at_once_and_leave_the_event_loop_free(server, tmp_path):
    crawls = [crawl_of(server, tmp_path / name, delay=0.05) for name in "ab"]
    done = asyncio.gather(*(crawl.arun() for crawl in crawls))
    beats = 0
    while not done.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert [summary.pages for summary in await done] == [12, 12]
    assert beats > 10


def test_messages_are_logged(server, tmp_path, caplog):
    settings = {"index": False, "max_pages": 3}
    crawl = crawl_of(server, tmp_path / "c", **settings)
    crawl.run()
    with caplog.at_level(logging.INFO, "opilio"):
        crawl.search("bee")
    assert "Indexing 3 pages that were crawled without an index" in caplog.text
