"""Compares the fast way to read pages with the parser, on pages and parser tests.

    python -m bench.fast_path FILE[:N] …

FILE is a tree-construction test of html5lib (*.dat; the Go module golang.org/x/net has
them in html/testdata/webkit), JSON lines with pages (*.jsonl.gz, field `html`), or a
WARC file (*.warc.gz). With N, every Nth page is taken. The fast way declines what it
cannot tidy; what it takes, it must read as the parser does: text, links, headings and
what is declared.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fastwarc.warc import ArchiveIterator

from opilio.read import kernels
from opilio.read.document import parse_document


def markups(path: Path) -> Iterator[str]:
    """The pages of a file."""
    if path.suffix == ".dat":
        for test in path.read_text("utf-8", "replace").split("#data\n")[1:]:
            if "#document-fragment" not in test:
                yield test.partition("\n#errors")[0]
        return
    if path.name.endswith(".warc.gz"):
        for record in ArchiveIterator(path.open("rb")):
            kind = record.http_content_type or "" if record.is_http else ""
            if "html" in kind:
                yield record.reader.read().decode("utf-8", "replace")
        return
    with gzip.open(path, "rt") as lines:
        for line in lines:
            told = json.loads(line)
            yield told.get("html") or told.get("content") or ""


def outcome(markup: str) -> str:
    """How a page is read: the same, another way, or by the parser alone."""
    body = markup.encode("utf-8", "replace")
    tidied = kernels.tidied(body)
    if tidied is None:
        return "for the parser"
    parsed = parse_document(body.decode()).html
    return "the same" if kernels.walk(tidied) == kernels.walk(parsed) else "DIFFERENT"


def main() -> None:
    """Count outcomes, and print pages that are read in two ways."""
    for argument in sys.argv[1:]:
        name, _, step = argument.partition(":")
        found: Counter[str] = Counter()
        for markup in islice(markups(Path(name)), 0, None, int(step or 1)):
            how = outcome(markup)
            found[how] += 1
            if how == "DIFFERENT":
                print(repr(markup[:500]))
        told = ", ".join(f"{count:,} {how}" for how, count in sorted(found.items()))
        print(f"{Path(name).name}: {told}")


if __name__ == "__main__":
    main()
