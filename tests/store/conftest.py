"""A crawl of a few pages that the tests of exports share."""

import json
from pathlib import Path

import pytest

from opilio.records import Response
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import WarcWriter
from opilio.store.warc_records import pack_metadata, pack_response

AT = 1_700_000_000.5
SITE = "http://example.test"


def add(db, writer, number, **facts):
    """One page of a crawl: its WARC records and its rows."""
    page = {
        "title": f"page {number}",
        "score": 0.5,
        "relevant": 1,
        "noindex": 0,
        "copy_of": None,
        "state": "kept",
    } | facts
    body = f"<html><p>text of {number}</html>".encode()
    headers = (("content-type", "text/html"),)
    response = Response(f"{SITE}/{number}", 200, headers, body, AT)
    metadata = pack_metadata(response, {"score": str(page["score"])})
    db.execute(
        "INSERT INTO link (id, url, fingerprint, host, state, promise, parts) "
        "VALUES (?, ?, ?, 1, ?, 1, '{\"of the link\": 1}')",
        (number, response.url, number, page["state"]),
    )
    db.execute(
        "INSERT INTO page (id, number, fetched_at, status, language, bytes, parts, "
        "title, score, relevant, noindex, copy_of, warc, warc_offset, warc_length) "
        "VALUES (?, ?, ?, 200, 'en', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(number, number, AT, len(body), json.dumps({"cosine": page["score"]})),
            *(page["title"], page["score"], page["relevant"]),
            *(page["noindex"], page["copy_of"]),
            *writer.append(pack_response(response) + metadata),
        ),
    )


@pytest.fixture
def crawl(tmp_path: Path) -> CrawlFolder:
    """The folder of a crawl of seven pages, of which four can be exported."""
    folder = CrawlFolder(tmp_path / "crawl")
    folder.make()
    (folder.path / "crawl.toml").write_text('[topic]\nname = "letters"\n')
    db = open_database(folder.database)
    writer = WarcWriter(folder.warcs, db, max_bytes=1500)
    db.execute("INSERT INTO host (id, name, domain) VALUES (1, 'example.test', 'x')")
    add(db, writer, 1, score=0.2, relevant=0, state="irrelevant")
    add(db, writer, 2, score=0.9, title="Größe, \"Maß\"\nund '漢字'")
    add(db, writer, 3, score=0.7, title='=HYPERLINK("http://evil.test")')
    add(db, writer, 4, score=0.8, noindex=1)
    add(db, writer, 5, score=0.9)
    add(db, writer, 6, score=None, relevant=None, state="unusable")
    add(db, writer, 7, score=None, relevant=None, copy_of=2, state="copy")
    writer.record_length()
    writer.close()
    db.close()
    return folder
