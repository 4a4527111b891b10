"""Writes the README.md of a dataset in the layout of Hugging Face."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from opilio.store.corpus.columns import COLUMNS, ExportRow
from opilio.text.usage_signals import PURPOSES, reserved_purposes

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
MOST = 20  # rows of a table
MOST_COUNTED = 10_000  # different values, to bound the memory


class DatasetFacts(msgspec.Struct):
    """What the card tells, counted page by page."""

    pages: int = 0
    words: int = 0
    first: str = ""  # fetched, as dates
    last: str = ""
    languages: dict[str, int] = {}
    licences: dict[str, int] = {}
    sites: dict[str, int] = {}
    reserved: dict[str, int] = {}
    signals: dict[str, int] = {}

    def count(self, row: ExportRow) -> None:
        """Count one more page."""
        self.pages += 1
        self.words += row["words"] or 0
        day = row["fetched_at"].date().isoformat()
        self.first = min(self.first or day, day)
        self.last = max(self.last, day)
        add(self.languages, row["language"] or "unknown")
        add(self.licences, next(iter(row["licences"]), "unknown"))
        add(self.sites, row["final_url"].split("/")[2])
        for purpose in reserved_purposes(row["usage"]):
            add(self.reserved, purpose)
        for signal in row["usage"]:
            add(self.signals, signal)


def add(counts: dict[str, int], name: str) -> None:
    """Count a name; rare ones are dropped where there are too many."""
    counts[name] = counts.get(name, 0) + 1
    if len(counts) > MOST_COUNTED:
        most = Counter(counts).most_common(MOST_COUNTED // 2)
        counts.clear()
        counts.update(most)


def card(
    name: str,
    folder: str,
    facts: DatasetFacts,
    fields: Sequence[str],
    left_out: str,
    command: str,
    provenance: str,
) -> str:
    """The card, with the front matter by which `datasets` finds the files."""
    languages = sorted(code for code in facts.languages if len(code) == 2)
    size = next((told for most, told in SIZES if facts.pages < most), "n>10M")
    quoted = msgspec.json.encode(name).decode()
    head = [
        "---",
        f"pretty_name: {quoted}",
        *(["language:", *(f"- {code}" for code in languages)] if languages else []),
        "license: other",
        "license_name: mixed",
        "license_link: README.md",
        f"size_categories:\n- {size}",
        "tags:\n- web-crawl\n- focused-crawl",
        "configs:\n- config_name: default\n  data_files:\n  - split: train",
        "    path: data/*.parquet",
        "---",
    ]
    body = [
        f"# {one_line(name)}",
        f"{facts.pages:,} web pages with {facts.words:,} words, fetched from "
        f"{facts.first or '–'} to {facts.last or '–'} by a focused crawl with Opilio. "
        "One row is one page.",
        "```python\nfrom datasets import load_dataset\n\n"
        f'pages = load_dataset({folder!r}, split="train")\n```',
        "## Provenance",
        provenance,
        f"Written by:\n\n```console\n$ {one_line(command)}\n```",
        "## Languages",
        table("language", facts.languages),
        "## Licences",
        "The pages belong to their publishers. What they say about their licences:",
        table("licence", facts.licences),
        "## Reservations",
        "Pages whose sites or publishers reserve them against a purpose, by the "
        "signals in the column `usage`. A page without a signal is not free; its terms "
        "are not known.",
        table("purpose", {one: facts.reserved.get(one, 0) for one in PURPOSES}),
        table("signal", facts.signals) if facts.signals else "No page has a signal.",
        f"{left_out or 'No page of the crawl was left out'}.",
        "## Sites",
        table("site", facts.sites),
        "## Columns",
        "\n".join(f"- `{field}`: {COLUMNS[field]}" for field in fields),
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(body) + "\n"


def table(name: str, counts: Mapping[str, int]) -> str:
    """The most frequent values, as a table."""
    counter = Counter(counts)
    lines = [f"| {name} | pages |", "|---|---:|"]
    for value, count in counter.most_common(MOST):
        lines.append(f"| {one_line(value)} | {count:,} |")
    if len(counter) > MOST:
        rest = sum(counter.values()) - sum(n for _, n in counter.most_common(MOST))
        lines.append(f"| {len(counter) - MOST:,} others | {rest:,} |")
    return "\n".join(lines)


def one_line(text: str) -> str:
    """Text from a page as Markdown that is text and nothing else."""
    line = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in line)
