"""Runs the arms of an experiment, each a strategy with topic files, on all topics."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from opilio.lab.compare import Done, WantedRuns, run_comparison
from opilio.lab.reproduce.experiment import Figures, Setting
from opilio.lab.reproduce.synthetic_webs import with_topics
from opilio.lab.seeds_and_targets import Ground
from opilio.topic.file import load_topic

Tables = dict[str, Any]


@dataclass(frozen=True)
class ExperimentArm:
    """A way to crawl."""

    name: str
    strategy: str  # with its options: blocks,mode=paper
    topics: Mapping[str, Path] | None = None  # None: the web's own


def crawled(
    setting: Setting, arms: Sequence[ExperimentArm]
) -> Iterator[tuple[str, Done]]:
    """Every arm over every topic: its name, and the run with its requests."""
    for topics in unique(arm.topics for arm in arms):
        those = {arm.strategy: arm.name for arm in arms if arm.topics is topics}
        ground = setting.ground
        if topics is not None:
            ground = with_topics(ground, dict(topics))
        wanted = WantedRuns(
            topics=list(setting.topics),
            strategies=list(those),
            budget=setting.budget,
        )
        for done in run_comparison(ground, wanted, setting.folder, setting.jobs):
            yield those[done.run.task.strategy], done


def unique(values: Iterator[Any]) -> list[Any]:
    """Each value once, by identity."""
    return list({id(value): value for value in values}.values())


def figures_of(
    setting: Setting,
    arms: Sequence[ExperimentArm],
    values: Callable[[Done], Mapping[str, float | None]],
) -> list[Figures]:
    """The figures of all arms, in their order and that of the topics."""
    found = {
        (name, done.run.task.topic): Figures(
            name,
            f"{setting.ground.web.name} {done.run.task.topic}",
            {key: value for key, value in values(done).items() if value is not None},
        )
        for name, done in crawled(setting, arms)
    }
    return [found[arm.name, topic] for arm in arms for topic in setting.topics]


def found_within(done: Done, share: float) -> float:
    """Recall after a share of the budget."""
    most = share * done.run.budget
    return sum(at <= most for at in done.run.found_at) / done.run.R


def mean_recall(done: Done) -> float:
    """Recall, averaged over the requests of the budget: how high the curve lies."""
    left = sum(done.run.budget + 1 - at for at in done.run.found_at)
    return left / (done.run.budget * done.run.R)


def rewritten(
    ground: Ground, folder: Path, change: Callable[[str, Tables], Tables]
) -> dict[str, Path]:
    """The web's topic files, changed and written into a folder; the files they name
    are those of the web."""
    folder.mkdir(parents=True, exist_ok=True)
    written = {}
    for name, path in ground.web.topics.items():
        tables = change(name, tomllib.loads(path.read_text("utf-8")))
        written[name] = folder / f"{name}.toml"
        written[name].write_text(tomli_w.dumps(tables), encoding="utf-8")
        load_topic(written[name])
    return written
