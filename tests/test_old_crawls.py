"""Crawl folders made by version 0.1.0.dev0 still open, resume, search and export."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crawling import opilio
from old_crawls import old_crawl, web
from opilio.lab.synthetic.server import serve

VISITED = {
    "bees": ["http://seed.test/", "http://hive.test/"]
    + [f"http://hive.test/{n}" for n in (1, 2, 3, 5, 6, 7)],
    "computers": ["http://seed.test/", "http://pc.test/"]
    + [f"http://pc.test/{n}" for n in (1, 2, 3)],
}
FOUND = {
    "bees": {f"http://hive.test/{n}" for n in (4, 8)},
    "computers": {f"http://pc.test/{n}" for n in (4, 5, 6)},
}
QUERY = {"bees": "queen bee", "computers": "mainboard"}


def pages(folder: Path) -> list[tuple[str, str]]:
    """URL and state of each page, in the order of the visits."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        return db.execute(
            "SELECT url, state FROM page JOIN link USING (id) ORDER BY number"
        ).fetchall()


@pytest.mark.parametrize("name", VISITED)
async def test_an_old_crawl_shows_its_status_and_explains_its_pages(
    name: str, tmp_path: Path
):
    folder = old_crawl(name, tmp_path)
    status = await opilio("status", folder, "--json")
    assert status.code == 0, status.err
    assert status.json()["pages"] == len(VISITED[name])
    explained = await opilio("explain", folder, VISITED[name][1])
    assert explained.code == 0, explained.err
    assert VISITED[name][1] in explained.out


@pytest.mark.parametrize("name", VISITED)
async def test_an_old_crawl_resumes_where_it_was(name: str, tmp_path: Path):
    folder = old_crawl(name, tmp_path)
    async with serve(web()) as server:
        ended = await opilio(
            *("crawl", folder, "--max-pages", 50, "--proxy", server.proxy_url, "-q")
        )
    assert ended.code == 0, ended.err
    assert ended.json()["ended"] == "exhausted"
    visits = pages(folder)
    before = VISITED[name]
    assert [url for url, _ in visits[: len(before)]] == before
    assert len(visits) == len({url for url, _ in visits}) == len(web().answers)
    # What was learnt still counts: the relevant pages that waited come first.
    new = [url for url, _ in visits[len(before) :]]
    assert set(new[: len(FOUND[name])]) == FOUND[name]
    assert FOUND[name] <= {url for url, state in visits if state == "kept"}


@pytest.mark.parametrize("name", VISITED)
async def test_an_old_crawl_is_searched_and_exported(name: str, tmp_path: Path):
    folder = old_crawl(name, tmp_path)
    found = await opilio("search", folder, QUERY[name], "--json")
    assert found.code == 0, found.err
    results = found.json()["hits"]
    assert results
    assert {each["url"] for each in results} <= set(VISITED[name])
    exported = await opilio("export", folder, "-o", tmp_path / "pages.jsonl")
    assert exported.code == 0, exported.err
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    assert sorted(json.loads(line)["url"] for line in lines) == sorted(VISITED[name])
