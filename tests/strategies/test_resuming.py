"""Every strategy decides after a kill -9 as it would have without."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from crawling import opilio, start_opilio
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import LabWeb, write_web
from opilio.strategies import strategies

PAGES = 36
KILLED_AT = 14  # pages
SETTINGS = "store.min_free = 0\nstore.commit_every = 0.02\n"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> LabWeb:
    folder = tmp_path_factory.mktemp("web")
    (folder / "settings.toml").write_text(SETTINGS)
    return write_web(SyntheticWeb(Dials(pages=300, hosts=8, topics=4)), folder)


def command(web: LabWeb, name: str, folder: Path) -> list[object]:
    topic = next(iter(web.topics.values()))
    replay = [part for warc in web.warcs for part in ("--replay", warc)]
    new = [] if folder.exists() else ["--settings", web.labels.parent / "settings.toml"]
    # What the default judge learns is carried along with the default strategy.
    judge = "opilio" if name == "opilio" else "cosine"
    options = ["--strategy", name, "--judge", judge, "--max-pages", PAGES, "-q"]
    return ["crawl", topic, "-o", folder, *replay, *options, *new]


def order(folder: Path) -> list[str]:
    with (
        closing(sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True)) as db,
        db,
    ):
        return [
            url
            for (url,) in db.execute(
                "SELECT url FROM page JOIN link USING (id) ORDER BY number"
            )
        ]


async def start_and_kill(arguments: list[object], folder: Path, pages: int) -> None:
    process = await start_opilio(
        *arguments, stdout=asyncio.subprocess.DEVNULL, stderr=None
    )
    for _ in range(1500):
        with suppress(sqlite3.OperationalError):
            if process.returncode is not None or len(order(folder)) >= pages:
                break
        await asyncio.sleep(0.02)
    if process.returncode is None:
        process.kill()
    await process.wait()


@pytest.mark.parametrize("name", sorted(strategies()))
async def test_a_killed_crawl_continues_in_the_same_order(
    name: str, web: LabWeb, tmp_path: Path
):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    ended = await opilio(*command(web, name, whole))
    assert ended.code == 0, ended.err
    await start_and_kill(command(web, name, broken), broken, KILLED_AT)
    ended = await opilio(*command(web, name, broken))
    assert ended.code == 0, ended.err
    assert len(order(whole)) >= PAGES
    assert order(broken) == order(whole)
