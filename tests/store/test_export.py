"""A corpus as JSON lines, CSV, Parquet and WARC."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime

import pytest
import warcio.archiveiterator
from pyarrow import parquet

from exporting import export_csv, export_jsonl, export_parquet, export_warc
from opilio.assembly.exported_rows import RowMaker
from opilio.errors import BadInput
from opilio.storage.database import open_database
from opilio.store.corpus.columns import COLUMNS

AT = 1_700_000_000.5
SITE = "http://example.test"
EXPORTS = [export_jsonl, export_csv, export_parquet, export_warc]


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
    assert export(crawl, str(out), relevant=True) == 3
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
    best = json.loads(out.read_text().splitlines()[0])
    assert list(best) == list(COLUMNS)
    told = {name: value for name, value in best.items() if value not in (None, [], {})}
    assert told.pop("warc").endswith(".warc.gz")
    assert told.pop("warc_length") > 100
    assert told.pop("warc_offset") >= 0
    assert told == {
        "url": f"{SITE}/2",
        "final_url": f"{SITE}/2",
        "title": "Größe, \"Maß\"\nund '漢字'",
        "text": "text of 2",
        "markdown": "text of 2",
        "language": "en",
        "score": 0.9,
        "relevant": True,
        "state": "kept",
        "parts": {"cosine": 0.9},
        "words": 3,
        "depth": 0,
        "fetched_at": "2023-11-14T22:13:20.500000Z",
        "status": 200,
        "cluster": 2,
        "copies": 1,
    }


def test_a_row_of_parquet_has_types(crawl, tmp_path):
    out = tmp_path / "out.parquet"
    export_parquet(crawl, str(out))
    table = parquet.read_table(out)
    assert table.schema.names == list(COLUMNS)
    types = {name: str(table.schema.field(name).type) for name in COLUMNS}
    assert types["fetched_at"] == "timestamp[ms, tz=UTC]"
    assert types["published"] == "date32[day]"
    assert types["authors"].startswith("list<")
    assert (types["score"], types["relevant"]) == ("double", "bool")
    best = table.to_pylist()[0]
    assert best["fetched_at"] == datetime.fromtimestamp(AT, UTC)
    assert best["parts"] == [{"name": "cosine", "value": 0.9}]
    assert best["text"] == "text of 2"


def test_the_copies_of_a_page_are_counted(crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    export_jsonl(crawl, str(out), fields=("url", "copies"))
    found = {
        row["url"]: row["copies"]
        for row in map(json.loads, out.read_text().splitlines())
    }
    db = open_database(crawl.database, read_only=True)
    copies = db.execute("SELECT count(*) FROM page WHERE copy_of IS NOT NULL")
    assert sum(found.values()) == copies.fetchone()[0] > 0
    db.close()


def test_a_page_whose_record_is_lost_has_no_text(crawl, tmp_path):
    for path in crawl.warcs.iterdir():
        path.write_bytes(b"")
    out = tmp_path / "out.jsonl"
    assert export_jsonl(crawl, str(out)) == 4
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["text"] for row in rows} == {None}


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
    export_warc(crawl, str(out), relevant=True)
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


def test_a_file_appears_whole_or_not_at_all(crawl, tmp_path, monkeypatch):
    out = tmp_path / "out" / "pages.jsonl"
    out.parent.mkdir()
    out.write_text("an earlier export")

    def fail(self, row):
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(RowMaker, "row", fail)
        with pytest.raises(RuntimeError):
            export_jsonl(crawl, str(out))
    assert out.read_text() == "an earlier export"
    export_jsonl(crawl, str(out))
    assert [path.name for path in out.parent.iterdir()] == ["pages.jsonl"]
    assert len(out.read_text().splitlines()) == 4


def test_a_place_that_cannot_be_written_is_named(crawl, tmp_path):
    with pytest.raises(BadInput, match=r"nowhere.pages\.csv"):
        export_csv(crawl, str(tmp_path / "nowhere" / "pages.csv"))


def test_an_export_changes_nothing(crawl, tmp_path):
    before = crawl.database.read_bytes()
    for export in EXPORTS:
        export(crawl, str(tmp_path / "out"))
    assert crawl.database.read_bytes() == before
