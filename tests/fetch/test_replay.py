"""A web from WARC files: the same answers every time."""

from __future__ import annotations

import gzip
import os
import tomllib
from pathlib import Path

import pytest

from opilio.errors import BadInput, Unusable
from opilio.fetch import replay
from opilio.fetch.replay import ReplayFetch
from opilio.records import Response
from opilio.store.warc_records import (
    pack_metadata,
    pack_response,
    pack_revisit,
    pack_warcinfo,
)

WEBS = Path(__file__).parents[2].parent / "shared" / "webs"
SITE = "http://example.test"
PAGE = b"<html><title>page</title><p>words</html>"


def answer(path, status=200, body=PAGE, content_type="text/html", **more):
    headers = (("content-type", content_type), *more.pop("headers", ()))
    return Response(SITE + path, status, headers, body, more.pop("at", 1e9), **more)


def write(path, *records):
    info = pack_warcinfo(path.name, 0.0, {"software": "test"})
    path.write_bytes(info + b"".join(records))
    return path


async def refused(fetch, path):
    with pytest.raises(Unusable) as caught:
        await fetch.fetch(SITE + path)
    return caught.value


@pytest.fixture
async def web(tmp_path):
    wire = gzip.compress(PAGE * 3)
    path = write(
        tmp_path / "web.warc.gz",
        pack_response(answer("/words", body=b"words", content_type="text/plain")),
        pack_response(answer("/")),
        pack_metadata(answer("/"), {"score": "1"}),
        pack_response(answer("/gone", 404)),
        pack_response(answer("/broken", 503)),
        pack_response(answer("/old", 301, b"", headers=(("location", "/new"),))),
        pack_response(answer("/lost", 302, b"")),
        pack_response(
            answer("/paper", body=b"%PDF-1.4", content_type="application/pdf")
        ),
        pack_response(answer("/zip", body=b"PK\x03\x04....")),
        pack_response(
            answer(
                "/packed",
                body=PAGE * 3,
                wire=wire,
                headers=(("content-encoding", "gzip"),),
            )
        ),
        pack_response(
            answer("/bad", body=PAGE, headers=(("content-encoding", "gzip"),))
        ),
        pack_revisit(answer("/copy", at=2e9), f"{SITE}/packed", 1e9),
    )
    fetch = ReplayFetch([path])
    yield fetch
    await fetch.close()


async def test_a_page_comes_back_as_it_was(web):
    response = await web.fetch(f"{SITE}/")
    assert response.url == f"{SITE}/"
    assert (response.status, response.body) == (200, PAGE)
    assert response.fetched_at == 1e9
    assert response.header("content-type") == "text/html"


async def test_the_canonical_url_is_what_counts(web):
    assert (await web.fetch("HTTP://EXAMPLE.test:80/#top")).body == PAGE


async def test_content_codings_are_removed(web):
    response = await web.fetch(f"{SITE}/packed")
    assert response.body == PAGE * 3
    assert response.wire == gzip.compress(PAGE * 3)


async def test_a_copy_has_the_body_of_its_original(web):
    response = await web.fetch(f"{SITE}/copy")
    assert response.url == f"{SITE}/copy"
    assert response.body == PAGE * 3


async def test_a_redirect_is_an_answer(web):
    response = await web.fetch(f"{SITE}/old")
    assert (response.status, response.header("location")) == (301, "/new")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/gone", "http_404"),
        ("/broken", "http_503"),
        ("/lost", "bad_redirect"),
        ("/words", "not_html"),
        ("/zip", "not_html"),
        ("/bad", "bad_encoding"),
    ],
)
async def test_what_is_no_page_is_unusable_for_ever(web, path, reason):
    error = await refused(web, path)
    assert error.reason == reason
    assert error.contacted


async def test_what_was_not_archived_is_told_apart(web):
    error = await refused(web, "/never-seen")
    assert error.reason == "not_archived"
    assert not error.contacted
    with pytest.raises(Unusable) as caught:
        await web.fetch("mailto:someone@example.test")
    assert caught.value.reason == "bad_url"


async def test_the_last_record_of_a_url_answers(tmp_path):
    first = write(
        tmp_path / "1.warc.gz",
        pack_response(answer("/a", body=PAGE + b"1")),
        pack_response(answer("/a", body=PAGE + b"2")),
        pack_response(answer("/b", body=PAGE + b"3")),
    )
    second = write(tmp_path / "2.warc.gz", pack_response(answer("/b", 410)))
    fetch = ReplayFetch([first, second])
    assert (await fetch.fetch(f"{SITE}/a")).body == PAGE + b"2"
    assert (await refused(fetch, "/b")).reason == "http_410"
    await fetch.close()
    fetch = ReplayFetch([second, first])
    assert (await fetch.fetch(f"{SITE}/b")).body == PAGE + b"3"
    await fetch.close()


@pytest.mark.parametrize("compress", [gzip.compress, bytes])
async def test_archives_of_older_tools_are_read(tmp_path, compress):
    records = []
    for path in ("/x", "/y"):
        http = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE
        http += path.encode()
        head = (
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
            f"WARC-Target-URI: <{SITE}{path}>\r\nWARC-Record-ID: <urn:uuid:{path}>\r\n"
            "Content-Type: application/http;msgtype=response\r\n"
            f"Content-Length: {len(http)}\r\n\r\n"
        )
        records.append(compress(head.encode() + http + b"\r\n\r\n"))
    archive = tmp_path / "other.warc"
    archive.write_bytes(b"".join(records))
    fetch = ReplayFetch([archive])
    response = await fetch.fetch(f"{SITE}/y")
    assert (response.body, response.fetched_at) == (PAGE + b"/y", 1577836800.0)
    await fetch.close()


def scans(monkeypatch):
    """Count how often an archive is read from end to end."""
    scanned = []
    scan = replay.scan
    monkeypatch.setattr(replay, "scan", lambda path: scanned.append(path) or scan(path))
    return scanned


async def test_an_archive_is_scanned_once(tmp_path, monkeypatch):
    archive = write(tmp_path / "web.warc.gz", pack_response(answer("/a")))
    cache = tmp_path / "cache"
    scanned = scans(monkeypatch)
    for _ in range(3):
        fetch = ReplayFetch([archive], cache)
        assert (await fetch.fetch(f"{SITE}/a")).body == PAGE
        await fetch.close()
    assert len(scanned) == 1


async def test_a_changed_archive_is_scanned_again(tmp_path, monkeypatch):
    archive = write(tmp_path / "web.warc.gz", pack_response(answer("/a")))
    cache = tmp_path / "cache"
    await ReplayFetch([archive], cache).close()
    write(archive, pack_response(answer("/b")))
    os.utime(archive, ns=(1, 1))
    scanned = scans(monkeypatch)
    fetch = ReplayFetch([archive], cache)
    assert (await fetch.fetch(f"{SITE}/b")).body == PAGE
    assert (await refused(fetch, "/a")).reason == "not_archived"
    assert len(scanned) == 1
    await fetch.close()


@pytest.mark.parametrize("spoilt", [b"", b"nonsense", b"\x91\x93\x01\xa1x\x00"])
async def test_a_spoilt_index_is_made_anew(tmp_path, spoilt):
    archive = write(tmp_path / "web.warc.gz", pack_response(answer("/a")))
    cache = tmp_path / "cache"
    await ReplayFetch([archive], cache).close()
    (index,) = cache.iterdir()
    index.write_bytes(spoilt)
    fetch = ReplayFetch([archive], cache)
    assert (await fetch.fetch(f"{SITE}/a")).body == PAGE
    await fetch.close()


async def test_a_cache_that_cannot_be_written_is_done_without(tmp_path):
    archive = write(tmp_path / "web.warc.gz", pack_response(answer("/a")))
    fetch = ReplayFetch([archive], archive / "no-folder")
    assert (await fetch.fetch(f"{SITE}/a")).body == PAGE
    await fetch.close()


def test_a_missing_archive_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"none\.warc\.gz"):
        ReplayFetch([tmp_path / "none.warc.gz"])


def test_what_is_no_archive_is_named(tmp_path):
    path = tmp_path / "broken.warc.gz"
    path.write_bytes(b"\x1f\x8b" + b"no archive at all" * 100)
    with pytest.raises(BadInput, match=r"broken\.warc\.gz"):
        ReplayFetch([path])


@pytest.mark.skipif(
    not WEBS.is_dir(), reason="../shared/webs is not beside the project"
)
async def test_the_school_web_is_replayed_whole(tmp_path):
    folder = WEBS / "schools-mixed"
    described = tomllib.loads((folder / "web.toml").read_text())
    fetch = ReplayFetch([folder / name for name in described["warcs"]], tmp_path)
    labels = (folder / described["labels"]).read_text().splitlines()
    pages = sorted({line.split("\t")[0] for line in labels})
    assert len(fetch.places) >= len(pages) > 4000
    for url in pages[::100]:
        response = await fetch.fetch(url)
        assert response.status == 200
        assert b"</html>" in response.body
    await fetch.close()
