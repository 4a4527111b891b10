"""A corpus as JSON lines, CSV, Parquet and WARC."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
import warcio.archiveiterator
from pyarrow import parquet

from opilio.errors import BadInput
from opilio.records import Response
from opilio.storage.database import open_database
from opilio.store.export import export_csv, export_jsonl, export_parquet, export_warc

AT = 1_700_000_000.5
SITE = "http://example.test"
EXPORTS = [export_jsonl, export_csv, export_parquet, export_warc]


def decoded(response: Response, *, degraded: bool) -> str:
    return response.body.decode()


def urls_in(path, export):
    if export is export_jsonl:
        found = [json.loads(line)["url"] for line in path.read_text().splitlines()]
    elif export is export_csv:
        found = [row["url"] for row in csv.DictReader(io.StringIO(path.read_text()))]
    elif export is export_parquet:
        found = parquet.read_table(path)["url"].to_pylist()
    else:
        found = [
            record.rec_headers.get_header("WARC-Target-URI")
            for record in warcio.archiveiterator.ArchiveIterator(
                io.BytesIO(path.read_bytes()), check_digests="raise"
            )
            if record.rec_type == "response"
        ]
    return [int(url.rpartition("/")[2]) for url in found]


@pytest.mark.parametrize("export", EXPORTS)
def test_the_best_pages_come_first(crawl, tmp_path, export):
    out = tmp_path / "out"
    assert export(crawl, str(out)) == 4
    assert urls_in(out, export) == [2, 5, 3, 1]


@pytest.mark.parametrize("export", EXPORTS)
def test_only_relevant_pages_if_so_wished(crawl, tmp_path, export):
    out = tmp_path / "out"
    assert export(crawl, str(out), relevant_only=True) == 3
    assert urls_in(out, export) == [2, 5, 3]


@pytest.mark.parametrize("export", EXPORTS)
def test_pages_that_ask_not_to_be_shown_are_shown_only_on_request(
    crawl, tmp_path, export
):
    out = tmp_path / "out"
    export(crawl, str(out), noindex=True)
    assert urls_in(out, export) == [2, 5, 4, 3, 1]


def test_a_json_line_says_everything_about_a_page(crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    export_jsonl(crawl, str(out))
    assert json.loads(out.read_text().splitlines()[0]) == {
        "url": f"{SITE}/2",
        "title": "Größe, \"Maß\"\nund '漢字'",
        "language": "en",
        "score": 0.9,
        "relevant": True,
        "parts": {"cosine": 0.9},
        "state": "kept",
        "fetched_at": "2023-11-14T22:13:20.500000Z",
    }


def test_a_row_of_parquet_says_everything_about_a_page(crawl, tmp_path):
    out = tmp_path / "out.parquet"
    export_parquet(crawl, str(out), extract=decoded)
    [best, *_] = parquet.read_table(out).to_pylist()
    assert best == {
        "url": f"{SITE}/2",
        "title": "Größe, \"Maß\"\nund '漢字'",
        "language": "en",
        "state": "kept",
        "score": 0.9,
        "relevant": True,
        "fetched_at": datetime.fromtimestamp(AT, UTC),
        "parts": [("cosine", 0.9)],
        "text": "<html><p>text of 2</html>",
    }


def test_the_text_is_taken_from_the_archive(crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    export_jsonl(crawl, str(out), extract=decoded)
    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert texts[0] == "<html><p>text of 2</html>"
    assert texts[-1] == "<html><p>text of 1</html>"


def test_no_cell_is_a_formula(crawl, tmp_path):
    db = open_database(crawl.database)
    dangerous = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
    out = tmp_path / "out.csv"
    for title in dangerous:
        db.execute("UPDATE page SET title = ? WHERE id = 2", (title,))
        export_csv(crawl, str(out))
        with out.open(newline="", encoding="utf-8") as file:
            assert next(csv.DictReader(file))["title"] == f"'{title}"
    db.close()


def test_a_table_survives_quotes_and_newlines(crawl, tmp_path):
    out = tmp_path / "out.csv"
    export_csv(crawl, str(out))
    with out.open(newline="", encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert first["title"] == "Größe, \"Maß\"\nund '漢字'"
    assert (first["score"], first["relevant"]) == ("0.9", "yes")


def test_records_are_copied_byte_for_byte(crawl, tmp_path):
    out = tmp_path / "out.warc.gz"
    export_warc(crawl, str(out), relevant_only=True)
    exported = out.read_bytes()
    stored = b"".join(path.read_bytes() for path in sorted(crawl.warcs.iterdir()))
    db = open_database(crawl.database, read_only=True)
    for page in (2, 5, 3):
        name, offset, length = db.execute(
            "SELECT warc, warc_offset, warc_length FROM page WHERE id = ?", (page,)
        ).fetchone()
        members = (crawl.warcs / name).read_bytes()[offset : offset + length]
        assert members in stored
        assert exported.startswith(members)
        exported = exported[length:]
    assert exported == b""
    db.close()


@pytest.mark.parametrize("export", EXPORTS)
def test_a_dash_means_the_standard_output(crawl, tmp_path, export, capfdbinary):
    export(crawl, "-")
    export(crawl, str(tmp_path / "out"))
    assert capfdbinary.readouterr().out == (tmp_path / "out").read_bytes()


def test_a_file_appears_whole_or_not_at_all(crawl, tmp_path):
    out = tmp_path / "out" / "pages.jsonl"
    out.parent.mkdir()
    out.write_text("an earlier export")

    def fail(response: Response, *, degraded: bool) -> str:
        if response.url.endswith("/3"):
            raise RuntimeError
        return ""

    with pytest.raises(RuntimeError):
        export_jsonl(crawl, str(out), extract=fail)
    assert [path.name for path in out.parent.iterdir()] == ["pages.jsonl"]
    assert out.read_text() == "an earlier export"


def test_a_place_that_cannot_be_written_is_named(crawl, tmp_path):
    with pytest.raises(BadInput, match=r"nowhere.pages\.csv"):
        export_csv(crawl, str(tmp_path / "nowhere" / "pages.csv"))


def test_an_export_changes_nothing(crawl, tmp_path):
    before = crawl.database.read_bytes()
    for export in EXPORTS:
        export(crawl, str(tmp_path / "out"))
    assert crawl.database.read_bytes() == before
