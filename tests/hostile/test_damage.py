"""A damaged crawl is noticed, reported and repaired as far as possible."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from crawling import Crawled, opilio
from opilio.lab.synthetic.small import SmallWeb, page

PAGES = 30


def web() -> SmallWeb:
    links = {f"http://seed.test/{n}": f"honey {n}" for n in range(PAGES)}
    texts = {
        url: page(f"Honey {n}", f"The bees of hive {n} make honey. " * 5, {"/": "home"})
        for n, url in enumerate(links)
    }
    return SmallWeb({"http://seed.test/": page("Bees", "honey hive", links)} | texts)


@pytest.fixture
async def life(crawled) -> Crawled:
    life = await crawled(web())
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return life


def kept(life: Crawled) -> set[str]:
    return {url for url, (state, _) in life.states().items() if state == "kept"}


async def test_a_sound_crawl_is_called_sound(life: Crawled) -> None:
    told = await opilio("doctor", life.folder)
    assert told.code == 0, told.out
    assert f"the records of {PAGES + 1} pages are complete" in told.out
    told = await opilio("repair", life.folder)
    assert told.out == "Nothing was damaged.\n"


async def test_values_that_were_changed_are_noticed_and_mended(life: Crawled) -> None:
    before = kept(life)
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute(
            "UPDATE link SET url = replace(url, 'seed', 'sfed') WHERE id % 5 = 0"
        )
        db.execute("UPDATE link SET state = 'krpt' WHERE id % 7 = 0")
    told = await opilio("doctor", life.folder)
    assert told.code == 1
    assert "a URL does not match its fingerprint" in told.out
    assert "a link has an unknown state" in told.out
    refused = await life.crawl()
    assert refused.code == 2
    assert "is damaged" in refused.err and "opilio repair" in refused.err
    repaired = await opilio("repair", life.folder)
    assert repaired.code == 0, repaired.err
    assert (await opilio("doctor", life.folder)).code == 0
    assert kept(life) == before
    assert (await life.crawl()).code == 0


@pytest.mark.parametrize("seed", range(4))
async def test_flipped_bytes_lose_no_page(life: Crawled, seed: int) -> None:
    before = kept(life)
    path = life.folder / "crawl.db"
    data = bytearray(path.read_bytes())
    rng = random.Random(seed)
    for _ in range(40):
        data[rng.randrange(4096, len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    ended = await opilio("repair", life.folder)
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert (await opilio("doctor", life.folder)).code == 0
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert kept(life) >= before


async def test_a_crawl_without_a_database_is_rebuilt_from_its_archive(
    life: Crawled,
) -> None:
    before = kept(life)
    for path in life.folder.glob("crawl.db*"):
        path.unlink()
    refused = await life.crawl()
    assert refused.code == 2 and "opilio repair" in refused.err
    for path in life.folder.glob("crawl.db*"):
        path.unlink()
    ended = await opilio("repair", life.folder)
    assert ended.code == 0, ended.err
    assert f"{PAGES + 1} pages were found again in the WARC files" in ended.out
    assert kept(life) == before
    ended = await opilio("search", life.folder, "honey")
    assert ended.code == 0 and "seed.test" in ended.out


async def test_a_torn_archive_is_cut_and_its_pages_are_fetched_again(
    life: Crawled,
) -> None:
    before = kept(life)
    [warc] = (life.folder / "warc").iterdir()
    with warc.open("r+b") as file:
        file.truncate(warc.stat().st_size * 2 // 3)
    refused = await life.crawl()
    assert refused.code == 2 and "opilio repair" in refused.err
    ended = await opilio("repair", life.folder)
    assert ended.code == 0, ended.err
    assert "bytes of incomplete records were cut off" in ended.out
    assert "will be fetched again" in ended.out
    assert (await life.crawl()).code == 0
    assert kept(life) == before
    assert (await opilio("doctor", life.folder)).code == 0


async def test_damage_in_the_middle_of_an_archive_costs_the_pages_there(
    life: Crawled,
) -> None:
    before = kept(life)
    [warc] = (life.folder / "warc").iterdir()
    data = bytearray(warc.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    warc.write_bytes(data)
    told = await opilio("doctor", life.folder)
    assert told.code == 1 and "a record cannot be read" in told.out
    ended = await opilio("repair", life.folder)
    assert "1 pages were lost" in ended.out or "2 pages were lost" in ended.out
    assert (await life.crawl()).code == 0
    assert kept(life) == before


ODD = (
    "UPDATE page SET fetched_at = 'soon'",
    "UPDATE page SET fetched_at = 9e99, parts = '[1, 2]'",
    "UPDATE page SET copy_of = 77777, warc_length = 4611686018427387904",
    "UPDATE link SET found_on = 77777, promise = x'ff'",
    "UPDATE host SET rest_until = 9e999",
    "UPDATE event SET at = 'then', detail = '{'",
    "UPDATE meta SET value = 'one' WHERE key = 'version'",
)


async def test_impossible_values_are_named_and_repaired(life: Crawled) -> None:
    before, sound = kept(life), (life.folder / "crawl.db").read_bytes()
    warc = next((life.folder / "warc").iterdir())
    records = warc.read_bytes()
    for odd in ODD:
        (life.folder / "crawl.db").write_bytes(sound)
        warc.write_bytes(records)
        with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
            db.execute(odd)
        for name, *more in (
            ("status",),
            ("explain", "http://seed.test/3"),
            ("search", "honey"),
            ("export", "-o", life.home / "out.jsonl"),
        ):
            told = await opilio(name, life.folder, *more)
            assert "Traceback" not in told.err, (odd, name, told.err)
            assert told.code in (0, 2), (odd, name, told.err)
        told = await opilio("doctor", life.folder)
        assert told.code == 1 and "opilio repair" in told.out, odd
        repaired = await opilio("repair", life.folder)
        assert repaired.code == 0, (odd, repaired.err)
        assert (await opilio("doctor", life.folder)).code == 0, odd
        assert kept(life) >= before, odd


async def test_notes_that_cannot_be_read_count_as_none(life: Crawled) -> None:
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("UPDATE learnt SET state = x'fffe00'")
    told = await opilio("status", life.folder)
    assert told.code == 0, told.err
