"""A crawl learns how the classes of its topic link to each other, once."""

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from crawling import opilio
from opilio.fetch.egress import Egress
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.read.html import PageReader
from opilio.records import Page, ReaderSetup, Response
from opilio.settings import FetchSettings, PolitenessSettings
from opilio.store.warc_records import pack_response
from opilio.subject.class_rules import (
    LookAhead,
    learn_look_ahead,
    load_look_ahead,
    network,
)
from opilio.topic.class_model import WIDTH, ClassModel
from opilio.topic.file import Classes
from opilio.topic.linked_pages import Pace
from opilio.topic.rules import ClassRules, load_rules

WORDS = {
    "course": "syllabus lecture credit semester exam module teacher timetable",
    "people": "professor phone office email biography staff room secretary",
    "news": "press release yesterday event award announced visit minister",
}
SITE = "http://uni.test"
TOPIC = f"""
name = "courses"
keywords = ["syllabus", "semester"]
seeds = ["{SITE}/"]
[classes]
folder = "train0"
target = "course"
"""


def text(name: str, number: int) -> str:
    return " ".join(random.Random(f"{name}{number}").choices(WORDS[name].split(), k=60))


def links(name: str, number: int) -> dict[str, str]:
    """The people link to courses, the news to news, courses to nobody."""
    linked = {"people": "course", "news": "news"}.get(name)
    near = range(number, number + 3)
    return {f"/{linked}{near_by}": "more" for near_by in near} if linked else {}


PAGES = {
    f"{SITE}/{name}{number}": page("Page", text(name, number), links(name, number))
    for name in WORDS
    for number in range(8)
}
# What the crawl meets first: news, then people, whose links say nothing of themselves.
PAGES[f"{SITE}/"] = page("Start", "", {"/news5": "one", "/people5": "two"})
WEB = SmallWeb(PAGES)


def save_examples(home: Path) -> Path:
    """train-0: the first three pages of each class."""
    for name in WORDS:
        (home / "train0" / name).mkdir(parents=True)
        for number in range(3):
            url = f"{SITE}/{name}{number}"
            saved = f"<!-- saved from url=(0014){url} -->\n{PAGES[url]}"
            (home / "train0" / name / f"{number}.html").write_text(saved)
    return home / "train0"


def order(folder: Path) -> list[str]:
    with (
        closing(sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True)) as db,
        db,
    ):
        rows = db.execute("SELECT url FROM page JOIN link USING (id) ORDER BY number")
        return [url.removeprefix(SITE) for (url,) in rows]


@pytest.fixture
def replay(tmp_path: Path) -> list[object]:
    """A topic and a recording of the web, as the beginning of a command."""
    save_examples(tmp_path)
    (tmp_path / "topic.toml").write_text(TOPIC)
    answers = {url: WEB.respond(url) for url in PAGES}
    records = [
        pack_response(Response(url, answer.status, answer.headers, answer.body, 1e9))
        for url, answer in answers.items()
    ]
    (tmp_path / "web.warc.gz").write_bytes(b"".join(records))
    return ["crawl", tmp_path / "topic.toml", "--replay", tmp_path / "web.warc.gz"]


async def test_links_of_pages_that_lead_to_the_target_come_first(crawled):
    life = await crawled(WEB, topic_text=TOPIC)
    save_examples(life.home)
    ended = await life.crawl("--strategy", "mcore", "--max-pages", 6)
    assert ended.code == 0, ended.err
    assert "Learning how pages of the classes in" in ended.err
    rules = load_rules((life.folder / "models/rules.json").read_bytes())
    assert rules.probability("people", "course") == 1
    assert rules.probability("news", "course") == 0
    visited = order(life.folder)
    assert set(visited[:3]) == {"/", "/news5", "/people5"}
    assert set(visited[3:]) == {"/course5", "/course6", "/course7"}
    rows = life.rows("SELECT parts FROM link WHERE url LIKE '%course5'")
    assert json.loads(rows[0][0])["LARS"] > 0
    # How far words and rules are right was learnt from the links of the examples.
    [(learnt,)] = life.rows("SELECT state FROM learnt WHERE name = 'strategy'")
    state = json.loads(learnt)
    assert any(led and lars > 0.5 for _, lars, led in state["rows"])
    assert all(obrs == 0 for obrs, _, _ in state["rows"])  # anchors tell nothing
    assert state["weights"][1] > 1  # the rules were right, more than was expected


async def test_a_crawl_that_goes_on_needs_the_examples_no_more(replay, tmp_path):
    def command(folder: str, pages: int) -> list[object]:
        options = ("--strategy", "mcore", "--max-pages", pages, "-q")
        return [*replay, "-o", tmp_path / folder, *options]

    whole = await opilio(*command("whole", 9))
    assert whole.code == 0, whole.err
    assert (await opilio(*command("broken", 3))).code == 0
    learnt = (tmp_path / "broken/models/classes.npz").read_bytes()
    shutil.rmtree(tmp_path / "train0")
    goes_on = await opilio(*command("broken", 9))
    assert goes_on.code == 0, goes_on.err
    assert "Learning" not in goes_on.err
    assert (tmp_path / "broken/models/classes.npz").read_bytes() == learnt
    assert order(tmp_path / "broken") == order(tmp_path / "whole")


@pytest.mark.parametrize(
    "options",
    [["--strategy", "best-first"], ["--strategy", "mcore", "--option", "look_ahead=0"]],
)
async def test_nothing_is_learnt_that_nobody_asks_for(replay, tmp_path, options):
    shutil.rmtree(tmp_path / "train0")
    ended = await opilio(*replay, "-o", tmp_path / "c", "--max-pages", 2, *options)
    assert ended.code == 0, ended.err
    assert not (tmp_path / "c/models/rules.json").exists()


async def test_a_target_that_is_no_class_leaves_no_folder_behind(replay, tmp_path):
    topic = tmp_path / "topic.toml"
    topic.write_text(TOPIC.replace('"course"', '"coarse"'))
    ended = await opilio(*replay, "-o", tmp_path / "c", "--strategy", "mcore")
    assert ended.code == 2
    message = ended.err.replace("\n", " ")
    assert "no class 'coarse'; it has: course, news, people" in message
    assert not (tmp_path / "c").exists()


def empty_page() -> Page:
    return Page("http://a.test/", "", "en", "utf-8", 0, {}, 0.0, 0, ())


def test_the_best_number_of_links_counts(tmp_path: Path):
    """papers.md A.6-2: CSE→CSE 0 by one rule, 0.19 by two; IT→CSE 0.2 and 0.2."""
    counts = {
        "CSE": {"IT": 8, "ENGG": 1, "COMP": 1},
        "IT": {"CSE": 2, "IT": 4, "ENGG": 4},
        "ENGG": {"CSE": 3, "IT": 4, "ENGG": 3},
        "COMP": {"COMP": 10},
    }
    bias = np.log(np.array([1, 1, 1e-30, 1e-30], np.float32))
    model = ClassModel(["CSE", "IT", "x", "y"], np.zeros((4, WIDTH), np.float32), bias)
    ahead = LookAhead(model, ClassRules(counts), "CSE")
    assert ahead(empty_page(), 1, literal=True) == pytest.approx((0 + 0.2) / 2)
    assert ahead(empty_page(), 2, literal=True) == pytest.approx((0.19 + 0.2) / 2)
    # Shrunk: 10 links more for each class, 5 of 40 of all of them to CSE.
    assert ahead(empty_page()) == pytest.approx((1.25 / 20 + 3.25 / 20) / 2)
    assert ahead(empty_page(), 3) >= ahead(empty_page(), 2)
    assert load_look_ahead(tmp_path, "CSE") is None
    ahead.save(tmp_path)
    again = load_look_ahead(tmp_path, "CSE")
    assert again is not None
    assert again(empty_page(), 2) == ahead(empty_page(), 2)


async def test_hosts_get_the_rest_they_ask_for_also_after_the_last_page(
    crawled, tmp_path
):
    asks = SyntheticAnswer(200, (), b"User-agent: *\nCrawl-delay: 3\n")
    life = await crawled(SmallWeb({**PAGES, f"{SITE}/robots.txt": asks}))
    now, waits = [100.0], []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    pace = Pace(1.0, now=lambda: now[0], sleep=sleep)
    settings = FetchSettings(proxy=life.server.proxy_url)
    fetch = network(Egress(settings), PolitenessSettings(), settings, pace)
    read = PageReader(ReaderSetup((), "en", vector=True)).read
    classes = Classes(folder=str(save_examples(tmp_path)), target="course")
    try:
        ahead = await learn_look_ahead(classes, fetch, read, pace)
    finally:
        await fetch.close()
    assert ahead.rules.probability("people", "course") == 1
    pages = sum(map(sum, (row.values() for row in ahead.rules.counts.values())))
    assert waits.count(3.0) == pages  # between two of them, and after the last
    assert pace.free["uni.test"] <= now[0]
