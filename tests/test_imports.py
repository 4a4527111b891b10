"""A crawl starts quickly: it imports only what it needs before its first visit."""

import subprocess
import sys
from pathlib import Path

# It was 181 before the folders were made, and 147 then.
MOST_MODULES = 141

COUNT = """
import sys
from opilio.cli import main
from opilio.crawl import CrawlLoop

async def visit(crawl, lease):
    # Compiled modules are there or not; each has a twin in Python.
    ours = [
        name
        for name in sys.modules
        if name.partition(".")[0] == "opilio" and "._" not in name
    ]
    print(len(ours), file=sys.stderr)
    crawl.stop_soon("counted")
    return await visited(crawl, lease)

visited, CrawlLoop.visit = CrawlLoop.visit, visit
if __name__ == "__main__":
    main()
"""

TOPIC = """
name = "bees"
keywords = ["honey bee", "hive"]
seeds = ["http://127.0.0.1:1/"]
"""


def test_few_modules_are_imported_before_the_first_visit(tmp_path: Path):
    (tmp_path / "count.py").write_text(COUNT)
    (tmp_path / "bees.toml").write_text(TOPIC)
    told = subprocess.run(
        [
            *(sys.executable, tmp_path / "count.py", "crawl", tmp_path / "bees.toml"),
            *("-o", tmp_path / "crawl", "-q", "--allow-network", "127.0.0.0/8"),
        ],
        capture_output=True,
        text=True,
    ).stderr
    assert 50 < int(told.splitlines()[0]) <= MOST_MODULES
