"""Measures whether a longer list of keywords changes how many pages a crawl keeps.

Each topic of a web is crawled with 6, 20, 40 and 66 keywords and the same budget. The
first are the topic's own; the others are drawn from its labelled pages: the words with
the highest sum of (1 + ln tf)·ln(N/df), either among those on at least a tenth of them
(usual), or on at most a twentieth (rare). Labels say how many of the pages kept are
right; the crawl never sees them.

    python -m bench.keyword_lists --words usual --judge opilio
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.read import load
from bench.table import show
from opilio.lab.labels import read_labels, relevant_urls
from opilio.lab.trial import Trial, conduct
from opilio.lab.webs import LabWeb, open_web
from opilio.read.main_content.extract import extract_content
from opilio.text.words import stem, stop_words
from opilio.topic import Topic, load_topic

WEB = Path(__file__).resolve().parents[2] / "shared/webs/schools"
LENGTHS = (6, 20, 40, 66)
BUDGET = 300  # requests
WORD = re.compile(r"[a-z]{4,}")
USUAL, RARE = 0.1, 0.05  # share of the topic's pages that have a word


class Kept(NamedTuple):
    """What one crawl kept."""

    pages: int
    right: int  # by the labels
    found: int  # relevant pages among all that were fetched


def main() -> None:
    """Crawl every topic with lists of every length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--web", type=Path, default=WEB, metavar="DIR")
    parser.add_argument("--judge", action="append", metavar="NAME")
    parser.add_argument("--strategy", default="opilio", metavar="NAME")
    parser.add_argument("--topic", action="append", metavar="NAME")
    parser.add_argument("--words", choices=("usual", "rare"), default="usual")
    parser.add_argument("--budget", type=int, default=BUDGET, metavar="N")
    given = parser.parse_args()
    web = open_web(given.web)
    for judge in given.judge or ["opilio"]:
        rows = list(measure(web, given, judge))
        show(
            "kept (right by the labels, of all relevant pages fetched); "
            f"{judge}, {given.words} words",
            ["topic", *(f"{length} keywords" for length in LENGTHS)],
            rows,
        )


def measure(web: LabWeb, given: argparse.Namespace, judge: str) -> Iterator[list[str]]:
    """A row of each topic, and one of the sums."""
    labels = read_labels(web.labels)
    documents = dict(words_of_pages(web))
    sums = [Kept(0, 0, 0)] * len(LENGTHS)
    with tempfile.TemporaryDirectory(prefix="opilio-readings-") as readings:
        for name in given.topic or sorted(web.topics):
            topic = load_topic(web.topics[name])
            relevant = relevant_urls(labels, topic.evaluation.relevant_labels)
            every = longer_list(topic, documents, relevant, given.words == "rare")
            row = [name]
            for place, length in enumerate(LENGTHS):
                short = msgspec.structs.replace(topic, keywords=tuple(every[:length]))
                trial = Trial(
                    warcs=tuple(map(str, web.warcs)),
                    topic=short,
                    strategy=given.strategy,
                    judge=judge,
                    seeds=tuple(topic.sources.urls),
                    budget=given.budget,
                    readings=readings,
                )
                kept = crawl(trial, relevant)
                sums[place] = Kept(*map(sum, zip(sums[place], kept, strict=True)))
                row.append(as_text(kept))
            print(*row, sep="  ", flush=True)
            yield row
    yield ["all", *map(as_text, sums)]


def as_text(kept: Kept) -> str:
    """As a row of the table."""
    return f"{kept.pages} ({kept.right} of {kept.found})"


def words_of_pages(web: LabWeb) -> Iterator[tuple[str, Counter[str]]]:
    """The URL of each page and its words."""
    for warc in web.warcs:
        for response in load(warc, -1):
            yield (
                response.url,
                Counter(WORD.findall(extract_content(response).text.lower())),
            )


def longer_list(
    topic: Topic,
    documents: dict[str, Counter[str]],
    relevant: frozenset[str],
    rare: bool,
) -> list[str]:
    """The topic's own keywords, then words that are typical of its pages."""
    own = [
        keyword if isinstance(keyword, str) else keyword.term
        for keyword in topic.keywords
    ]
    holders: Counter[str] = Counter()
    for words in documents.values():
        holders.update(words.keys())
    ours = [words for url, words in documents.items() if url in relevant]
    on_topic: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for words in ours:
        on_topic.update(words.keys())
        for word, count in words.items():
            values[word] += (1 + log(count)) * log(len(documents) / holders[word])
    known = set(stem(" ".join(own).lower().split()))
    for word, _ in values.most_common():
        [root] = stem([word])
        share = on_topic[word] / len(ours)
        wanted = share <= RARE if rare else share >= USUAL
        if wanted and root not in known and word not in stop_words():
            known.add(root)
            own.append(word)
    return own


def crawl(trial: Trial, relevant: frozenset[str]) -> Kept:
    """Crawl once, and look up what was kept."""
    visits = conduct(trial).visits
    kept = [visit.url for visit in visits if visit.state == "kept"]
    right = sum(url in relevant for url in kept)
    return Kept(len(kept), right, sum(visit.url in relevant for visit in visits))


if __name__ == "__main__":
    main()
