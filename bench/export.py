"""Measures exports of 100,000 kept pages: pages a second and peak memory.

    python -m bench.export [--pages N]

The pages have 600 words each, of a vocabulary with the frequencies of natural text, in
paragraphs; their main texts are stored, as a crawl leaves them. 5,000 texts are made
and repeated in the same order; no compression reaches that far back. Each export runs
in a process of its own; the memory is the most that it held (VmHWM).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from bench.table import show
from opilio.records import Extraction
from opilio.storage.database import open_database
from opilio.storage.packed import pack_extraction
from opilio.store.folder import CrawlFolder

PAGES = 100_000
WORDS, PARAGRAPH = 600, 60
AT_ONCE = 1000
DISTINCT = 5_000  # texts
EXPORTS = (
    ("pages.parquet", "parquet"),
    ("dataset", "huggingface"),
    ("pages.jsonl.gz", "jsonl"),
    ("pages.jsonl.zst", "jsonl"),
)
RUN = """
import json, sys, time
from pathlib import Path
from opilio.assembly.export import export_pages
from opilio.store.folder import CrawlFolder
began, cpu = time.monotonic(), time.process_time()
done = export_pages(CrawlFolder(Path(sys.argv[1])), sys.argv[2], sys.argv[3])
spent = [done.pages, time.monotonic() - began, time.process_time() - cpu]
[peak] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(json.dumps([*spent, int(peak.split()[1]) / 1024]))
"""


def main() -> None:
    """Fill a crawl, export it, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=PAGES)
    pages = parser.parse_args().pages
    with tempfile.TemporaryDirectory() as name:
        crawl = CrawlFolder(Path(name, "crawl"))
        fill(crawl, pages)
        rows = []
        for out, form in EXPORTS:
            place = Path(name, out)
            told = subprocess.run(
                [sys.executable, "-c", RUN, crawl.path, place, form],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            written, seconds, cpu, memory = json.loads(told)
            size = sum(
                path.stat().st_size
                for path in ([place] if place.is_file() else place.rglob("*.parquet"))
            )
            rows.append(
                (
                    f"{form} ({out})",
                    f"{written:,}",
                    f"{written / seconds:,.0f}",
                    f"{1000 * cpu / written:.2f}",
                    f"{memory:,.0f}",
                    f"{size / 2**20:,.0f}",
                )
            )
    columns = ("export", "pages", "pages/s", "CPU ms a page", "peak MB", "file MB")
    show(f"Exports of {pages:,} pages", columns, rows)


def fill(crawl: CrawlFolder, pages: int) -> None:
    """A crawl of kept pages with their main texts."""
    rng = random.Random(1)
    words = [
        "".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 10)))
        for _ in range(20_000)
    ]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    crawl.make()
    (crawl.path / "crawl.toml").write_text('[topic]\nname = "words"\n')
    with closing(open_database(crawl.database)) as db:
        db.execute("INSERT INTO host (id, name, domain) VALUES (1, 'a.test', 'a.test')")
        contents = []
        for start in range(0, pages, AT_ONCE):
            db.begin()
            for number in range(start + 1, min(pages, start + AT_ONCE) + 1):
                if number <= DISTINCT:
                    contents.append(made(rng.choices(words, weights, k=WORDS)))
                title, packed = contents[(number - 1) % DISTINCT]
                db.execute(
                    "INSERT INTO link (id, url, fingerprint, host, state, promise) "
                    "VALUES (?, ?, ?, 1, 'kept', 1)",
                    (number, f"http://a.test/{number}", number),
                )
                db.execute(
                    "INSERT INTO page (id, number, fetched_at, status, language, "
                    "title, bytes, score, relevant, parts) "
                    "VALUES (?, ?, 1.8e9, 200, 'en', ?, 1, ?, 1, '{\"cosine\": 0.5}')",
                    (number, number, title, 1 - number / (pages + 1)),
                )
                db.execute("INSERT INTO extracted VALUES (?, ?)", (number, packed))
            db.commit()


def made(said: list[str]) -> tuple[str, bytes]:
    """A title, and a main text as it is stored."""
    lines = [
        " ".join(said[at : at + PARAGRAPH]) + "." for at in range(0, WORDS, PARAGRAPH)
    ]
    content = Extraction(
        version=1,
        text="\n".join(lines),
        markdown="\n\n".join(lines),
        title=lines[0][:60],
        authors=("Jane Doe",),
        published="2026-05-17",
    )
    return content.title, pack_extraction(content)


if __name__ == "__main__":
    main()
