"""Trains the weights of the default judge and strategy on webs with labels.

Every topic of every web is crawled with the weights known so far; the states of these
crawls, joined with the labels, are the examples. Each topic counts the same, and each
web counts the same. The weights are tested on topics, and on webs, that were left out,
by how well they order waiting links and judged pages (average precision).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import msgspec
import numpy as np

from opilio import __version__
from opilio.errors import BadInput
from opilio.lab import label_guard
from opilio.lab.seeds_and_targets import Course, Ground
from opilio.lab.training.fitting import (
    Floats,
    TrainingExamples,
    average_precision,
    fit_weights,
)
from opilio.lab.training.states import Observed, observe
from opilio.lab.trial import Trial
from opilio.pretrained import (
    FORMAT,
    LogisticWeights,
    Weights,
    WeightsFile,
    load_weights,
)
from opilio.text import urls

PENALTY = 0.2  # λ of the ridge towards the weights known before
FOLDS = 5
FREE = ("pages", "base")  # how far the crawl is; the only weights of any sign
OPENING = ("cosine", "bm25", "opening", "text")


class TrainingLesson(NamedTuple):
    """The training examples from the crawl of one topic."""

    web: str
    topic: str
    features: tuple[str, ...]
    states: list[tuple[Floats, Floats]]  # rows and labels of each moment
    judged: Sequence[tuple[Mapping[str, float], float]]


class Quality(NamedTuple):
    """How well something orders links and pages, by web."""

    links: Mapping[str, float]
    pages: Mapping[str, float]


def lessons(
    grounds: Sequence[tuple[Ground, Sequence[str]]],
    readings: Path,
    *,
    vectors: str,
    weights: str = "",
    budget: str = "3R",
    jobs: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[TrainingLesson]:
    """Crawl every topic and join what was seen with the labels."""
    secrets = [
        path
        for ground, _ in grounds
        for path in (ground.web.labels, *ground.web.topics.values())
    ]
    readings.mkdir(parents=True, exist_ok=True)
    with label_guard.processes(jobs, secrets) as processes:
        under_way = []
        for ground, topics in grounds:
            for topic in topics:
                course = ground.course(topic, budget=budget)
                trial = trial_of(ground, course, readings, vectors, weights)
                future = processes.submit(observe, trial)
                under_way.append((ground, topic, course, future))
        for done, (ground, topic, course, future) in enumerate(under_way, 1):
            yield join(ground, topic, course, future.result())
            tell(f"{done} of {len(under_way)} crawls")


def trial_of(
    ground: Ground, course: Course, readings: Path, vectors: str, weights: str
) -> Trial:
    """The crawl of a topic by the strategy and the judge that are trained."""
    return Trial(
        warcs=tuple(map(str, ground.web.warcs)),
        topic=course.topic,
        strategy="opilio",
        judge="opilio",
        seeds=course.seeds,
        budget=course.budget,
        readings=str(readings),
        vectors=vectors,
        weights=weights,
    )


def join(ground: Ground, topic: str, course: Course, seen: Observed) -> TrainingLesson:
    """What a crawl logged, with the labels."""
    relevant = {urls.fingerprint(url) for url in course.relevant}
    for page in ground.atlas.seen:  # a redirect is as good as where it leads
        if not page.content and page.links and page.links[0] in relevant:
            relevant.add(urls.fingerprint(page.url))
    known = {urls.fingerprint(page.url) for page in ground.atlas.seen}
    states = []
    for state in seen.states:
        chosen = [n for n, link in enumerate(state.links) if link in known]
        rows = np.array([state.rows[n] for n in chosen]).reshape(len(chosen), -1)
        moment = np.tile((np.log(1 + state.pages), state.base), (len(chosen), 1))
        labels = np.array([float(state.links[n] in relevant) for n in chosen])
        if len(chosen):
            states.append((np.hstack((rows, moment)), labels))
    judged = [(one.evidence, float(one.url in course.relevant)) for one in seen.judged]
    features = (*seen.features, *FREE)
    return TrainingLesson(ground.web.name, Path(topic).stem, features, states, judged)


def train(all_lessons: Sequence[TrainingLesson], before: Weights) -> Weights:
    """Weights for all topics together."""
    if not all_lessons:
        raise BadInput("there is nothing to train on; name a web that has topics")
    features = all_lessons[0].features
    chooser = fit_weights(
        links_of(all_lessons), features, before.chooser, PENALTY, FREE
    )
    judge = train_judge(all_lessons, before.judge)
    opening = train_judge(all_lessons, before.opening, OPENING)
    return Weights(opening, judge, chooser)


def train_judge(
    all_lessons: Sequence[TrainingLesson],
    before: LogisticWeights,
    only: Sequence[str] = (),
) -> LogisticWeights:
    """Weights of a judge, from the pages that the crawls judged."""
    names = [name for name in before.weights if not only or name in only]
    return fit_weights(pages_of(all_lessons, names), names, before, PENALTY)


def links_of(all_lessons: Sequence[TrainingLesson]) -> TrainingExamples:
    """The links of all states; each web counts the same, and each topic in it."""
    rows, labels, shares = [], [], []
    for lesson in all_lessons:
        count = sum(len(each) for _, each in lesson.states)
        share = 1 / (topics_of(all_lessons, lesson.web) * max(1, count))
        for state, truth in lesson.states:
            rows.append(state)
            labels.append(truth)
            shares.append(np.full(len(truth), share))
    return TrainingExamples(
        np.vstack(rows), np.concatenate(labels), np.concatenate(shares)
    )


def pages_of(
    all_lessons: Sequence[TrainingLesson], names: Sequence[str]
) -> TrainingExamples:
    """The pages that were judged with all this evidence."""
    rows, labels, shares = [], [], []
    for lesson in all_lessons:
        chosen = [(seen, truth) for seen, truth in lesson.judged if has(seen, names)]
        share = 1 / (topics_of(all_lessons, lesson.web) * max(1, len(chosen)))
        rows += [[seen.get(name, 0.0) for name in names] for seen, _ in chosen]
        labels += [truth for _, truth in chosen]
        shares += [share] * len(chosen)
    return TrainingExamples(np.array(rows), np.array(labels), np.array(shares))


def has(seen: Mapping[str, float], names: Sequence[str]) -> bool:
    """Whether a page was judged with all the evidence asked for; the first ones lack
    critics."""
    return "critic" not in names or "critic" in seen


def topics_of(all_lessons: Sequence[TrainingLesson], web: str) -> int:
    """The number of training topics of a web."""
    return sum(lesson.web == web for lesson in all_lessons)


def quality(all_lessons: Sequence[TrainingLesson], weights: Weights) -> Quality:
    """How well weights order the links and the pages of lessons, by web."""
    links: dict[str, list[float]] = {}
    pages: dict[str, list[float]] = {}
    for lesson in all_lessons:
        chooser = np.array([weights.chooser.of(name) for name in lesson.features])
        each = [average_precision(rows @ chooser, y) for rows, y in lesson.states]
        if good := [value for value in each if not isnan(value)]:
            links.setdefault(lesson.web, []).append(fmean(good))
        judged = [
            (sum(weights.judge.of(name) * value for name, value in seen.items()), truth)
            for seen, truth in lesson.judged
            if "critic" in seen
        ]
        if judged:
            scores, truth = (np.array(each) for each in zip(*judged, strict=True))
            if not isnan(value := average_precision(scores, truth)):
                pages.setdefault(lesson.web, []).append(value)
    return Quality(means(links), means(pages))


def means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The mean of each web."""
    return {web: round(fmean(each), 4) for web, each in sorted(values.items())}


def left_out(
    all_lessons: Sequence[TrainingLesson], before: Weights
) -> Iterator[tuple[str, Sequence[TrainingLesson], Weights]]:
    """Weights trained without some lessons, with these lessons: by topics, then by
    webs."""
    for fold in range(FOLDS):
        out = all_lessons[fold::FOLDS]
        kept = [one for one in all_lessons if one not in out]
        if out and kept:
            yield f"topics {fold + 1}", out, train(kept, before)
    webs = sorted({lesson.web for lesson in all_lessons})
    for web in webs if len(webs) > 1 else ():
        kept = [lesson for lesson in all_lessons if lesson.web != web]
        out = [lesson for lesson in all_lessons if lesson.web == web]
        yield f"web {web}", out, train(kept, before)


def write_weights(path: Path, made: WeightsFile) -> None:
    """Write a weights file atomically."""
    draft = path.with_suffix(".new")
    try:
        text = msgspec.json.format(msgspec.json.encode(made), indent=1)
        draft.write_bytes(text + b"\n")
        draft.replace(path)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}") from None


def assembled(
    with_vectors: Weights | None,
    without_vectors: Weights | None,
    provenance: Mapping[str, object],
) -> WeightsFile:
    """A weights file; what was not trained stays as the package has it."""
    known = load_weights()
    return WeightsFile(
        FORMAT,
        with_vectors or known.with_vectors,
        without_vectors or known.without_vectors,
        {"opilio": __version__, **provenance},
    )
