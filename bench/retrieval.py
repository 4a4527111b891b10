"""Measures how well searches find pages, by the labels of a real web.

All pages of ../shared/webs/schools are indexed with the UNESCO thesaurus: their main
texts, as crawls do, and for comparison all of their visible text. For each
labelled subject with at least ten pages its name is the query ("Space_Astronomy":
"space astronomy"), and the pages with the label are what it should find. Ontology and
full text together against full text alone: precision and nDCG of the first ten, mean
average precision of all; the difference with a paired bootstrap interval of 95 %. A
subject is covered if a feature of the thesaurus is in its name. Every other subject, in
alphabetical order, was used to choose λ and the steps' weights; the others were not.

Run it with `python -m bench.retrieval`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from math import log2
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.judges import THESAURUS, WEB, read_labels
from bench.read import load
from bench.table import show
from opilio.lab.webs import open_web
from opilio.records import ReaderSetup
from opilio.search.candidates import seek
from opilio.search.concepts import Concepts
from opilio.search.index import Index
from opilio.search.query import parse_query
from opilio.search.searcher import Searcher
from opilio.storage.database import open_database
from opilio.store.index_entries import save_entry
from opilio.subject.page_reader import PageJob, make_reader
from opilio.text.words import Vocabulary, stem
from opilio.topic.ontology import concept_words, load_ontology

LEAST = 10  # pages of a subject
RESAMPLED = 10_000


class Quality(NamedTuple):
    """How good the answer to one query is."""

    precision: float  # of the first ten
    ndcg: float  # of the first ten
    average_precision: float


class Subject(NamedTuple):
    """A label, the query made of its name, and the pages that have it."""

    query: str
    relevant: frozenset[str]
    covered: bool


def subjects(labels: Mapping[str, Sequence[str]], concepts: Concepts) -> list[Subject]:
    """The labels that have no label below them, and enough pages."""
    pages: dict[str, set[str]] = {}
    for url, names in labels.items():
        for name in names:
            pages.setdefault(name, set()).add(url)
    leaves = [
        name
        for name in sorted(pages)
        if len(pages[name]) >= LEAST
        and not any(other.startswith(f"{name}.") for other in pages)
    ]
    found = []
    for name in leaves:
        query = name.rpartition(".")[2].replace("_", " ").lower()
        spotted = concepts.spot(stem(query.split(), "en"))
        found.append(Subject(query, frozenset(pages[name]), bool(spotted)))
    return found


def index_pages(
    folder: Path, concepts: Concepts, terms: Sequence[str], *, main: bool
) -> Searcher:
    """Everything indexed, as if all of it had been kept; `main`: the main texts, or all
    visible text."""
    folder.mkdir()
    db = open_database(folder / "crawl.db")
    job = PageJob(
        make_reader(ReaderSetup(tuple(terms), "en", overlapping=True, sequence=True))
    )
    db.execute("BEGIN")
    responses = (one for warc in open_web(WEB).warcs for one in load(warc, -1))
    for number, response in enumerate(responses, 1):
        page = job.reader.read(response)
        db.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise) "
            "VALUES (?, ?, ?, 1, 'kept', 0)",
            (number, page.url, number),
        )
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, language, title, bytes) "
            "VALUES (?, ?, 0, 200, ?, ?, 0)",
            (number, number, page.language, page.title),
        )
        found = job.extract(response).extraction if main else None
        save_entry(db, number, found or page)
    db.execute("COMMIT")
    return Searcher(Index(db, folder / "index"), concepts, "en")


def ranking(searcher: Searcher, query: str) -> list[str]:
    """The URLs of all pages that answer, best first."""
    parsed = parse_query(query)
    sought = seek(searcher.index, searcher.concepts, parsed, "en")
    entries, _, _ = searcher.rank(parsed, sought)
    urls: dict[int, str] = dict(
        searcher.db.execute(
            "SELECT entry, url FROM indexed JOIN link ON link.id = page"
        )
    )
    return [urls[entry] for entry in entries.tolist()]


def answers(searcher: Searcher, asked: Sequence[Subject]) -> list[Quality]:
    """How good the answers to all queries are."""
    return [quality(ranking(searcher, one.query), one.relevant) for one in asked]


def quality(ranked: Sequence[str], relevant: frozenset[str]) -> Quality:
    """Precision and nDCG at 10, and average precision."""
    gains = [url in relevant for url in ranked]
    top = gains[:10]
    dcg = sum(gain / log2(place + 2) for place, gain in enumerate(top))
    ideal = sum(1 / log2(place + 2) for place in range(min(10, len(relevant))))
    hits, total = 0, 0.0
    for place, gain in enumerate(gains, 1):
        if gain:
            hits += 1
            total += hits / place
    return Quality(sum(top) / 10, dcg / ideal, total / len(relevant))


def compare(
    title: str,
    alone: Sequence[Quality],
    both: Sequence[Quality],
    names: tuple[str, str] = ("full text alone", "with the ontology"),
) -> None:
    """Print the means, and how sure the difference is."""
    if not alone:
        return
    one, other = np.array(alone), np.array(both)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, len(one), (RESAMPLED, len(one)))
    means = (other - one)[drawn].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5), axis=0)
    show(
        f"{title}: {len(one)} subjects",
        ("", "P@10", "nDCG@10", "MAP"),
        [
            (names[0], *(f"{value:.3f}" for value in one.mean(axis=0))),
            (names[1], *(f"{value:.3f}" for value in other.mean(axis=0))),
            (
                "difference, 95 %",
                *(f"{a:+.3f} to {b:+.3f}" for a, b in zip(low, high, strict=True)),
            ),
        ],
    )


def main() -> None:
    """Index, ask, print."""
    if not WEB.exists() or not THESAURUS.exists():
        print("skipped: ../shared is not there")
        return
    ontology = load_ontology(THESAURUS)
    words = concept_words(ontology, Vocabulary((), "en").key, languages=["en"])
    terms = [t for concept in ontology.concepts for t in concept.surfaces(["en"])]
    concepts = Concepts(words)
    asked = subjects(read_labels(), concepts)
    with tempfile.TemporaryDirectory() as name:
        searcher = index_pages(Path(name, "all"), concepts, terms, main=False)
        visible = answers(searcher, asked)
        searcher.db.close()
        searcher = index_pages(Path(name, "main"), concepts, terms, main=True)
        both = answers(searcher, asked)
        searcher.concepts = Concepts()
        alone = answers(searcher, asked)
        searcher.db.close()
    compare("all", visible, both, ("all visible text", "main texts"))
    everything = range(len(asked))
    covered = [number for number in everything if asked[number].covered]
    for title, chosen in (
        ("all", everything),
        ("covered by the thesaurus", covered),
        ("held out", [n for n in everything if n % 2]),
        ("held out and covered", [n for n in covered if n % 2]),
    ):
        compare(title, [alone[n] for n in chosen], [both[n] for n in chosen])


if __name__ == "__main__":
    main()
