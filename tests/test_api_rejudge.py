"""`opilio.Crawl` judges a crawl again, and asks for a contact like the command."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import opilio
from bee_web import bee_web
from crawling import serving
from in_process import run, run_beside
from opilio.lab.synthetic.server import Server

TOPIC = opilio.Topic(
    name="bees", keywords=["honey bee", "hive"], seeds=["http://seed.test/"]
)
SHIPS = opilio.Topic(
    name="ships", keywords=["ship", "sea"], seeds=["http://seed.test/"]
)


class Everything:
    """A judge that finds every page relevant."""

    def judge(self, page: opilio.Page) -> opilio.Verdict:
        return opilio.Verdict(0.75, True)


class Nothing:
    """A judge that finds no page relevant."""

    def judge(self, page: opilio.Page) -> opilio.Verdict:
        return opilio.Verdict(0.25, False)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(bee_web()) as server:
        yield server


def crawl_of(server: Server, folder: Path, **given: object) -> opilio.Crawl:
    quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
    asked = quick | {"proxy": server.proxy_url, "max_pages": 6} | given
    return opilio.Crawl(folder, TOPIC, **asked)  # type: ignore[arg-type]


def test_another_topic_and_judge_are_applied_offline(server: Server, tmp_path: Path):
    crawl = crawl_of(server, tmp_path / "crawl", judge="cosine")
    assert crawl.run().kept == 6
    asked = len(server.requests)
    found = crawl.rejudge(SHIPS, judge="cosine")
    assert (found.pages, found.kept_before, found.kept) == (6, 6, 0)
    assert len(found.lost) == 6 and not found.gained
    assert len(server.requests) == asked
    assert crawl.topic.name == "ships" and crawl.status().kept == 0
    assert crawl.run(max_pages=8).pages == 8  # by the new topic, without a complaint
    assert opilio.Crawl(tmp_path / "crawl").topic.name == "ships"


async def test_judges_that_are_objects(server: Server, tmp_path: Path):
    folder = tmp_path / "crawl"
    crawl = crawl_of(server, folder, judge=Everything())
    assert (await crawl.arun()).kept == 6
    found = await crawl.arejudge(judge=Nothing)
    assert (found.kept_before, found.kept) == (6, 0)
    refused = await run_beside("rejudge", folder)
    assert refused.code == 2
    assert "an object of class Nothing" in refused.err
    assert "opilio.Crawl(folder, judge=…)" in " ".join(refused.err.split())
    named = await run_beside("rejudge", folder, "--judge", "cosine")
    assert named.code == 0, named.err
    assert "relevant pages  0 → 6" in named.out


def test_other_machines_need_a_contact(tmp_path: Path):
    far = opilio.Topic(
        name="bees", keywords=["bee"], seeds=["https://bees.example.org/"]
    )
    crawl = opilio.Crawl(tmp_path / "crawl", far)
    with pytest.raises(opilio.BadInput, match=r"in Python, pass contact=…"):
        crawl.run()
    assert not (tmp_path / "crawl").exists()


class Far:
    """A seed source that leads to another machine."""

    async def find(self, request: opilio.SeedRequest) -> list[str]:
        return ["https://bees.example.org/"]


def test_so_do_those_that_a_seed_source_names(server: Server, tmp_path: Path):
    crawl = crawl_of(server, tmp_path / "crawl", seeds=Far())
    with pytest.raises(opilio.BadInput, match=r"bees.example.org/ is on another"):
        crawl.run()


def test_searches_are_followed_only_if_the_topic_asks(server: Server, tmp_path: Path):
    crawl = crawl_of(server, tmp_path / "crawl")
    crawl.run()
    log = tmp_path / "crawl" / "queries.txt"
    assert crawl.search("hive").hits
    assert not log.exists()
    crawl.search("hive", log=True)
    assert "hive" in log.read_text(encoding="utf-8")
    asking = opilio.Topic(
        name="bees",
        keywords=["honey bee", "hive"],
        seeds=["http://seed.test/"],
        query_log=opilio.QueryLog(searches=True),
    )
    crawl.rejudge(asking)
    crawl.search("drone")
    assert "drone" in log.read_text(encoding="utf-8")


def test_status_knows_why_a_run_from_python_stopped(server: Server, tmp_path: Path):
    crawl_of(server, tmp_path / "crawl").run()
    told = run("status", tmp_path / "crawl")
    assert told.code == 0, told.err
    assert "stopped" in told.out and "budget" in told.out
