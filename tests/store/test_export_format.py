"""The file name of an export selects its format and compression."""

import gzip
import json

import pytest
import warcio.archiveiterator

from exporting import export_csv, export_jsonl, export_warc
from opilio.errors import BadInput
from opilio.store.export_format import Format, choose_format


@pytest.mark.parametrize(
    ("out", "wanted", "chosen"),
    [
        ("pages.parquet", None, Format.PARQUET),
        ("pages.jsonl", None, Format.JSONL),
        ("pages.jsonl.gz", None, Format.JSONL),
        ("pages.CSV.GZ", None, Format.CSV),
        ("a.b/pages.v2.csv", None, Format.CSV),
        ("pages.warc.gz", None, Format.WARC),
        ("pages.warc", Format.WARC, Format.WARC),
        ("pages.txt", Format.CSV, Format.CSV),
        ("pages.gz", None, Format.JSONL),
        ("a.folder/pages", None, Format.JSONL),
        ("pages.jsonl.zst", None, Format.JSONL),
        ("pages.md", None, Format.MARKDOWN),
        ("pages.wacz", None, Format.WACZ),
        ("pages", Format.HUGGINGFACE, Format.HUGGINGFACE),
        ("-", None, Format.JSONL),
        ("-", Format.CSV, Format.CSV),
    ],
)
def test_the_suffix_selects_the_format(out, wanted, chosen):
    assert choose_format(out, wanted) is chosen


@pytest.mark.parametrize(
    ("out", "wanted", "message"),
    [
        ("pages.csv", Format.JSONL, "names a csv file, but --format asks for jsonl"),
        ("pages.jsonl.gz", Format.WARC, "names a jsonl file"),
        ("pages.xlsx", None, "unknown format .xlsx; use .jsonl"),
        ("pages.parquet.gz", None, "remove the suffix .gz"),
        ("pages.gz", Format.PARQUET, "remove the suffix .gz"),
        ("pages.warc.zst", None, "remove the suffix .zst"),
    ],
)
def test_a_contradiction_is_refused(out, wanted, message):
    with pytest.raises(BadInput, match=message):
        choose_format(out, wanted)


def test_a_name_that_ends_in_gz_is_compressed(crawl, tmp_path):
    plain, packed = tmp_path / "pages.jsonl", tmp_path / "pages.jsonl.gz"
    export_jsonl(crawl, str(plain))
    export_jsonl(crawl, str(packed))
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert [json.loads(line)["title"] for line in plain.read_text().splitlines()][
        2:
    ] == [
        '=HYPERLINK("http://evil.test")',
        "page 1",
    ]
    csv = tmp_path / "pages.csv.gz"
    export_csv(crawl, str(csv))
    assert gzip.decompress(csv.read_bytes()).startswith(b"url,title,")


def test_a_warc_without_gz_is_not_compressed(crawl, tmp_path):
    plain, packed = tmp_path / "pages.warc", tmp_path / "pages.warc.gz"
    assert export_warc(crawl, str(plain)) == export_warc(crawl, str(packed)) == 4
    assert plain.read_bytes().startswith(b"WARC/1.1")
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    with plain.open("rb") as file:
        assert len(list(warcio.archiveiterator.ArchiveIterator(file))) == 12
