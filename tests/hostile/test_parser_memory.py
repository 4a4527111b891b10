"""Markup that takes the parser quadratic memory costs one page, wherever it is read."""

from __future__ import annotations

import asyncio
import json

import pytest

from crawling import OPILIO, Crawled, Ended, end_of
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.read import worker
from opilio.read.html import PageReader
from opilio.read.page_texts import PageTexts
from opilio.records import ReaderSetup, Response
from opilio.subject.page_reader import limited_reader

GIB = 2**30
MUCH = 1.75 * GIB  # of address space; numpy's threads take half a GiB of it

# Each attribute of another <html> or <body> is added to the first one.
MERGED = "<html>" + "".join(f"<html b{n}=1>" for n in range(20_000))
# Each paragraph has 500 formatting elements of the one before it opened again.
REOPENED = "<p>" + "".join(f"<b c={n}>" for n in range(500)) + "</p><p>honey" * 40_000
BOMBS = {"merged": MERGED, "reopened": REOPENED}


def bomb(name: str) -> str:
    return page("Bees and honey", "Bees make honey in a hive. " * 20) + BOMBS[name]


async def limited(*arguments: object) -> Ended:
    """Run the command with little memory for each of its processes."""
    process = await asyncio.create_subprocess_exec(
        "prlimit",
        f"--as={int(MUCH)}",
        OPILIO,
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    return await end_of(process)


@pytest.fixture
async def life(crawled) -> Crawled:
    links = {f"http://seed.test/{name}": "honey" for name in BOMBS}
    pages = {"http://seed.test/": page("Bees", "honey hive bee", links)}
    pages |= {url: bomb(url.rpartition("/")[2]) for url in links}
    life = await crawled(SmallWeb(pages))
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    return life


async def test_such_pages_are_crawled_and_exported(life: Crawled) -> None:
    states = dict(life.rows("SELECT url, degraded FROM page JOIN link USING (id)"))
    assert states == {
        "http://seed.test/": None,
        "http://seed.test/merged": "MemoryError",
        "http://seed.test/reopened": "MemoryError",
    }
    out = life.home / "pages.jsonl"
    ended = await limited("export", life.folder, "-o", out)
    assert ended.code == 0, ended.err
    assert "2 pages were too hard to parse" in ended.err
    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert len(texts) == 3
    assert all("honey" in text for text in texts)


async def test_such_pages_are_explained_searched_and_judged_again(
    life: Crawled,
) -> None:
    for command in (
        ("explain", life.folder, "http://seed.test/merged"),
        ("search", life.folder, "honey hive"),
        ("rejudge", life.folder, life.topic),
        ("export", life.folder, "-o", life.home / "pages.warc"),
    ):
        ended = await limited(*command)
        assert ended.code == 0, (command, ended.err)
        assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", BOMBS)
def test_the_text_of_such_a_page_is_found_by_patterns(name: str) -> None:
    texts = PageTexts()
    headers = [("content-type", "text/html; charset=utf-8")]
    response = Response("http://a.test/", 200, headers, bomb(name).encode(), 0.0)
    assert "Bees make honey" in texts.main(response)
    assert "Bees make honey" in texts.visible(response)[0]
    assert texts.degraded == 2


def test_a_page_of_ordinary_size_has_memory_to_spare() -> None:
    """The largest page that is fetched by default is read within the limits."""
    assert worker.MEMORY >= 512 * 2**20
    body = "<p>some <b><i>text</b> of</i> honey <a href=/x>x</a>" * 200_000
    headers = [("content-type", "text/html; charset=utf-8")]
    response = Response("http://a.test/", 200, headers, body.encode(), 0.0)
    setup = ReaderSetup(("honey",), "en", context=True, blocks=True, vector=True)
    with limited_reader(setup) as read:
        found = read(response)
    assert not found.degraded
    assert found.words == PageReader(setup).read(response).words
