"""`opilio crawl --replay WARC --online`: an archive in front of a real server."""

import asyncio
import os
import re
from itertools import pairwise

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawling import OPILIO, opilio, serving
from opilio import BadInput, Crawl
from opilio.assembly.online_replay import Additions, whole_length
from opilio.fetch.replay import ReplayFetch, additions_to, with_additions
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.records import Response
from opilio.store.warc_records import pack_response, pack_warcinfo

SEED = "http://seed.test/"
ARCHIVED, MISSING = 4, 3


def bees(number: int) -> str:
    return page(f"Bees {number}", f"honey hive bee number {number} " * 3)


PAGES = {
    SEED: page(
        "Bees",
        "honey hive bee",
        {f"/{n}": f"bees {n}" for n in range(ARCHIVED + MISSING)}
        | {"/gone": "lost bees", "/old": "old bees", "/secret": "secret bees"},
    ),
    **{f"{SEED}{n}": bees(n) for n in range(ARCHIVED + MISSING)},
    f"{SEED}old": redirect("/6"),
    f"{SEED}robots.txt": SyntheticAnswer(
        200, (("content-type", "text/plain"),), b"User-agent: *\nDisallow: /secret\n"
    ),
}


def response(url: str, body: str, at: float = 1e9) -> Response:
    return Response(url, 200, (("content-type", "text/html"),), body.encode(), at)


@pytest.fixture
def archive(tmp_path):
    """The seed and the first of its pages."""
    path = tmp_path / "bees.warc.gz"
    known = [SEED, *[f"{SEED}{n}" for n in range(ARCHIVED)]]
    records = [pack_response(response(url, PAGES[url])) for url in known]
    path.write_bytes(pack_warcinfo(path.name, 0.0, {}) + b"".join(records))
    return path


def asked(life) -> list[str]:
    """The paths that the server was asked for, robots.txt apart."""
    found = [request.url.removeprefix(SEED) for request in life.server.requests]
    return [path for path in found if path != "robots.txt"]


def in_file(path) -> list[str]:
    """The URLs of the responses in a WARC file, read by another library."""
    with path.open("rb") as file:
        return [
            record.rec_headers["WARC-Target-URI"]
            for record in ArchiveIterator(file)
            if record.rec_type == "response"
        ]


async def test_only_what_the_archive_lacks_is_fetched_and_then_it_has_it(
    crawled, archive
):
    """Koundal, section 5.A: "the simulation tool can fetch this page from the real Web
    and store it into the local repository"."""
    before = archive.read_bytes()
    life = await crawled(SmallWeb(PAGES))
    ended = await life.crawl("--replay", archive, "--online")
    assert ended.code == 0, ended.err
    assert sorted(asked(life)) == ["4", "5", "6", "gone", "old"]
    added = archive.with_name("bees.added.warc.gz")
    assert ended.json()["archive"] == str(added)
    assert ended.json()["added"] == len(in_file(added)) == 5
    assert archive.read_bytes() == before
    online = life.states()
    assert online[f"{SEED}secret"] == ("unusable", "robots")
    assert online[f"{SEED}gone"] == ("unusable", "http_404")
    assert online[f"{SEED}5"] == ("kept", None)

    shown = await opilio("status", life.folder)
    assert "a second" not in shown.out  # the dates are partly those of the archive

    # Without the web: all that was fetched is replayed.
    await life.stop_server()
    life.server, life.folder = None, life.home / "again"
    ended = await life.crawl("--replay", archive)
    assert ended.code == 0, ended.err
    again = life.states()
    assert again.pop(f"{SEED}secret") == ("unusable", "not_archived")
    del online[f"{SEED}secret"]
    assert again == online


async def test_a_second_online_run_asks_for_nothing_it_has(crawled, archive):
    life = await crawled(SmallWeb(PAGES))
    await life.crawl("--replay", archive, "--online")
    life.server.requests.clear()
    size = additions_to(archive).stat().st_size
    life.folder = life.home / "again"
    ended = await life.crawl("--replay", archive, "--online")
    assert asked(life) == []
    assert ended.json()["added"] == 0
    assert additions_to(archive).stat().st_size == size


async def test_links_that_were_not_archived_get_another_chance_online(crawled, archive):
    life = await crawled(SmallWeb(PAGES))
    await life.crawl("--replay", archive)
    assert life.states()[f"{SEED}5"] == ("unusable", "not_archived")
    assert asked(life) == []
    ended = await life.crawl("--online", "--delay", 0)
    assert ended.code == 0, ended.err
    assert life.states()[f"{SEED}5"] == ("kept", None)
    assert sorted(asked(life)) == ["4", "5", "6", "gone", "old"]


async def test_people_are_told_what_is_missing_and_what_was_added(crawled, archive):
    life = await crawled(SmallWeb(PAGES))
    told = await on_terminal(*life.command("--replay", archive))
    assert "6 links are not in the WARC files; --online fetches them" in told
    told = await on_terminal(*life.command("--online", "--delay", 0))
    assert f"Added 5 responses to {additions_to(archive)}" in told
    assert "not in the WARC files" not in told


async def on_terminal(*arguments: object) -> str:
    """What the command prints on a terminal."""
    ours, theirs = os.openpty()
    process = await asyncio.create_subprocess_exec(
        OPILIO, *map(str, arguments), stdout=theirs, stderr=asyncio.subprocess.DEVNULL
    )
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as file:
        assert await asyncio.wait_for(process.wait(), 60) == 0
        return re.sub(r"\x1b\[[0-9;]*m", "", file.read(2**16).decode())


async def test_a_replay_that_goes_online_keeps_the_usual_delay(crawled, archive):
    life = await crawled(SmallWeb(PAGES), settings_text="[store]\nmin_free = 0\n")
    await life.crawl("--replay", archive)
    assert "delay = 0.0" in (life.folder / "crawl.toml").read_text()
    await life.crawl("--online", "--max-pages", 7)
    moments = [request.at for request in life.server.requests]
    assert len(moments) >= 3
    assert all(b - a > 0.95 for a, b in pairwise(moments))


async def test_archived_pages_do_not_wait_for_the_delay_of_their_host(crawled, archive):
    web = {url: PAGES[url] for url in (SEED, *[f"{SEED}{n}" for n in range(ARCHIVED)])}
    web[SEED] = page("Bees", "honey", {f"/{n}": "bees" for n in range(ARCHIVED)})
    life = await crawled(SmallWeb(web))
    archive.write_bytes(
        pack_warcinfo(archive.name, 0.0, {})
        + b"".join(pack_response(response(url, body)) for url, body in web.items())
    )
    ended = await asyncio.wait_for(
        life.crawl("--replay", archive, "--online", "--delay", 100), 30
    )
    assert ended.json()["pages"] == 1 + ARCHIVED
    assert asked(life) == []


async def test_a_killed_crawl_leaves_an_archive_that_can_be_read(crawled, archive):
    many = 60
    web = {SEED: page("Bees", "honey", {f"/{n}": f"bees {n}" for n in range(many)})}
    web |= {f"{SEED}{n}": bees(n) for n in range(many)}
    archive.write_bytes(
        pack_warcinfo(archive.name, 0.0, {}) + pack_response(response(SEED, web[SEED]))
    )
    life = await crawled(SmallWeb(web))
    for pages in (8, 30):
        process = await life.start("--replay", archive, "--online", "--delay", 0.02)
        await asyncio.wait_for(life.until_committed(pages), 60)
        process.kill()
        await process.wait()
        assert len(in_file(additions_to(archive))) >= pages - 1
    ended = await life.crawl("--replay", archive, "--online", "--delay", 0)
    assert ended.code == 0, ended.err
    assert sorted(in_file(additions_to(archive))) == sorted(set(web) - {SEED})
    twice = [path for path in asked(life) if asked(life).count(path) > 1]
    assert len(twice) <= 2 * 2  # those in flight when it was killed


async def test_an_incomplete_record_is_cut_off_before_more_is_added(tmp_path):
    path = tmp_path / "web.added.warc.gz"
    additions = Additions(path)
    additions.add(response(SEED, "one " * 1000))
    additions.add(response(f"{SEED}2", "two " * 1000))
    additions.close()
    whole = path.read_bytes()
    last = len(whole) - len(pack_response(response(f"{SEED}2", "two " * 1000)))
    for size in (len(whole) - 1, last + 5, last + 600):
        path.write_bytes(whole[:size])
        # A reader that comes in between finds what is whole.
        replay = ReplayFetch([path])
        assert (await replay.fetch(SEED)).body == b"one " * 1000
        await replay.close()
        reopened = Additions(path)
        assert len(path.read_bytes()) in (last, last + request_length(last, whole))
        reopened.add(response(f"{SEED}3", "three"))
        reopened.close()
        assert in_file(path) == [SEED, f"{SEED}3"]
    assert whole_length(path) == path.stat().st_size


def request_length(start: int, whole: bytes) -> int:
    """The length of the request's record, which comes before that of the response."""
    return whole.index(b"\x1f\x8b\b", start + 1) - start


def test_files_that_were_added_to_an_archive_are_read_after_it(tmp_path):
    first, other = tmp_path / "a.warc", tmp_path / "b.warc.gz"
    assert additions_to(first) == tmp_path / "a.added.warc.gz"
    assert with_additions([first, other]) == [first, other]
    additions_to(other).write_bytes(b"")
    both = [first, other, additions_to(other)]
    assert with_additions([first, other]) == with_additions(both) == both


async def test_online_needs_an_archive(crawled):
    life = await crawled(SmallWeb(PAGES))
    ended = await life.crawl("--online")
    assert ended.code == 2
    assert "--replay WARC" in ended.err
    assert not life.folder.exists()
    with pytest.raises(BadInput, match="WARC"):
        Crawl(life.folder, life.topic, online=True)


async def test_two_crawls_cannot_add_to_one_archive(crawled, archive):
    life = await crawled(SmallWeb(PAGES))
    held = Additions(additions_to(archive))
    ended = await life.crawl("--replay", archive, "--online")
    held.close()
    assert ended.code == 2
    assert re.search(r"another crawl is adding to .*bees\.added", ended.err)


async def test_what_cannot_be_written_is_said(crawled, archive):
    life = await crawled(SmallWeb(PAGES))
    additions_to(archive).mkdir()
    ended = await life.crawl("--replay", archive, "--online")
    assert ended.code == 2
    assert "bees.added.warc.gz, which cannot be written" in ended.err


async def test_going_online_needs_a_contact(archive, tmp_path):
    topic = tmp_path / "bees.toml"
    topic.write_text('name = "bees"\nkeywords = ["bee"]\nseeds = ["http://1.2.3.4/"]\n')
    ended = await opilio("crawl", topic, "--replay", archive, "--online", "-q")
    assert ended.code == 2
    assert "--contact" in ended.err


def test_a_program_can_go_online(archive, tmp_path):
    with serving(SmallWeb(PAGES)) as server:
        crawl = Crawl(
            tmp_path / "crawl",
            seeds=SEED,
            topic=_topic(tmp_path),
            replay=[archive],
            online=True,
            proxy=server.proxy_url,
            delay=0,
            min_free=0,
        )
        assert crawl.run().pages == 1 + ARCHIVED + MISSING
    assert len(in_file(additions_to(archive))) == 5


def _topic(folder):
    path = folder / "topic.toml"
    path.write_text('name = "bees"\nkeywords = ["bee", "honey", "hive"]\n')
    return path
