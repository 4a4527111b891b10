"""`make bench`: measures the speed of crawling and searching, and search quality.

These are some of the measurements, one table after another. The others take longer, or
need a folder or pages of your own: `python -m bench --help` names them all.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

PARTS = (
    "crawl",
    "fetch",
    "read",
    "ranking",
    "choosing",
    "frontier",
    "search",
    "serve",
    "retrieval",
)


def main() -> None:
    """Run them, each with a heading."""
    listed = "\n".join(f"  {name:<14} {does}" for name, does in measurements())
    argparse.ArgumentParser(
        prog="python -m bench",
        description=f"Runs, one after another: {', '.join(PARTS)}.",
        epilog=f"Each runs alone as `python -m bench.NAME`:\n\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()
    for part in PARTS:
        import_module(f"bench.{part}").main()


def measurements() -> Iterator[tuple[str, str]]:
    """The name of every measurement, with the first line of its docstring."""
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text:
            said = ast.get_docstring(ast.parse(text)) or ""
            yield path.stem, said.partition("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    main()
