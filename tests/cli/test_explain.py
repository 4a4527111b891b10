"""`opilio explain` shows a page that was judged block by block."""

import os
import shutil
from collections.abc import AsyncIterator
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytest_asyncio

from crawling import Crawled, opilio
from opilio.cli.explain import show_parts, show_promise, where_found
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import number_of, opened, summary

TOPIC = """
name = "bees"
keywords = [{ term = "bees", weight = 2.0 }, "honey", "honey bees"]
seeds = ["http://seed.test/"]
"""
KEEPING = """<html><head><title>Keeping</title></head><body>
<nav><a href="/">bees</a> <a href="/sea">sea</a></nav>
<h1>Bee keeping</h1><p>How to keep honey bees, and bees in hives of straw or wood.</p>
<h2>Honey [bold]\x1b[2J\x07</h2><p>Honey is made of nectar, and nectar of flowers.</p>
<h3>Colour</h3><p>It is dark where firs grow, and bright by the linden tree.</p>
<h2>The weather</h2><p>It rains, and then for a long time the sun shines again.</p>
</body></html>"""
LONG = "".join(f"<h2>Part {n}</h2><p>bees {'and much more ' * 9}" for n in range(100))
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees",
            "The bees make honey. " * 20,
            {
                "/old": "Bees, honey, and honey bees",
                "/keeping": "Keeping bees",
                "/long": "All about bees",
                "/lost": "lost",
            },
        ),
        "http://seed.test/old": redirect("http://seed.test/new"),
        "http://seed.test/new": page("New", "Honey is new."),
        "http://seed.test/keeping": SyntheticAnswer(200, (HTML,), KEEPING.encode()),
        "http://seed.test/long": SyntheticAnswer(200, (HTML,), LONG.encode()),
    }
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def done(tmp_path_factory) -> AsyncIterator[Crawled]:
    """A crawl that has ended, for all tests to look at."""
    async with serve(WEB) as server:
        life = Crawled(tmp_path_factory.mktemp("explain"), server, topic_text=TOPIC)
        ended = await life.crawl()
    assert ended.code == 0, ended.err
    yield life


async def shown_to_people(folder: Path, path: str, width: int = 80) -> str:
    """What the command prints in a terminal of that width."""
    url = f"http://seed.test/{path}"
    environment = {**os.environ, "COLUMNS": str(width)}
    ended = await opilio("explain", folder, url, env=environment)
    assert ended.code == 0, ended.err
    return ended.out


async def told_to_programs(folder: Path, path: str) -> dict:
    """What it prints with --json."""
    return (
        await opilio("explain", folder, f"http://seed.test/{path}", "--json")
    ).json()


async def test_programs_get_every_block_with_its_relevance_and_terms(done):
    told = await told_to_programs(done.folder, "keeping")
    assert told["trouble"] == ""
    blocks = {block["heading"]: block for block in told["blocks"] if block["heading"]}
    assert list(blocks) == [
        "Bee keeping",
        blocks_heading(told, "Honey"),
        "Colour",
        "The weather",
    ]
    keeping, honey, colour, weather = blocks.values()
    assert keeping["relevance"] > honey["relevance"] > 0
    assert colour["relevance"] == weather["relevance"] == 0
    assert colour["parent"] == honey["number"]
    assert [block["depth"] for block in blocks.values()] == [0, 1, 2, 1]
    assert honey["terms"] == [
        {"key": "honey", "term": "honey", "count": 2, "weight": 1.0}
    ]
    assert {block["kind"] for block in told["blocks"]} == {"text", "navigation"}
    # The whole page, by the topic's own spelling: what weighs most first.
    counted = {term["term"]: (term["count"], term["weight"]) for term in told["terms"]}
    assert counted == {"bees": (4, 2.0), "honey": (3, 1.0), "honey bees": (1, 1.0)}
    assert next(iter(counted)) == "bees"


def blocks_heading(told: dict, start: str) -> str:
    """The one heading that starts so, whatever became of its control characters."""
    headings = (block["heading"] for block in told["blocks"])
    return next(heading for heading in headings if heading.startswith(start))


@pytest.mark.parametrize("width", [80, 120])
async def test_people_see_the_blocks_below_each_other(done, width: int):
    shown = await shown_to_people(done.folder, "keeping", width)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= width
    start = next(n for n, line in enumerate(lines) if line.startswith("Its blocks"))
    rows = list(takewhile(str.strip, lines[start + 2 :]))
    columns = {
        word: row.index(word)
        for word in ("Bee keeping", "Honey [bold]", "Colour", "The weather")
        for row in rows
        if word in row
    }
    left = columns["Bee keeping"]
    assert list(columns.values()) == [left, left + 2, left + 4, left + 2]
    assert any("bees 3, honey 1, honey bees 1" in row for row in rows)
    assert any("(navigation)" in row for row in rows)
    assert "honey bees\n" in shown  # in the verdict, not as the stems "honey bee"
    assert "honey bee\n" not in shown
    assert not {"\x1b", "\x07"} & set(shown)  # headings do not command the terminal


async def test_a_page_has_its_number_among_pages_and_a_redirect_has_none(done):
    with opened(CrawlFolder(done.folder)) as db:
        pages = summary(db).pages
        numbers = {
            url: number_of(db, id)
            for id, url in db.execute("SELECT id, url FROM link ORDER BY id")
        }
    assert numbers["http://seed.test/old"] == numbers["http://seed.test/lost"] == 0
    assert sorted(filter(None, numbers.values())) == list(range(1, pages + 1))
    last = max(numbers, key=numbers.__getitem__)
    shown = await shown_to_people(done.folder, last.removeprefix("http://seed.test/"))
    assert f"  number       {pages}\n" in shown
    assert "  number" not in await shown_to_people(done.folder, "old")


async def test_the_target_of_a_redirect_has_the_parts_of_the_link_s_promise(done):
    old = await told_to_programs(done.folder, "old")
    new = await told_to_programs(done.folder, "new")
    assert old["link"]["parts"]
    assert new["link"]["parts"] == old["link"]["parts"]


def test_parts_come_largest_first_and_the_sum_of_small_ones_last(capsys):
    show_parts(
        "Its verdict", 0.9, {"a": 0.1, "(8 more)": 0.5, "bee": 0.3}, {"a": "ant"}
    )
    assert [line.split()[1:] for line in capsys.readouterr().out.splitlines()[2:]] == [
        ["bee"],
        ["ant"],
        ["(8", "more)"],
    ]


def test_what_only_lifts_a_link_is_not_part_of_the_promise_that_is_shown(capsys):
    show_promise(500_000.43, {"tier: chosen by chance": 5e5, "s(u)": 0.43})
    lines = capsys.readouterr().out.split("\n")
    assert lines[1:3] == ["Its promise: 0.4300", "      0.4300  s(u)"]
    assert lines[3].startswith("    +500,000  chosen by chance: it is visited before")
    show_promise(-0.8, {"s(u)": 0.2, "tier: behind the front": -1.0})
    shown = capsys.readouterr().out
    assert "Its promise: 0.2000" in shown
    assert "-1  behind the front: it is visited behind" in shown


def test_a_promise_that_was_revised_without_parts_does_not_show_old_ones(capsys):
    show_promise(0.5, {})
    assert "revised since it was found" in capsys.readouterr().out
    show_promise(0.5, None)
    assert "revised" not in capsys.readouterr().out


async def test_of_many_blocks_the_nearest_are_shown(done):
    shown = await shown_to_people(done.folder, "long")
    assert "and 41 that are no nearer" in shown
    told = await told_to_programs(done.folder, "long")
    assert len(told["blocks"]) == 101


async def test_a_url_without_a_page_has_no_blocks(done):
    shown = await shown_to_people(done.folder, "lost")
    assert "unusable: answered 404 (Not Found); found on 1 page" in shown
    assert "blocks" not in shown
    told = await told_to_programs(done.folder, "lost")
    assert (told["blocks"], told["terms"], told["trouble"]) == ([], [], "")


async def test_a_lost_archive_is_told_and_the_rest_shown(done, tmp_path):
    copy = shutil.copytree(done.folder, tmp_path / "copy")
    shutil.rmtree(copy / "warc")
    shown = await shown_to_people(copy, "keeping")
    assert "Its verdict" in shown and "The page" in shown
    assert "Its blocks cannot be shown" in shown
    assert "000001.warc.gz" in shown and "restore it from a backup" in shown
    told = await told_to_programs(copy, "keeping")
    assert told["blocks"] == [] and "is damaged" in told["trouble"]


@pytest.mark.parametrize(
    ("steps", "in_links", "words"),
    [
        (1, 0, "a seed"),
        (1, 2, "a seed, also found on 2 pages"),
        (3, 1, "found on 1 page"),
        (2, 1200, "found on 1,200 pages"),
    ],
)
def test_the_first_line_says_how_a_url_became_known(steps, in_links, words):
    assert where_found(SimpleNamespace(way=[None] * steps, in_links=in_links)) == words
