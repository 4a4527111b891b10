"""`opilio export` says what it wrote and what it left out; the harvest agrees."""

import gzip
import json

from in_process import run
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

BEES = "The bee makes honey in the hive. " * 20
HIDDEN = page("Hidden", "A hive of bees, and their honey. " * 20).encode()
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees",
            BEES,
            {"/hidden": "honey", "/copy": "bees", "/sea": "sea", "/file": "a hive"},
        ),
        "http://seed.test/hidden": SyntheticAnswer(
            200, (HTML, ("x-robots-tag", "noindex")), HIDDEN
        ),
        "http://seed.test/copy": SyntheticAnswer(200, (HTML,), HIDDEN),
        "http://seed.test/sea": page("The sea", "The ship sails the sea. " * 20),
        "http://seed.test/file": SyntheticAnswer(
            200, (("content-type", "application/pdf"),), b"%PDF-1.4"
        ),
    }
)


async def test_an_export_says_what_it_left_out_and_why(crawled):
    life = await crawled(WEB)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    target = life.home / "pages.jsonl.gz"
    told = run("export", life.folder, "--relevant-only", "-o", target)
    assert told.code == 0, told.err
    pages = gzip.decompress(target.read_bytes()).splitlines()
    assert [json.loads(line)["url"] for line in pages] == ["http://seed.test/"]
    assert told.err.splitlines() == [
        f"1 page written to {target}",
        "4 pages left out: 1 copy of another page, 1 not relevant (--relevant-only), "
        "1 marked noindex, 1 could not be read",
    ]
    last, status = ended.json(), run("status", life.folder, "--json").json()
    assert (last["kept"], status["kept"], status["noindex"]) == (1, 1, 1)
    assert last["harvest_rate"] == status["harvest_rate"] == 1 / status["pages"]


def test_a_format_that_contradicts_the_suffix_is_refused(tmp_path):
    ended = run("export", tmp_path, "-f", "csv", "-o", tmp_path / "pages.parquet")
    assert ended.code == 2
    assert "names a parquet file, but --format asks for csv" in ended.err
