"""Learning judges give the verdicts after a kill -9 that they would have without."""

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
from vectors.sentence_models import make_letter_model

PAGES = 70
SETTINGS = "store.min_free = 0\nstore.commit_every = 0.02\n"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> LabWeb:
    folder = tmp_path_factory.mktemp("web")
    model = make_letter_model(folder / "model")
    (folder / "settings.toml").write_text(f"{SETTINGS}embedding.model = '{model}'\n")
    return write_web(SyntheticWeb(Dials(pages=400, hosts=8, topics=4)), folder)


def command(web: LabWeb, judge: str, folder: Path) -> list[object]:
    topic = next(iter(web.topics.values()))
    replay = [part for warc in web.warcs for part in ("--replay", warc)]
    new = [] if folder.exists() else ["--settings", web.labels.parent / "settings.toml"]
    options = ["--strategy", "best-first", "--judge", judge]
    return [
        *("crawl", topic, "-o", folder, *replay, *options),
        *("--max-pages", PAGES, "-q", *new),
    ]


def verdicts(folder: Path) -> list[tuple[str, float]]:
    with (
        closing(sqlite3.connect(f"file:{folder}/crawl.db?mode=ro", uri=True)) as db,
        db,
    ):
        return list(
            db.execute(
                "SELECT url, score FROM page JOIN link USING (id) ORDER BY number"
            )
        )


async def start_and_kill(arguments: list[object], folder: Path, pages: int) -> None:
    process = await start_opilio(
        *arguments, stdout=asyncio.subprocess.DEVNULL, stderr=None
    )
    for _ in range(1500):
        with suppress(sqlite3.OperationalError):
            if process.returncode is not None or len(verdicts(folder)) >= pages:
                break
        await asyncio.sleep(0.02)
    if process.returncode is None:
        process.kill()
    await process.wait()


@pytest.mark.parametrize("judge", ["bootstrapped", "opilio", "embedding"])
async def test_a_killed_crawl_judges_on_as_one_that_was_not(
    judge: str, web: LabWeb, tmp_path: Path
):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    ended = await opilio(*command(web, judge, whole))
    assert ended.code == 0, ended.err
    for pages in (15, 45):
        await start_and_kill(command(web, judge, broken), broken, pages)
    ended = await opilio(*command(web, judge, broken))
    assert ended.code == 0, ended.err
    assert len(verdicts(whole)) >= PAGES
    assert verdicts(broken) == verdicts(whole)
