"""Measures how good the estimate of what is left is, at half the recall.

The truth is taken from the labels, and from the judge: after each crawl it judges every
page that can be reached, which shows what it would have kept.

    python -m bench.left ../shared/webs/schools ../shared/webs/apache
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import ClassVar, NamedTuple

from opilio.errors import OpilioError
from opilio.lab.compare import run_of, trial_of
from opilio.lab.labels import read_labels
from opilio.lab.link_graph import reachable
from opilio.lab.runs import LabTask, Trace
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.trial import TrialCrawl, conduct
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import open_web
from opilio.protocols import LearningJudge

NEAR = 0.05  # tolerance around half the recall


class Figures(NamedTuple):
    """Relative errors of found + left for one topic."""

    labels: float | None = None  # against R
    share: float | None = None  # against R, counting the pages found by labels
    left: float | None = None  # of left alone, against the labels
    own: float | None = None  # against what the judge would keep
    inside: bool | None = None  # whether the truth by labels is within the range


class Looking(TrialCrawl):
    """A crawl whose judge judges every page at the end."""

    pages: ClassVar[Sequence[str]] = ()
    kept: ClassVar[dict[str, float]] = {}  # URL -> score of those that it would keep

    async def run(self, seeds: Mapping[str, float]) -> str:
        """Crawl, then look."""
        ended = await super().run(seeds)
        self.kept.clear()
        for url in self.pages:
            try:
                page = (await self.readers.read(await self.fetch.fetch(url))).page
            except OpilioError:
                continue
            if page and isinstance(self.judge, LearningJudge):
                verdict = self.judge.look(page)
                if verdict.relevant:
                    self.kept[url] = verdict.score
        return ended


def main() -> None:
    """Print a row for each topic, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("web", nargs="+", type=Path)
    parser.add_argument("--topics", default="", help="names, with commas between them")
    given = parser.parse_args()
    rows = []
    for folder in given.web:
        web = open_web(folder)
        ground = Ground(web, open_atlas(web.warcs), read_labels(web.labels))
        for topic in given.topics.split(",") if given.topics else web.topics:
            rows.append(measured(ground, topic))
            print(f"{topic[:40]:40}", *map(shown, rows[-1]), flush=True)
    print(f"{'median of the absolute errors':40}", *map(shown, medians(rows)))


def measured(ground: Ground, topic: str) -> Figures:
    """Crawl for a topic and compare its estimates with the truth."""
    course, atlas = ground.course(topic), ground.atlas
    reached = reachable(atlas.graph, ground.archived(course.seeds))
    pages = {}  # content -> the first URL
    for number, each in enumerate(atlas.seen):
        if reached[number] and each.content:
            pages.setdefault(each.content, each.url)
    Looking.pages = list(pages.values())
    task = LabTask(web=ground.web.name, topic=topic, strategy="opilio", judge="opilio")
    with tempfile.TemporaryDirectory() as readings:
        trace = conduct(trial_of(ground, course, task, Path(readings)), Looking)
    own = own_error(trace, Looking.kept)
    half = run_of(task, course, trace).half_way
    if half is None:
        return Figures(own=own)
    by_labels = course.R - half.truth
    return Figures(
        labels=half.error,
        share=by_labels * (1 + half.left / half.found) / course.R - 1,
        left=half.left_error,
        own=own,
        inside=half.low <= half.truth <= half.high,
    )


def own_error(trace: Trace, kept: Mapping[str, float]) -> float | None:
    """The error at the moment when half of what the judge would keep was found."""
    best: tuple[float, float] | None = None
    for estimate in trace.estimates:
        seen = {visit.url for visit in trace.visits[: estimate.request]}
        left = sum(score for url, score in kept.items() if url not in seen)
        total = estimate.found + left
        away = abs(estimate.found / total - 0.5)
        error = (estimate.found + estimate.left) / total - 1
        if away <= NEAR and (best is None or away < best[0]):
            best = away, error
    return best[1] if best else None


def medians(rows: Sequence[Figures]) -> list[float | None]:
    """The median of the absolute values of each column; the mean of the last one."""
    columns = [
        [abs(x) for x in column if x is not None] for column in zip(*rows, strict=True)
    ]
    found = [median(column) if column else None for column in columns]
    if columns[-1]:
        found[-1] = sum(columns[-1]) / len(columns[-1])
    return found


def shown(value: float | None) -> str:
    """A number, or a dash."""
    return "    –" if value is None else f"{float(value):+5.2f}"


if __name__ == "__main__":
    main()
