"""Exports of a crawl that others load: filters, shards, resuming, datasets, graphs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from opilio.assembly.export import Shape, export_graph, export_pages
from opilio.errors import BadInput
from opilio.records import Extraction, Response
from opilio.storage.database import open_database
from opilio.storage.packed import pack_extraction
from opilio.store.corpus import graph, parquet_file
from opilio.store.corpus.columns import COLUMNS
from opilio.store.corpus.selection import AT_ONCE, Selection
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import WarcWriter
from opilio.store.warc_records import pack_response

PAGES = 3 * AT_ONCE + 7
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
DAY = 86_400


def fill(folder: CrawlFolder, pages: int = PAGES) -> CrawlFolder:
    """A crawl of so many kept pages, every third of them in German, on three hosts."""
    folder.make()
    (folder.path / "crawl.toml").write_text('[topic]\nname = "numbers"\n')
    with closing(open_database(folder.database)) as db:
        writer = WarcWriter(folder.warcs, db)
        for host, name in enumerate(("a.test", "b.a.test", "c.test"), 1):
            db.execute(
                "INSERT INTO host (id, name, domain) VALUES (?, ?, ?)",
                (host, name, name.removeprefix("b.")),
            )
        db.begin()
        for number in range(1, pages + 1):
            add(db, writer, number)
        db.execute("INSERT INTO edge VALUES (1, 2), (1, 3)")
        robots = (
            b"# for opilio\nuser-agent: *\ncontent-signal: ai-train=no, search=yes\n"
        )
        db.execute(
            "INSERT INTO robots VALUES (?, 'rules', 0, 0, ?, 0)",
            ("http://c.test", robots),
        )
        writer.flush()
        db.commit()
        writer.close()
    return folder


def add(db, writer: WarcWriter, number: int) -> None:
    """One page with its record, its verdict and its main text."""
    host = number % 3 + 1
    url = f"http://{('a.test', 'b.a.test', 'c.test')[host - 1]}/{number}"
    headers = [("content-type", "text/html")]
    body = f"<title>Page {number}</title><p>Text of page {number}.".encode()
    response = Response(url, 200, headers, body, START + number * DAY)
    db.execute(
        "INSERT INTO link (id, url, fingerprint, host, state, promise, depth, "
        "found_on, anchor) VALUES (?, ?, ?, ?, 'kept', 0.5, 1, ?, 'here & <there>')",
        (number, url, number, host, number > 1),
    )
    db.execute(
        "INSERT INTO page (id, number, fetched_at, status, mime, language, title, "
        "bytes, content, score, relevant, parts, warc, warc_offset, warc_length) "
        "VALUES (?, ?, ?, 200, 'text/html', ?, ?, ?, ?, ?, 1, '{}', ?, ?, ?)",
        (
            number,
            number,
            response.fetched_at,
            "de" if number % 3 == 0 else "en",
            f"Page {number}",
            len(body),
            -number,
            1 - number / 10_000,
            *writer.append(pack_response(response)),
        ),
    )
    content = Extraction(
        version=1,
        text=f"Text of page {number}.",
        markdown=f"Text of [page {number}](http://a.test/).",
        title=f"Page {number}",
        authors=("Jane Doe", "John Roe"),
        published="2024-05-17",
        licences=("https://creativecommons.org/licenses/by/4.0/",),
        usage={"tdm-reservation": "1"} if number == 5 else {},
    )
    db.execute(
        "INSERT INTO extracted VALUES (?, ?)", (number, pack_extraction(content))
    )


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> CrawlFolder:
    return fill(CrawlFolder(tmp_path_factory.mktemp("crawl") / "crawl"))


def rows_in(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        ({}, lambda n: True),
        ({"min_score": 0.99}, lambda n: n <= 100),
        ({"languages": ("de",)}, lambda n: n % 3 == 0),
        ({"since": START + 300 * DAY}, lambda n: n >= 300),
        ({"sites": ("a.test",)}, lambda n: n % 3 < 2),
        ({"sites": ("c.test", "b.a.test")}, lambda n: n % 3 > 0),
        ({"sites": ("test",), "min_score": 2.0}, lambda n: False),
        ({"purpose": "ai-train"}, lambda n: n % 3 < 2 and n != 5),
        ({"purpose": "ai-input"}, lambda n: n != 5),
        ({"purpose": "search"}, lambda n: True),
        ({"purpose": "research"}, lambda n: True),
    ],
)
def test_filters_choose_the_pages(crawl, tmp_path, selection, chosen):
    out = tmp_path / "pages.jsonl"
    done = export_pages(crawl, str(out), selection=Selection(**selection))
    numbers = [int(row["url"].rpartition("/")[2]) for row in rows_in(out)]
    assert numbers == [n for n in range(1, PAGES + 1) if chosen(n)]
    assert done.pages == len(numbers)
    assert sum(done.left_out.values()) == PAGES - len(numbers)
    if "purpose" in selection and len(numbers) < PAGES:
        assert done.left_out == {"reserved": PAGES - len(numbers)}


def test_a_row_has_the_facts_and_the_signals_of_page_and_site(crawl, tmp_path):
    out = tmp_path / "pages.jsonl"
    export_pages(crawl, str(out))
    rows = rows_in(out)
    assert rows[4]["usage"]["tdm-reservation"] == "1"
    assert rows[4]["usage"]["robots.txt content-signal"] == "ai-train=no, search=yes"
    assert rows[0]["usage"] == {}
    assert rows[0]["markdown"] == "Text of page 1."
    assert rows[0]["authors"] == ["Jane Doe", "John Roe"]
    assert rows[0]["content_hash"] == "ffffffffffffffff"
    assert (rows[1]["parent"], rows[1]["anchor"]) == (rows[0]["url"], "here & <there>")
    with_links = tmp_path / "links.jsonl"
    export_pages(crawl, str(with_links), shape=Shape(links=True, fields=("markdown",)))
    assert rows_in(with_links)[0] == {"markdown": "Text of [page 1](http://a.test/)."}


def test_an_unknown_column_is_refused_with_the_nearest(crawl, tmp_path):
    with pytest.raises(BadInput, match="did you mean 'title'"):
        export_pages(crawl, str(tmp_path / "x.csv"), shape=Shape(fields=("titles",)))


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "jsonl.zst", "csv", "parquet"])
def test_shards_have_all_pages_once(crawl, tmp_path, suffix):
    import polars

    fields = ("url", "score")
    shape = Shape(shards=4, fields=fields)
    done = export_pages(crawl, str(tmp_path / f"pages.{suffix}"), shape=shape)
    files = sorted(tmp_path.iterdir())
    assert done.pages == PAGES
    assert [file.name for file in files] == [
        f"pages-0000{n}-of-00004.{suffix}" for n in range(4)
    ]
    assert done.files == tuple(map(str, files))
    read = {
        "jsonl": polars.read_ndjson,
        "csv": polars.read_csv,
        "parquet": polars.read_parquet,
    }[suffix.partition(".")[0]]
    tables = [read(file) for file in files]
    assert sum(map(len, tables)) == PAGES
    assert max(map(len, tables)) - min(map(len, tables)) <= 3
    assert polars.concat(tables)["url"].n_unique() == PAGES


@pytest.mark.parametrize(
    ("name", "form", "shards"),
    [
        ("pages.jsonl", None, 1),
        ("pages.jsonl.gz", None, 1),
        ("pages.csv", None, 3),
        ("pages.parquet", None, 1),
        ("pages.parquet", None, 3),
        ("pages.warc.gz", None, 1),
        ("pages.md", None, 0),
        ("dataset", "huggingface", 3),
        ("pages.wacz", None, 0),
    ],
)
def test_an_export_that_was_interrupted_is_resumed(
    crawl, tmp_path, monkeypatch, name, form, shards
):
    monkeypatch.setattr(parquet_file, "GROUP_ROWS", AT_ONCE)
    whole, out = tmp_path / f"whole-{name}", tmp_path / name
    shape = Shape(shards=shards)
    export_pages(crawl, str(whole), form, shape=shape)
    made: list[int] = []

    def stop(done: int, pages: int) -> None:
        made.append(done)
        if done > 2 * AT_ONCE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_pages(crawl, str(out), form, shape=shape, tell=stop)
    hidden = {path.name for path in tmp_path.iterdir() if path.name[0] == "."}
    assert hidden and not out.exists()
    assert not list(tmp_path.glob(f"{name.partition('.')[0]}-0*"))
    seen: list[int] = []
    done = export_pages(
        crawl, str(out), form, shape=shape, tell=lambda at, _: seen.append(at)
    )
    assert done.pages == PAGES
    assert seen[0] > AT_ONCE
    assert not [path for path in tmp_path.iterdir() if path.name[0] == "."]
    if "wacz" in name:  # it has times in it
        assert members(out) == members(whole)
    else:
        assert contents(tmp_path, name) == contents(tmp_path, f"whole-{name}")


def members(package: Path) -> dict[str, bytes]:
    """The members of a WACZ package, but for its description."""
    with zipfile.ZipFile(package) as opened:
        assert opened.testzip() is None
        names = [name for name in opened.namelist() if "datapackage" not in name]
        return {name: opened.read(name) for name in names}


def contents(folder: Path, name: str) -> list[bytes]:
    """The bytes of every file of an export."""
    stem = name.partition(".")[0]
    found = sorted(folder.glob(f"{stem}[.-]*")) or sorted((folder / name).rglob("*"))
    found = [
        path for path in found if not path.name.startswith("whole") or "whole" in stem
    ]
    files = [p for path in found for p in (sorted(path.rglob("*")) or [path])]
    return [
        path.read_bytes().replace(b"whole-", b"") for path in files if path.is_file()
    ]


def test_another_export_does_not_go_on_with_what_was_left(crawl, tmp_path):
    out = tmp_path / "pages.jsonl"

    def stop(done: int, pages: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_pages(crawl, str(out), tell=stop)
    shape = Shape(fields=("url",))
    assert export_pages(crawl, str(out), shape=shape).pages == PAGES
    assert all(list(row) == ["url"] for row in rows_in(out))


def test_a_file_may_be_interrupted_within_a_row_group_again_and_again(
    crawl, tmp_path, monkeypatch
):
    monkeypatch.setattr(parquet_file, "GROUP_ROWS", AT_ONCE)
    whole, out = tmp_path / "whole.parquet", tmp_path / "pages.parquet"
    export_pages(crawl, str(whole))
    write_group = parquet_file.ParquetTable.write_group
    written: list[int] = []

    def fail(table: parquet_file.ParquetTable) -> None:
        write_group(table)  # to the file, but nobody knows of it
        written.append(table.place)
        if len(written) % 2 == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(parquet_file.ParquetTable, "write_group", fail)
    for _ in range(10):
        try:
            export_pages(crawl, str(out))
            break
        except KeyboardInterrupt:
            assert not out.exists()
    assert out.read_bytes() == whole.read_bytes()


def test_two_exports_do_not_write_the_same_file(crawl, tmp_path):
    out = str(tmp_path / "pages.jsonl")

    def again(done: int, pages: int) -> None:
        with pytest.raises(BadInput, match="another export is writing"):
            export_pages(crawl, out)

    assert export_pages(crawl, out, tell=again).pages == PAGES


@pytest.mark.parametrize("name", ["pages.parquet", "pages.wacz", "pages.jsonl.gz"])
def test_a_killed_export_leaves_no_file_under_its_name_and_goes_on(
    crawl, tmp_path, monkeypatch, name
):
    whole, out = tmp_path / f"whole-{name}", tmp_path / name
    monkeypatch.setattr(parquet_file, "GROUP_ROWS", AT_ONCE)
    export_pages(crawl, str(whole))
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from opilio.assembly.export import export_pages\n"
        "from opilio.store.corpus import parquet_file\n"
        "from opilio.store.folder import CrawlFolder\n"
        f"parquet_file.GROUP_ROWS = {AT_ONCE}\n"
        "def die(done, pages):\n"
        f"    if done >= {2 * AT_ONCE}:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "export_pages(CrawlFolder(Path(sys.argv[1])), sys.argv[2], tell=die)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, crawl.path, out])
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    seen: list[int] = []
    done = export_pages(crawl, str(out), tell=lambda at, _: seen.append(at))
    assert (done.pages, seen[0] > 2 * AT_ONCE) == (PAGES, True)
    assert {path.name for path in tmp_path.iterdir()} == {name, f"whole-{name}"}
    if "wacz" in name:
        assert members(out) == members(whole)
    else:
        assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("rows", [AT_ONCE, 1000])
def test_parquet_is_read_by_everyone(crawl, tmp_path, monkeypatch, rows):
    import duckdb
    import pandas
    import polars

    monkeypatch.setattr(parquet_file, "GROUP_ROWS", rows)
    out = tmp_path / "pages.parquet"
    export_pages(crawl, str(out))
    [[count, words, last]] = duckdb.sql(
        f"SELECT count(*), sum(words), max(published) FROM '{out}' "
        "WHERE list_contains(authors, 'Jane Doe')"
    ).fetchall()
    assert (count, words, last) == (PAGES, 4 * PAGES, date(2024, 5, 17))
    frame = pandas.read_parquet(out)
    assert list(frame.columns) == list(COLUMNS)
    assert str(frame["fetched_at"].dtype).startswith("datetime64")
    assert frame["score"].is_monotonic_decreasing
    table = polars.read_parquet(out)
    assert table.schema["relevant"] == polars.Boolean
    assert table["text"][6] == "Text of page 7."


def test_a_dataset_is_loaded_offline(crawl, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets

    out = tmp_path / "bees"
    shape = Shape(shards=2, command="opilio export crawl --format huggingface -o bees")
    selection = Selection(purpose="ai-train")
    done = export_pages(
        crawl, str(out), "huggingface", selection=selection, shape=shape
    )
    cache = str(tmp_path / "cache")
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=cache)
    assert loaded.num_rows == done.pages < PAGES
    assert loaded.column_names == list(COLUMNS)
    assert loaded[0]["text"] == "Text of page 1."
    card = (out / "README.md").read_text()
    assert f"{done.pages:,} web pages" in card
    assert "$ opilio export crawl" in card
    assert f"{PAGES - done.pages:,} pages left out: {PAGES - done.pages:,} res" in card
    assert "| https://creativecommons.org/licenses/by/4.0/ |" in card.replace("\\", "")
    assert "- de\n- en" in card
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "data"]


def test_every_page_is_a_markdown_file_with_front_matter(crawl, tmp_path):
    out = tmp_path / "pages.md"
    export_pages(crawl, str(out))
    files = sorted(out.rglob("*.md"))
    assert len(files) == PAGES
    assert files[0].relative_to(out) == Path("0000/0000001-page-1.md")
    head, _, body = files[0].read_text().removeprefix("---\n").partition("---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    assert json.loads(facts["title"]) == "Page 1"
    assert json.loads(facts["published"]) == "2024-05-17"
    assert body == "\nText of page 1.\n"
    with pytest.raises(BadInput, match="exists already"):
        export_pages(crawl, str(out))


def test_a_wacz_package_passes_validation(crawl, tmp_path):
    out = tmp_path / "pages.wacz"
    selection = Selection(min_score=0.995)
    done = export_pages(crawl, str(out), selection=selection)
    assert done.pages == 50
    wacz = Path(sys.executable).with_name("wacz")
    told = subprocess.run([wacz, "validate", "-f", out], capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Invalid" not in told.stdout + told.stderr
    with zipfile.ZipFile(out) as package:
        index = package.read("indexes/index.cdx").decode().splitlines()
        pages = package.read("pages/pages.jsonl").decode().splitlines()
        data = package.read("archive/data.warc.gz")
    assert index == sorted(index) and len(index) == 50
    assert len(pages) == 51
    place = json.loads(index[0].split(" ", 2)[2])
    import gzip

    start, length = int(place["offset"]), int(place["length"])
    record = gzip.decompress(data[start : start + length])
    assert f"WARC-Target-URI: {place['url']}".encode() in record
    assert b"WARC-Type: response" in record


def test_the_graph_has_pages_and_links(crawl, tmp_path):
    import networkx
    import polars

    out = tmp_path / "crawl.graphml"
    assert export_graph(crawl, str(out), "graphml") == 2
    graph = networkx.read_graphml(out)
    assert (len(graph), graph.size()) == (PAGES, 2)
    assert graph.nodes["n1"]["url"] == "http://b.a.test/1"
    assert graph.nodes["n1"]["relevant"] is True
    assert graph.edges["n1", "n2"] == {"promise": 0.5, "anchor": "here & <there>"}
    folder = tmp_path / "graph"
    assert export_graph(crawl, str(folder), "parquet") == 2
    nodes = polars.read_parquet(folder / "nodes.parquet")
    edges = polars.read_parquet(folder / "edges.parquet")
    assert (len(nodes), len(edges)) == (PAGES, 2)
    assert edges["anchor"].to_list() == ["here & <there>"] * 2
    with pytest.raises(BadInput, match="graphml or parquet"):
        export_graph(crawl, str(folder), "dot")


@pytest.mark.parametrize("form", ["graphml", "parquet"])
@pytest.mark.parametrize("stop_after", [40, PAGES + 3])  # among nodes, among edges
def test_a_graph_that_was_interrupted_is_resumed(
    crawl, tmp_path, monkeypatch, form, stop_after
):
    with closing(open_database(crawl.database)) as db, db:
        pairs = [(page, 1 + page % 7) for page in range(1, 12)]
        db.executemany("INSERT INTO edge (page, link) VALUES (?, ?)", pairs)
    monkeypatch.setattr(graph, "GROUP", 5)
    monkeypatch.setattr(parquet_file, "GROUP_ROWS", 10)
    whole, out = tmp_path / "whole-graph", tmp_path / "graph"
    links = export_graph(crawl, str(whole), form)

    def stop(done: int, total: int) -> None:
        if done > stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_graph(crawl, str(out), form, stop)
    assert not out.exists()
    seen: list[int] = []
    done = export_graph(crawl, str(out), form, lambda at, _: seen.append(at))
    assert (done, seen[-1]) == (links, links + PAGES)
    assert seen[0] > 20  # it went on
    made, wanted = (
        [file.read_bytes() for file in sorted(path.rglob("*")) or [path]]
        for path in (out, whole)
    )
    assert made == wanted
    assert {path.name for path in tmp_path.iterdir()} == {"whole-graph", "graph"}


def test_the_card_of_a_page_cannot_break_out(tmp_path):
    from opilio.store.corpus.dataset_card import one_line

    assert one_line("a |\n<b> [x](y)`") == "a \\| \\<b\\> \\[x\\](y)\\`"


def test_a_redirect_is_told_by_the_linked_and_the_final_url(crawl, tmp_path):
    with closing(open_database(crawl.database)) as db, db:
        for number, url, source in ((9001, "old", 1), (9002, "older", 9001)):
            db.execute(
                "INSERT INTO link (id, url, fingerprint, host, state, reason, promise, "
                "redirects, found_on, anchor) "
                "VALUES (?, ?, ?, 1, 'copy', 'redirect', 1, ?, ?, ?)",
                (number, f"http://a.test/{url}", number, number - 9001, source, url),
            )
        db.execute(
            "UPDATE link SET redirects = 2, found_on = 9002 WHERE id = 2",
        )
    out = tmp_path / "pages.jsonl"
    export_pages(crawl, str(out))
    [row] = [row for row in rows_in(out) if row["url"] != row["final_url"]]
    first = next(row for row in rows_in(out) if row["cluster"] == 1)
    assert row["cluster"] == 2
    assert row["url"] == "http://a.test/old"
    assert (row["parent"], row["anchor"]) == (first["url"], "old")
