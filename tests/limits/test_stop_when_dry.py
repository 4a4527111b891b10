"""A crawl says how much is left to be found, and ends when that is little."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from crawling import Ended, opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.webs import as_response
from opilio.limits.stop_when_dry import is_dry, left_in_words
from opilio.progress import Estimate
from opilio.store.warc_records import pack_response

DRY = Estimate(found=90.0, left=9.0, low=6.0, high=44.0, recapture=20.0, next=3.0)
POOR = [True] * 4 + [False] * 96


def changed(**values: float) -> Estimate:
    return msgspec.structs.replace(DRY, **values)


def test_a_poor_harvest_with_little_left_is_dry() -> None:
    assert is_dry(POOR, DRY)


@pytest.mark.parametrize(
    ("recent", "estimate"),
    [
        (POOR, None),
        (POOR[:99], DRY),
        ([True] * 5 + [False] * 95, DRY),
        (POOR, changed(next=5.0)),
        (POOR, changed(left=30.0)),
    ],
    ids=["no estimate", "few pages", "good pages", "good links", "much is left"],
)
def test_anything_else_is_not(recent: list[bool], estimate: Estimate | None) -> None:
    assert not is_dry(recent, estimate)


def test_the_estimate_is_told_with_its_range() -> None:
    assert left_in_words(DRY) == "about 9 more to be found (6–44)"


TOPIC = """
name = "bees"
keywords = ["bee", "honey", "hive"]
seeds = ["http://seed.test/"]
"""
BEES, OTHERS, IN_A_ROW = 40, 300, 20
HONEY = "The bee brings honey to the hive. Every hive has bees and honey. "
ROADS = "The road leads over the hill to another town, past a mill and a field. "


def name(number: int) -> str:
    """Numbers in letters, so that the URLs do not look like a calendar's."""
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A web of 40 pages about bees that link to each other, and of 300 about roads."""
    bees = {f"/bee/{name(n)}": f"bee and honey {name(n)}" for n in range(BEES)}
    roads = [f"/road/{name(n)}" for n in range(OTHERS)]
    pages = {"http://seed.test/": page("Bees", HONEY * 9, {**bees, roads[0]: "roads"})}
    for n, path in enumerate(bees):
        own = f"word{n} name{7 * n} thing{n * n} " * 9
        links = {**bees, roads[n]: f"a road {name(n)}"}
        pages[f"http://seed.test{path}"] = page(f"Bee {n}", HONEY * 9 + own, links)
    for n, path in enumerate(roads):
        own = f"place{n} town{3 * n} street{n * n} " * 9
        links = {other: f"road {other}" for other in roads[n : n + IN_A_ROW]}
        pages[f"http://seed.test{path}"] = page(f"Road {n}", ROADS * 5 + own, links)
    web = SmallWeb(pages)
    file = tmp_path_factory.mktemp("web") / "pages.warc.gz"
    with file.open("wb") as written:
        for url in ("http://seed.test/robots.txt", *pages):
            written.write(pack_response(as_response(url, web.respond(url))))
    return file


async def crawl(warc: Path, folder: Path, *options: object) -> Ended:
    topic = folder.with_suffix(".toml")
    topic.write_text(TOPIC)
    given = ["--replay", warc, "-o", folder, "-q", "--max-pages", 0, *options]
    return await opilio("crawl", topic, *given)


OURS = ("--strategy", "opilio", "--judge", "opilio")


async def test_a_crawl_ends_when_little_is_left_and_can_go_on(
    warc: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    ended = await crawl(warc, folder, *OURS, "--stop-when-dry")
    assert ended.code == 0, ended.err
    told = ended.json()
    assert told["ended"] == "dry"
    assert told["kept"] >= BEES
    assert told["pages"] < 250
    assert told["estimate"]["found"] > BEES / 2
    status = (await opilio("status", folder, "--json")).json()
    assert status["estimate"]["left"] == pytest.approx(
        told["estimate"]["left"], abs=0.1
    )
    assert status["last_event"]["detail"] == {"reason": "dry"}
    shown = await opilio("status", folder)
    assert "more to be found (" in shown.out
    more = await opilio("crawl", folder, "-q", "--no-stop-when-dry")
    assert more.json()["ended"] == "exhausted"
    assert more.json()["pages_in_all"] == 1 + BEES + OTHERS


async def test_without_the_option_it_goes_on_to_the_end(
    warc: Path, tmp_path: Path
) -> None:
    ended = await crawl(warc, tmp_path / "crawl", *OURS)
    assert ended.json()["ended"] == "exhausted"
    assert ended.json()["estimate"]["left"] == 0


async def test_a_strategy_without_chances_is_refused(
    warc: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    refused = await crawl(warc, folder, "--strategy", "best-first", "--stop-when-dry")
    assert refused.code == 2
    told = " ".join(refused.err.split())
    assert "'best-first' cannot estimate" in told
    assert "--strategy opilio" in told
    assert not folder.exists()
