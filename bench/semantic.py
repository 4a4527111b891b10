"""Measures the judge `embedding` against `cosine` and the default judge on real webs.

For each topic of ../shared/webs/schools (with 36 more, see judge_topics.py) and apache,
some pages are judged once, in a shuffled order, as a crawl would judge them: at most
200 relevant ones (`--relevant N`), three times as many and 100 others with a keyword of
the topic, and half as many and 100 at random. `--every N` takes every N-th of the 36.
Judges never see labels. It prints the average precision of each judge, how often the
model was asked, and the CPU time of each step.

Run it with `python -m bench.semantic MODEL`, a sentence model as the setting
`embedding.model` names it. Vectors of pages are kept in a file beside the model
(`--vectors FILE`), so that a second run takes minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from bench.judge_topics import MORE
from bench.judges import quality
from bench.read import load
from bench.table import show
from opilio.advise.embedding import EmbeddingAdviser, load_model, told_of
from opilio.judge import JUDGES
from opilio.lab.labels import read_labels, relevant_urls
from opilio.lab.statistics import compare
from opilio.lab.webs import open_web
from opilio.read.main_content.extract import extract_content
from opilio.records import Page, ReaderSetup, Response, Subject, Verdict
from opilio.subject.compile import compile_topic
from opilio.subject.page_reader import make_reader
from opilio.topic import Topic, load_topic
from opilio.topic.file import Evaluation
from opilio.vectors.files import AUTO
from opilio.vectors.sentence_model import SentenceModel, Vector

WEBS = Path(__file__).resolve().parents[2] / "shared/webs"
NAMES = ("cosine", "opilio", "embedding")
MOST, TIMES, MORE_PAGES = 200, 3, 100
TIMED = 100  # pages whose CPU time is measured step by step


class Task(NamedTuple):
    """A topic, and pages that are judged for it, in order."""

    group: str
    name: str
    subject: Subject
    pages: Sequence[int]
    relevant: frozenset[int]


class KnownVectors(SentenceModel):
    """A model that keeps the vectors of texts, because topics share pages."""

    def __init__(self, model: SentenceModel, file: Path) -> None:
        self.__dict__ |= vars(model)
        self.file = file
        self.known: dict[str, Vector] = {}
        if file.exists():
            kept = np.load(file)
            self.known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def vector(self, text: str) -> Vector:
        """The vector of a text, computed once."""
        key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if key not in self.known:
            self.known[key] = super().vector(text)
        return self.known[key]

    def save(self) -> None:
        """Write all vectors to the file."""
        vectors = np.array(list(self.known.values()))
        np.savez(self.file, keys=np.array(list(self.known)), vectors=vectors)


class MeasuredWeb:
    """The pages of a web and its topics."""

    def __init__(self, name: str, most: int, every: int) -> None:
        self.name = name
        self.most = most  # relevant pages of a topic
        web = open_web(WEBS / name)
        self.topics = [(name, load_topic(path)) for path in web.topics.values()]
        if name == "schools":
            others = list(more_topics())[::every]
            self.topics += [(f"{len(others)} more", topic) for topic in others]
        self.subjects = [compile_topic(topic, None, AUTO) for _, topic in self.topics]
        terms = dict.fromkeys(t for one in self.subjects for t in one.terms)
        setup = ReaderSetup(
            tuple(terms),
            "en",
            vector=True,
            overlapping=True,
            vectors=self.subjects[0].word_vectors,
        )
        reader = make_reader(setup)
        self.responses: list[Response] = []
        self.pages: list[Page] = []
        for warc in web.warcs:
            for response in load(warc, -1):
                page = reader.read(response)
                self.responses.append(response)
                self.pages.append(msgspec.structs.replace(page, links=()))
        self.labels = read_labels(web.labels)
        self.texts: dict[int, str] = {}  # that were needed

    def tasks(self) -> Iterator[Task]:
        """What is judged, topic by topic."""
        for (group, topic), subject in zip(self.topics, self.subjects, strict=True):
            wanted = relevant_urls(self.labels, topic.evaluation.relevant_labels)
            relevant = [n for n, page in enumerate(self.pages) if page.url in wanted]
            chance = random.Random(1)
            chosen = chance.sample(relevant, min(len(relevant), self.most))
            others = sorted(set(range(len(self.pages))) - set(relevant))
            near = [n for n in others if self.pages[n].terms.keys() & subject.weights]
            size = TIMES * len(chosen) + MORE_PAGES
            some = {*chance.sample(near, min(len(near), size))}
            some |= {*chance.sample(others, len(chosen) // 2 + MORE_PAGES)}
            order = [*chosen, *sorted(some)]
            chance.shuffle(order)
            yield Task(group, topic.name, subject, order, frozenset(relevant))

    def text(self, number: int) -> str:
        """What the model reads of a page, extracted once."""
        if number not in self.texts:
            self.texts[number] = self.extracted(number)
        return self.texts[number]

    def extracted(self, number: int) -> str:
        """The title and the beginning of the main text of a page."""
        found = extract_content(self.responses[number])
        title = found.title or self.pages[number].title
        return told_of(title, found.text)


def more_topics() -> Iterator[Topic]:
    """The 36 other topics of schools."""
    for label, keywords in MORE.items():
        evaluation = Evaluation(relevant_labels=(label,))
        yield Topic(name=label, keywords=tuple(keywords), evaluation=evaluation)


class Measured(NamedTuple):
    """How good the judges are on a topic."""

    task: Task
    average_precision: dict[str, float]
    f1: dict[str, float]
    asked: float  # share of the pages


def measure(web: MeasuredWeb, task: Task, model: KnownVectors) -> Measured:
    """Judge the pages of a task by every judge."""
    adviser = EmbeddingAdviser(model, task.subject)
    found, asked = {}, 0
    for name in NAMES:
        judge = JUDGES[name](task.subject)
        verdicts: dict[int, Verdict] = {}
        for number in task.pages:
            page = web.pages[number]
            if name == "embedding" and judge.doubts(page):
                asked += 1
                opinion = adviser.similarity(page.url, web.text(number))
                page = msgspec.structs.replace(page, opinion=opinion)
            verdicts[number] = judge.judge(page)
        found[name] = quality(verdicts, task.relevant)
    return Measured(
        task,
        {name: one.average_precision for name, one in found.items()},
        {name: one.f1 for name, one in found.items()},
        asked / len(task.pages),
    )


def cpu_times(web: MeasuredWeb, model: SentenceModel) -> dict[str, float]:
    """The CPU time of an opinion on a page, step by step, in ms, in the mean."""
    chosen = random.Random(2).sample(range(len(web.pages)), TIMED)
    spent = dict.fromkeys(("main text", "sentence model"), 0.0)
    for number in chosen:
        began = time.process_time()
        text = web.extracted(number)
        extracted = time.process_time()
        model.vector(text)
        spent["main text"] += extracted - began
        spent["sentence model"] += time.process_time() - extracted
    return {name: 1000 * value / TIMED for name, value in spent.items()}


def report(rows: Sequence[Measured]) -> None:
    """Print what was measured."""
    groups = list(dict.fromkeys(row.task.group for row in rows))
    lines, means, pairs = [], [], []
    for group in groups:
        own = [row for row in rows if row.task.group == group]
        for row in own:
            precision = [f"{row.average_precision[name]:.3f}" for name in NAMES]
            sizes = (len(row.task.pages), len(row.task.relevant & {*row.task.pages}))
            lines.append((row.task.name, *sizes, *precision, f"{row.asked:.2f}"))
        for label, of in (("average precision", 1), ("F1", 2)):
            each = [statistics.mean(row[of][name] for row in own) for name in NAMES]
            cells = [f"{value:.3f}" for value in each]
            asked = f"{statistics.mean(row.asked for row in own):.2f}"
            means.append((f"{group}, {label}", len(own), *cells, asked))
        best = [row.average_precision["embedding"] for row in own]
        for other in NAMES[:2]:
            than = [row.average_precision[other] for row in own]
            pair = compare(best, than, seed=0)
            interval = f"{pair.low:+.3f} to {pair.high:+.3f}"
            counts = (f"{pair.mean:+.3f}", interval, f"{pair.p:.3f}")
            wins = f"{pair.wins}/{pair.ties}/{pair.losses}"
            pairs.append((f"{group}: embedding - {other}", *counts, wins))
    show("Topic by topic", ("topic", "pages", "relevant", *NAMES, "asked"), lines)
    show("Means", ("topics", "n", *NAMES, "asked"), means)
    header = ("difference of average precision", "mean", "95 %", "p", "won/tied/lost")
    show("Pairs", header, pairs)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--vectors", type=Path, metavar="FILE")
    parser.add_argument("--webs", default="schools,apache")
    parser.add_argument("--relevant", type=int, default=MOST, metavar="N")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    given = parser.parse_args()
    model = load_model(str(given.model))
    file = given.vectors or given.model.with_suffix(".pages.npz")
    known = KnownVectors(model, file)
    rows: list[Measured] = []
    for name in given.webs.split(","):
        web = MeasuredWeb(name, given.relevant, given.every)
        for step, spent in cpu_times(web, model).items():
            print(f"{name}: {step}, CPU ms a page: {spent:.2f}", flush=True)
        for task in web.tasks():
            rows.append(measure(web, task, known))
            print(task.name, flush=True)
        known.save()
    report(rows)


if __name__ == "__main__":
    main()
