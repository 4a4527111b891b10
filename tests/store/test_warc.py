"""WARC records that other tools open whole, and files that survive a crash."""

from __future__ import annotations

import gzip
import threading
import zlib
from datetime import UTC, datetime
from io import BytesIO

import brotli
import fastwarc.warc
import msgspec
import pytest
import warcio.archiveiterator
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.records import Response
from opilio.storage.database import open_database
from opilio.store.warc_files import WarcWriter, read_record
from opilio.store.warc_records import (
    date,
    pack_metadata,
    pack_response,
    pack_revisit,
    pack_warcinfo,
)

BODY = b"<html><title>Steam</title>" + b"engines on rails " * 200
AT = 1_700_000_000.123456


def answer(url="http://example.test/a/b?c=d", body=BODY, headers=(), **more):
    return Response(
        url,
        more.pop("status", 200),
        (("content-type", "text/html"), *headers),
        body,
        more.pop("fetched_at", AT),
        ip="192.0.2.7",
        request=(
            ("user-agent", "opilio/1"),
            ("authorization", "Basic c2VjcmV0"),
            ("Cookie", "sid=c2VjcmV0"),
            ("proxy-authorization", "Basic c2VjcmV0"),
        ),
        **more,
    )


def by_warcio(data):
    """Every record with its content, digests checked."""
    found = []
    for record in warcio.archiveiterator.ArchiveIterator(
        BytesIO(data), check_digests="raise"
    ):
        http = record.http_headers
        found.append(
            (record.rec_type, record.rec_headers, http, record.raw_stream.read())
        )
    return found


def by_fastwarc(data):
    """The type and content of every record, digests checked."""
    found = []
    for record in fastwarc.warc.ArchiveIterator(BytesIO(data)):
        if record.record_type == fastwarc.warc.response:
            assert record.verify_payload_digest()
        found.append((str(record.record_type), record.reader.read()))
    return found


def members(data):
    """How many gzip members there are."""
    count = 0
    while data:
        decoder = zlib.decompressobj(31)
        decoder.decompress(data)
        assert decoder.eof
        data, count = decoder.unused_data, count + 1
    return count


def test_an_exchange_is_two_records_in_two_members():
    packed = pack_response(answer())
    assert members(packed) == 2
    (kind, headers, http, body), (kind2, headers2, http2, body2) = by_warcio(packed)
    assert (kind, kind2) == ("request", "response")
    assert http.statusline == "/a/b?c=d HTTP/1.1"
    assert http.get_header("host") == "example.test"
    assert http.get_header("user-agent") == "opilio/1"
    assert body == b""
    assert headers.get_header("WARC-Concurrent-To") == headers2.get_header(
        "WARC-Record-ID"
    )
    assert headers2.get_header("WARC-Date") == "2023-11-14T22:13:20.123456Z"
    assert headers2.get_header("WARC-Target-URI") == "http://example.test/a/b?c=d"
    assert headers2.get_header("WARC-IP-Address") == "192.0.2.7"
    assert headers2.get_header("WARC-Payload-Digest").startswith("sha1:")
    assert headers2.get_header("WARC-Truncated") is None
    assert http2.get_statuscode() == "200"
    assert body2 == BODY
    assert by_fastwarc(packed) == [("request", b""), ("response", BODY)]


@pytest.mark.parametrize("size", [0, 300, 1024, 5000, 70_000])
def test_records_of_any_size_open_whole_without_a_body(size):
    packed = pack_metadata(answer(), {"note": "x" * size})
    packed += pack_warcinfo("a.warc.gz", AT, {"note": "y" * size})
    assert members(packed) == 2
    verdict, info = (record[3] for record in by_warcio(packed))
    assert verdict == b"note: " + b"x" * size + b"\r\n"
    assert info == b"note: " + b"y" * size + b"\r\n"
    assert [content for _, content in by_fastwarc(packed)] == [verdict, info]


@given(st.floats(-1e9, 4e9) | st.integers(0, 2**31).map(lambda at: at + 0.9999996))
def test_dates_are_those_of_the_calendar(at: float) -> None:
    moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    assert date(at) == moment.replace("+00:00", "Z")


def test_secrets_are_not_written():
    plain = gzip.decompress(pack_response(answer())).lower()
    assert b"c2vjcmv0" not in plain
    assert b"authorization" not in plain


def test_a_run_can_be_repeated_byte_for_byte():
    assert pack_response(answer()) == pack_response(answer())
    first, second = (
        by_warcio(pack_response(answer(fetched_at=at))) for at in (AT, AT + 1)
    )
    names = {record[1].get_header("WARC-Record-ID") for record in first + second}
    assert len(names) == 4


def test_the_body_is_kept_as_it_came_and_its_length_is_true():
    wire = gzip.compress(BODY, mtime=0)
    response = answer(
        wire=wire,
        headers=(
            ("content-encoding", "gzip"),
            ("transfer-encoding", "chunked"),
            ("content-length", "12345"),
        ),
        protocol="h2",
        truncated="length",
    )
    _, (_, headers, http, body) = by_warcio(pack_response(response))
    assert body == wire
    assert http.get_header("content-length") == str(len(wire))
    assert http.get_header("transfer-encoding") is None
    assert http.get_header("x-crawler-transfer-encoding") == "chunked"
    assert http.get_header("x-crawler-content-length") == "12345"
    assert headers.get_header("WARC-Protocol") == "h2"
    assert headers.get_header("WARC-Truncated") == "length"


def test_no_value_can_add_a_line():
    response = answer(
        headers=(("x-a", "b\r\nevil: yes\r\n\r\n<html>"), ("x\r\nevil", "\0\x1b[2J"))
    )
    packed = pack_response(response) + pack_metadata(
        response, {"title": "a\r\nevil: b"}
    )
    plain = gzip.decompress(packed)
    assert b"\nevil" not in plain
    assert b"\0" not in plain
    assert b"\x1b" not in plain
    assert len(by_warcio(packed)) == 3


def test_a_verdict_refers_to_its_response():
    packed = pack_response(answer()) + pack_metadata(
        answer(), {"score": "0.75", "title": "Dampf über alles"}
    )
    _, (_, response, _, _), (kind, headers, _, fields) = by_warcio(packed)
    assert kind == "metadata"
    assert headers.get_header("Content-Type") == "application/warc-fields"
    assert headers.get_header("WARC-Refers-To") == response.get_header("WARC-Record-ID")
    assert fields.decode() == "score: 0.75\r\ntitle: Dampf über alles\r\n"


def test_a_copy_names_the_original_instead_of_its_body():
    original = answer()
    copy = answer("http://example.test/copy", fetched_at=AT + 5)
    packed = pack_revisit(copy, original.url, original.fetched_at)
    _, (kind, headers, http, body) = by_warcio(packed)
    _, (_, response, _, _) = by_warcio(pack_response(original))
    assert (kind, body) == ("revisit", b"")
    assert http.get_statuscode() == "200"
    assert headers.get_header("WARC-Profile").endswith("/identical-payload-digest")
    assert headers.get_header("WARC-Refers-To-Target-URI") == original.url
    assert [
        headers.get_header(name)
        for name in ("WARC-Refers-To-Date", "WARC-Refers-To", "WARC-Payload-Digest")
    ] == [
        response.get_header(name)
        for name in ("WARC-Date", "WARC-Record-ID", "WARC-Payload-Digest")
    ]
    assert [kind for kind, _ in by_fastwarc(packed)] == ["request", "revisit"]


def test_the_first_record_is_as_long_at_any_time():
    lengths = {
        len(pack_warcinfo("000001.warc.gz", at, {"software": "x"}))
        for at in (0.0, AT, 2e9, 1.5)
    }
    assert len(lengths) == 1


texts = st.text(st.characters(max_codepoint=255), max_size=30)


@given(
    body=st.binary(max_size=500),
    headers=st.lists(
        st.tuples(st.sampled_from(["x-a", "set-cookie"]), texts), max_size=5
    ),
    status=st.integers(200, 599),
)
def test_any_response_can_be_read_back(tmp_path_factory, body, headers, status):
    folder = tmp_path_factory.getbasetemp()
    response = answer(body=body, headers=tuple(headers), status=status)
    packed = pack_response(response)
    by_warcio(packed)
    by_fastwarc(packed)
    (folder / "one.warc.gz").write_bytes(b"before" + packed)
    found = read_record(folder, "one.warc.gz", 6, len(packed))
    assert (found.url, found.status, found.body) == (response.url, status, body)
    assert found.fetched_at == pytest.approx(response.fetched_at, abs=1e-6)
    assert found.header("content-type") == "text/html"


@pytest.mark.parametrize(
    ("coding", "wire"),
    [("gzip", gzip.compress(BODY, mtime=0)), ("br", brotli.compress(BODY))],
)
def test_a_coded_body_is_read_back_both_ways(tmp_path, coding, wire):
    response = answer(wire=wire, headers=(("content-encoding", coding),), protocol="h2")
    packed = pack_response(response)
    (tmp_path / "one.warc.gz").write_bytes(packed)
    found = read_record(tmp_path, "one.warc.gz", 0, len(packed))
    assert (found.body, found.wire) == (BODY, wire)
    assert (found.ip, found.protocol) == ("192.0.2.7", "h2")
    assert (
        pack_response(msgspec.structs.replace(found, request=response.request))
        == packed
    )


@pytest.fixture
def db(tmp_path):
    connection = open_database(tmp_path / "crawl.db")
    yield connection
    connection.close()


def append_pages(writer, numbers):
    return [
        writer.append(
            pack_response(answer(f"http://example.test/{n}", b"%d " % n * 500))
        )
        for n in numbers
    ]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_records_are_found_where_they_were_appended(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db)
    places = append_pages(writer, range(5))
    writer.record_length()
    writer.close()
    for number, place in enumerate(places):
        response = read_record(tmp_path / "warc", *place)
        assert response.url == f"http://example.test/{number}"
    whole = (tmp_path / "warc" / "000001.warc.gz").read_bytes()
    assert [kind for kind, *_ in by_warcio(whole)] == [
        "warcinfo",
        *["request", "response"] * 5,
    ]
    assert len(by_fastwarc(whole)) == 11


def test_a_full_file_is_followed_by_another(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db, max_bytes=3000)
    places = append_pages(writer, range(30))
    writer.record_length()
    writer.close()
    names = names_in(tmp_path / "warc")
    assert len(names) > 3
    assert names[:2] == ["000001.warc.gz", "000002.warc.gz"]
    assert dict(db.execute("SELECT name, length FROM warc")) == {
        path.name: path.stat().st_size for path in (tmp_path / "warc").iterdir()
    }
    for path in (tmp_path / "warc").iterdir():
        assert by_warcio(path.read_bytes())[0][0] == "warcinfo"
    assert [
        read_record(tmp_path / "warc", *place).url[-2:] for place in places[-2:]
    ] == [
        "28",
        "29",
    ]


def test_what_was_not_recorded_is_cut_off(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db, max_bytes=3000)
    places = append_pages(writer, range(3))
    writer.record_length()
    recorded = dict(db.execute("SELECT name, length FROM warc"))
    append_pages(writer, range(3, 30))
    writer.flush()  # on disk, but the table does not know
    writer.close()
    (tmp_path / "warc" / "notes.txt").write_text("not ours")
    assert len(names_in(tmp_path / "warc")) > 4

    writer = WarcWriter(tmp_path / "warc", db, max_bytes=3000)
    assert names_in(tmp_path / "warc") == [*recorded, "notes.txt"]
    again = append_pages(writer, range(3, 30))
    writer.record_length()
    writer.close()
    for number, place in enumerate(places + again):
        response = read_record(tmp_path / "warc", *place)
        assert response.url == f"http://example.test/{number}"
    for name in names_in(tmp_path / "warc")[:-1]:
        by_warcio((tmp_path / "warc" / name).read_bytes())


def test_a_rollback_takes_the_lengths_back(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db)
    db.execute("BEGIN")
    append_pages(writer, range(3))
    writer.record_length()
    db.execute("ROLLBACK")
    writer.close()
    WarcWriter(tmp_path / "warc", db).close()
    assert db.execute("SELECT count(*) FROM warc").fetchone() == (0,)
    assert [kind for kind, *_ in by_warcio(whole_of(tmp_path))] == ["warcinfo"]


def whole_of(tmp_path):
    return (tmp_path / "warc" / "000001.warc.gz").read_bytes()


def test_what_is_appended_during_a_flush_is_safe_before_it_is_recorded(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db)
    append_pages(writer, range(3))
    thread = threading.Thread(target=writer.flush)
    thread.start()
    thread.join()
    name, offset, length = append_pages(writer, [3])[0]
    writer.record_length()
    assert db.execute("SELECT length FROM warc").fetchone() == (offset + length,)
    assert (tmp_path / "warc" / name).stat().st_size == offset + length
    writer.close()


def test_a_file_that_lost_bytes_is_refused(tmp_path, db):
    writer = WarcWriter(tmp_path / "warc", db)
    append_pages(writer, range(3))
    writer.record_length()
    writer.close()
    path = tmp_path / "warc" / "000001.warc.gz"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadInput, match=r"000001\.warc\.gz is damaged \(\d+ bytes"):
        WarcWriter(tmp_path / "warc", db)
    path.unlink()
    with pytest.raises(BadInput, match="damaged"):
        WarcWriter(tmp_path / "warc", db)
