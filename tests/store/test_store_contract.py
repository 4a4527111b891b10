"""What a store saved is there when it is opened again: by the same crawl from crawl.db,
and by the next owner of its shards from PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opilio.cluster.changes import take_changes
from opilio.cluster.connection import open_postgres
from opilio.cluster.elsewhere import SeenElsewhere
from opilio.cluster.load import Loader, load_shards
from opilio.cluster.parts import RoundFolder
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.schema import SHARDS
from opilio.cluster.shards import HeldShards, register_worker, shard_of
from opilio.cluster.sharing import ShardFrontier, ShardStore
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import (
    Lease,
    Link,
    MainText,
    Ranked,
    Reads,
    Response,
    State,
    Verdict,
)
from opilio.settings import BoundsSettings, PolitenessSettings, StoreSettings
from opilio.storage.warc_places import write_places
from opilio.store.store import Store
from opilio.store.stored_responses import StoredResponses
from opilio.store.warc_records import pack_response
from opilio.subject.compile import compile_topic, setup_for
from opilio.subject.page_reader import make_reader
from opilio.text import urls
from opilio.topic import Topic
from through_postgres import emptied_dsn as emptied_dsn
from through_postgres import postgres as postgres
from through_postgres import shared_database as shared_database

HTML = (("content-type", "text/html; charset=utf-8"),)
TEXT = "<title>Größe \x00 漢字</title><p>The bee makes honey in its hive. " * 9
TEXT += '<a href="http://b.test/">more</a> <a href="http://c.test/">bees</a>'
BODIES = {
    "http://a.test/": TEXT.encode(),
    "http://b.test/": TEXT.encode(),  # a copy
    "http://c.test/": TEXT.replace("hive", "hive!").encode(),  # a near copy
    "http://d.test/": b"",  # redirects to a.test
    "http://e.test/": b"\x00\x01 no page",
}
CALM = PolitenessSettings(delay=0.0, ip_delay=0.0)

Reopen = Callable[[], Store]


class Kept:
    """A store with its frontier, which can be opened again."""

    def __init__(self, path: Path, dsn: str) -> None:
        self.path, self.dsn, self.trips = path, dsn, 0
        self.source: Any = None
        if dsn:
            self.source = open_postgres(dsn)
            self.held = HeldShards(register_worker(self.source, "test:1", 1e4), 1e4)
            self.held.take(self.source, SHARDS)
            self.recorder = Recorder(dsn, self.held)
        self.open(RoundFolder(path / "work" / "00001-001"))

    def open(self, folder: RoundFolder) -> None:
        self.folder = folder
        folder.make()
        make = ShardStore if self.dsn else Store
        self.store = make(folder, StoreSettings(min_free=0))
        frontier = ShardFrontier if self.dsn else SqliteFrontier
        if isinstance(self.store, ShardStore):
            self.store.watch()
        self.frontier = frontier(self.store.db, CALM, BoundsSettings())
        if isinstance(self.store, ShardStore):
            self.frontier.shards = self.held
            self.store.frontier = self.frontier

    async def reopen(self) -> None:
        """Open what was committed, in PostgreSQL as the next owner does."""
        await self.frontier.flush()
        self.store.index_rest()
        self.store.warc.flush()
        self.store.warc.record_length()
        places = {}
        if self.dsn:
            prefix, store = self.folder.prefix, self.store
            changes = take_changes(store.db, shard_of, self.held, prefix)
            parts = self.folder.parts(store.db)
            places = {name: place for name, (_, place, _) in parts.items()}
            batch = RecordBatch(changes, [], [], parts, self.held.epochs)
            self.recorder.write(batch)
        self.store.db.commit()
        self.store.close()
        if not self.dsn:
            self.open(self.folder)
            return
        self.trips += 1
        folder = RoundFolder(self.path / "work" / f"00001-{self.trips + 1:03}")
        folder.make()
        load_shards(self.source, folder, range(SHARDS), Loader.load_rest)
        write_places(folder.warcs, places)
        self.open(folder)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.store.db.execute(query).fetchall()

    def url(self, id: int) -> str:
        [(url,)] = self.rows(f"SELECT url FROM link WHERE id = {id}")
        return str(url)

    def close(self) -> None:
        self.store.close()
        if self.dsn:
            self.recorder.close()
            self.source.close()


@pytest.fixture(params=["sqlite", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    dsn = ""
    if request.param == "postgres":
        dsn = request.getfixturevalue("emptied_dsn")
    with closing(Kept(tmp_path, dsn)) as made:
        yield made


def reader() -> Any:
    subject = compile_topic(Topic(name="bees", keywords=("bee", "honey")))
    return make_reader(setup_for(subject, Reads(sequence=True)))


async def lease_of(kept: Kept, url: str) -> Lease:
    link = Link(url, urls.fingerprint(url))
    await kept.frontier.add([Ranked(link, 0.5, {"words": 0.5})])
    lease = await kept.frontier.take()
    assert lease is not None and lease.url == url
    return lease


async def save(kept: Kept, url: str) -> None:
    """Save a page as a crawl does."""
    store, lease = kept.store, await lease_of(kept, url)
    body = BODIES[url]
    status = 200 if body else 302
    response = Response(url, status, HTML, body, 1e9 + lease.id)
    content = urls.fingerprint(body)
    state, reason = State.KEPT, ""
    if not body:
        store.save_redirect(lease, response, id_of(kept, "http://a.test/"))
        state, reason = State.COPY, "redirect"
    elif original := store.seen.find(content):
        store.save_copy(lease, response, original, content)
        state, reason = State.COPY, "content"
    elif b"\x00\x01" in body:
        store.save_unread(lease, response)
        state, reason = State.UNUSABLE, "binary"
    else:
        page, record = reader().read(response), pack_response(response)
        if original := store.near.find(page.simhash):
            store.save_near_copy(lease, response, record, content, page, original)
            state, reason = State.COPY, "near"
        else:
            found = [Ranked(link, 0.25) for link in page.links]
            links = await kept.frontier.add(found, via=lease)
            verdict = Verdict(0.75, True, {"keywords": 0.75})
            store.save_page(lease, response, record, content, page, verdict, links)
            store.save_extraction(lease.id, MainText(b"packed"))
    await kept.frontier.done(lease, state, reason)


def id_of(kept: Kept, url: str) -> int:
    [(id,)] = kept.rows(f"SELECT id FROM link WHERE url = '{url}'")
    return int(id)


def facts(kept: Kept) -> dict[str, Any]:
    """What the store knows, without ids and names of files."""
    store, stored = kept.store, StoredResponses(kept.folder.warcs)
    places = kept.rows(
        "SELECT url, warc, warc_offset, warc_length "
        "FROM page JOIN link USING (id) ORDER BY number"
    )
    return {
        "pages": kept.rows(
            "SELECT link.url, link.state, link.reason, fetched_at, status, mime, "
            "charset, language, title, page.words, bytes, truncated, degraded, "
            "noindex, content, simhash, original.url, score, relevant, page.parts "
            "FROM page JOIN link USING (id) LEFT JOIN link AS original "
            "ON original.id = copy_of ORDER BY number"
        ),
        "edges": kept.rows(
            "SELECT a.url, b.url FROM edge JOIN link AS a ON a.id = page "
            "JOIN link AS b ON b.id = edge.link ORDER BY 1, 2"
        ),
        "texts": kept.rows("SELECT url, packed FROM extracted JOIN link USING (id)"),
        "indexed": kept.rows(
            "SELECT url, indexed.words, features FROM indexed "
            "JOIN link ON link.id = page ORDER BY url"
        ),
        "bodies": [
            (url, response and (response.status, response.content))
            for url, *place in places
            for response in [stored.response(*place)]
        ],
        "trouble": stored.trouble,
        "outcomes": [store.catalogue.outcome_of(id_of(kept, url)) for url in BODIES],
        "events": kept.rows("SELECT at, kind, detail FROM event ORDER BY at"),
    }


async def test_what_was_saved_is_there_again(kept: Kept) -> None:
    for url in BODIES:
        await save(kept, url)
    kept.store.catalogue.save_event("noted", why="a test")
    await kept.frontier.flush()
    kept.store.index_rest()
    kept.store.warc.flush()
    before = facts(kept)
    states = {row[0]: row[1:3] for row in before["pages"]}
    assert states["http://b.test/"] == ("copy", "content")
    assert states["http://c.test/"] == ("copy", "near")
    assert before["indexed"] and before["texts"] and not before["trouble"]
    await kept.reopen()
    after = facts(kept)
    if kept.dsn:  # which refuses NUL in texts
        assert "\0" not in repr(after)
        before = clean(before)
    assert after == before


def clean(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.replace("\0", "\ufffd")
    if isinstance(cell, dict):
        return {name: clean(value) for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return type(cell)(map(clean, cell))
    return cell


async def test_copies_of_earlier_pages_are_recognised(kept: Kept) -> None:
    await save(kept, "http://a.test/")
    await kept.reopen()
    await kept.reopen()
    for url, how in (("http://b.test/", "content"), ("http://c.test/", "near")):
        await save(kept, url)
        query = "SELECT reason, copy_of FROM page JOIN link USING (id) WHERE url = "
        [(reason, original)] = kept.rows(f"{query}'{url}'")
        assert (reason, kept.url(original)) == (how, "http://a.test/")


async def test_copies_of_pages_of_other_workers_are_recognised(
    tmp_path: Path, emptied_dsn: str
) -> None:
    with closing(Kept(tmp_path, emptied_dsn)) as kept:
        page = reader().read(Response("http://x.test/", 200, HTML, TEXT.encode(), 1e9))
        content = urls.fingerprint(TEXT.encode())
        seen = SeenElsewhere("http://x.test/", content, page.simhash, 1e9)
        kept.store.elsewhere.add(seen)
        for url in ("http://b.test/", "http://c.test/"):
            await save(kept, url)
        await kept.reopen()
        copies = kept.rows("SELECT url, reason FROM page JOIN link USING (id)")
        assert copies == [("http://b.test/", "content"), ("http://c.test/", "near")]
        told = kept.source.execute("SELECT copy_of FROM opilio.page").fetchall()
        assert told == [(urls.fingerprint("http://x.test/"),)] * 2
