"""A crawl starts quickly: it imports only what it needs before its first visit."""

import subprocess
import sys
from pathlib import Path

# It was 181 before the folders were made, and 147 then.
MOST_MODULES = 146

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


HELP = """
import sys
from opilio.cli import main
try:
    main()
finally:
    heavy = {"attr", "markdown_it", "pygments", "numpy", "asyncio"}
    print(sorted(heavy.intersection(sys.modules)), file=sys.stderr)
"""


def test_help_is_printed_without_libraries_that_it_does_not_use(tmp_path: Path):
    (tmp_path / "help.py").write_text(HELP)
    command = [sys.executable, tmp_path / "help.py", "--help"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "Crawl the web for a topic" in done.stdout
    assert done.stderr.splitlines()[-1] == "[]"


def test_what_help_leaves_out_can_still_be_imported():
    script = (
        "from opilio.cli.light_help import import_for_help; import_for_help();"
        "import attr, rich.markdown; rich.markdown.Markdown('*a*'); print(attr.ib)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert done.returncode == 0, done.stderr
