"""Runs the experiments of the papers on each kind of web."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from opilio.lab.reproduce import (
    a_mcore,
    b_ordering,
    c_website_model,
    d_weight_table,
    e_blocks,
)
from opilio.lab.reproduce.experiment import (
    ClaimOutcome,
    Experiment,
    Figures,
    Setting,
    judged,
)
from opilio.lab.reproduce.synthetic_webs import ground_of, synthetic_ground

EXPERIMENTS = {
    each.EXPERIMENT.letter: each.EXPERIMENT
    for each in (a_mcore, b_ordering, c_website_model, d_weight_table, e_blocks)
}
SEEDS = (1, 2)  # of the synthetic webs


@dataclass(frozen=True, kw_only=True)
class OutputPlaces:
    """Webs besides the synthetic ones, and where things are written."""

    folder: Path
    web: Path | None = None
    mixed_web: Path | None = None  # with Hindi words, for experiment A
    dictionary: Path | None = None  # of these


def run_experiments(
    letters: Sequence[str],
    places: OutputPlaces,
    jobs: int,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[ClaimOutcome]:
    """Each experiment on the synthetic webs, and on the other web if there is one."""
    for letter in letters:
        experiment = EXPERIMENTS[letter]
        for kind in experiment.webs:
            tell(f"{letter}: {kind}")
            yield on_synthetic_webs(experiment, kind, places.folder, jobs)
        web = places.mixed_web if letter == "A" else places.web
        if web:
            tell(f"{letter}: the web {web}")
            yield on_web(experiment, web, places, jobs)


def on_web(
    experiment: Experiment, web: Path, places: OutputPlaces, jobs: int
) -> ClaimOutcome:
    """One experiment on a web that is there, over all its topics."""
    ground = ground_of(web, jobs)
    setting = Setting(
        ground=ground,
        folder=made(places.folder / f"{experiment.letter}-{ground.web.name}"),
        jobs=jobs,
        budget=experiment.real_budget,
        topics=tuple(ground.web.topics),
        synthetic=False,
        dictionary=places.dictionary,
    )
    figures = experiment.crawl(setting)
    return judged(experiment, figures, ground.web.name, [ground.web.title])


def on_synthetic_webs(
    experiment: Experiment,
    kind: str,
    folder: Path,
    jobs: int,
    seeds: Sequence[int] = SEEDS,
) -> ClaimOutcome:
    """One experiment on a web a seed, all their topics together."""
    figures: list[Figures] = []
    webs: list[str] = []
    for seed in seeds:
        name = f"{experiment.letter} {kind} {seed}".replace(" ", "-")
        dials = msgspec.structs.replace(experiment.webs[kind], seed=seed)
        ground = synthetic_ground(folder / "webs" / name, dials, jobs)
        setting = Setting(
            ground=ground,
            folder=made(folder / name),
            jobs=jobs,
            budget=experiment.budget,
            topics=tuple(ground.web.topics)[: experiment.topics],
        )
        figures += experiment.crawl(setting)
        webs.append(ground.web.title)
    return judged(experiment, figures, kind, webs)


def made(folder: Path) -> Path:
    """The folder, made if it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder
