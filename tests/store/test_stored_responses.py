"""Records that are copied are whole, whatever has happened to their file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.records import Response
from opilio.store.stored_responses import StoredResponses, fault_in
from opilio.store.warc_records import pack_metadata, pack_response

ANSWER = Response("http://a.test/", 200, (), b"<p>Bees and their honey." * 99, 1e9)
PARTS = (pack_response(ANSWER), pack_metadata(ANSWER, {"score": "1"}))
RECORDS = b"".join(PARTS)


@given(st.integers(0, len(RECORDS) - 1), st.integers(1, 255))
def test_no_changed_byte_of_a_record_goes_unnoticed(place: int, change: int):
    changed = bytearray(RECORDS)
    changed[place] ^= change
    fault = fault_in(bytes(changed))
    assert fault or gzip.decompress(changed) == gzip.decompress(RECORDS)


@pytest.mark.parametrize(
    "records",
    [
        RECORDS[:-1],
        RECORDS + b"x",
        PARTS[0] + bytes(len(PARTS[1])),  # a hole in the file reads as zeros
        bytes(len(RECORDS)),
        PARTS[0] + gzip.compress(b"not a record"),
        b"WARC/1.1\r\n",
    ],
)
def test_what_is_no_whole_record_is_counted_and_left_out(
    tmp_path: Path, records: bytes
):
    (tmp_path / "000001.warc.gz").write_bytes(RECORDS + records)
    found = StoredResponses(tmp_path)
    assert found.raw("000001.warc.gz", 0, len(RECORDS)) == RECORDS
    assert not found.trouble
    assert found.raw("000001.warc.gz", len(RECORDS), len(records)) is None
    assert "1 record of 000001.warc.gz could not be read" in found.trouble
    assert "is damaged (" in found.trouble
