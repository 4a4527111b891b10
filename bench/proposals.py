"""Counts how many of the first proposals restore a removed concept of an ontology.

A fifth of the concepts of the UNESCO thesaurus is removed at random. Pages of
../shared/webs/schools are crawled by `opilio crawl --replay` for a topic, or taken at
random; from their text alone, terms are proposed. A proposal restores a concept if it
is a label of a removed one, in singular or plural, and no label that is left.

`possible` are the removed concepts that are named on enough of these pages at all.
`by the paper` ranks by score(w, c) alone. Run it with `python -m bench.proposals
[seeds] [pages]`.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from bench.read import load
from bench.table import show
from opilio.assembly.ontology_loop import read_pages
from opilio.lab.webs import open_web
from opilio.read.html import PageReader
from opilio.records import ReaderSetup
from opilio.store.folder import CrawlFolder
from opilio.topic import load_topic
from opilio.topic.ontology import CrawledText, Ontology, load_ontology, propose
from opilio.topic.ontology.model import combine
from opilio.topic.ontology.propose import SupportingPages, count_terms
from opilio.topic.ontology.term_counts import TermCounts, labels_in, term_key

SHARED = Path(__file__).resolve().parents[2] / "shared"
WEB = SHARED / "webs/schools"
THESAURUS = SHARED / "data/unesco-thesaurus.ttl"
REMOVED = 0.2
FIRST = 50
SEEDS = 5
PAGES = 500


def crawl(topic: Path, pages: int) -> list[CrawledText]:
    """The relevant pages of a crawl for a topic."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "crawl"
        opilio = Path(sys.executable).with_name("opilio")
        command = [str(opilio), "crawl", str(topic), "-q"]
        command += ["-o", str(place), "--replay", str(WEB / "pages.warc.gz")]
        command += ["--max-pages", str(pages)]
        subprocess.run(command, check=True, capture_output=True)
        return list(read_pages(CrawlFolder(place), load_topic(topic), pages))


def any_pages(pages: int, seed: int) -> list[CrawledText]:
    """Pages of the web at random."""
    reader = PageReader(ReaderSetup((), "en", headings=True, text=True))
    responses = list(load(WEB / "pages.warc.gz", 10_000))
    chosen = random.Random(seed).sample(responses, pages)
    read = (reader.read(response) for response in chosen)
    return [
        CrawledText(p.url, p.text, p.title, p.headings, [k.anchor for k in p.links])
        for p in read
    ]


def without_some(ontology: Ontology, seed: int) -> tuple[Ontology, list[set[str]]]:
    """The ontology without a fifth of its concepts, and the labels of these."""
    places = range(len(ontology.concepts))
    lost = set(random.Random(seed).sample(places, int(len(places) * REMOVED)))
    left = combine(ontology.name, [(ontology, [n for n in places if n not in lost])])
    known = labels_in(left, "en").keys()
    surfaces = (ontology.concepts[n].surfaces(["en"]) for n in sorted(lost))
    labels = [{term_key(text, "en") for text in texts} - known for texts in surfaces]
    return left, [some for some in labels if some]


def by_score(self: SupportingPages, counts: TermCounts) -> dict[str, float]:
    """The paper's way: no chance is learnt, terms are ranked by their score."""
    best = self.best_places(counts)
    top = max(value for value, _, _ in best.values())
    return {
        key: value / top
        for key, (value, _, _) in best.items()
        if key not in self.labels
    }


def restored(
    ontology: Ontology, texts: Sequence[CrawledText], lost: Sequence[set[str]]
) -> int:
    """How many of the first proposals restore a concept."""
    found = propose(ontology, texts, language="en", most=FIRST)
    keys = {term_key(one.term, "en") for one in found if one.kind == "term"}
    return sum(bool(labels & keys) for labels in lost)


def measured(texts: Sequence[CrawledText], seeds: int) -> Iterator[tuple[int, ...]]:
    """For each seed: concepts that could be restored, those restored, and by score."""
    ontology = load_ontology(THESAURUS)
    for seed in range(seeds):
        left, lost = without_some(ontology, seed)
        least = 2 + len(texts) // 250
        counts = count_terms(labels_in(left, "en"), texts, "en", least)
        possible = sum(not labels.isdisjoint(counts.pages) for labels in lost)
        ours = restored(left, texts, lost)
        with patch.object(SupportingPages, "chances", by_score):
            yield possible, ours, restored(left, texts, lost)


def main() -> None:
    """Print the table."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else PAGES
    web = open_web(WEB)
    rows = []
    sets = {name: crawl(path, pages) for name, path in web.topics.items()}
    sets["any pages"] = any_pages(pages, seed=0)
    for name, texts in sets.items():
        found = list(measured(texts, seeds))
        means = [statistics.mean(column) for column in zip(*found, strict=True)]
        low, high = min(row[1] for row in found), max(row[1] for row in found)
        middle = f"{means[0]:.0f}", f"{means[1]:.1f}", f"{low}–{high}"
        rows.append([name, len(texts), *middle, f"{means[2]:.1f}"])
    show(
        f"Concepts restored by the first {FIRST} terms, mean of {seeds} seeds",
        ["pages of", "pages", "possible", "restored", "range", "by the paper"],
        rows,
    )


if __name__ == "__main__":
    main()
