"""Makes up plausible runs of the lab from a seed, for tests of reports."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from statistics import median

from opilio.lab.measures import MORE_IS_BETTER
from opilio.lab.runs import About, LabTask, Measures, Run

STRATEGIES = {  # how well each finds its way, about as in the literature
    "apprentice": 0.76,
    "blocks": 0.7,
    "shark-search": 0.6,
    "best-first": 0.5,
    "opic": 0.3,
    "breadth-first": 0.24,
    "random": 0.15,
}
TOPICS = {"astronomy": 138, "birds": 161, "mathematics": 45}
ORACLE = 0.97

ABOUT = About(
    command="opilio lab compare --web schools --repeat 2",
    web="schools",
    title="Wikipedia for Schools",
    pages=4_604,
    links=119_882,
    versions={"opilio": "0.1", "python": "3.11.2"},
    started="2026-07-01T12:00:00+00:00",
    seconds=83.0,
    cores=2,
)


def made_up_runs(
    seed: int = 0,
    *,
    strategies: dict[str, float] = STRATEGIES,
    topics: dict[str, int] = TOPICS,
    judges: Sequence[str] = ("cosine",),
    modes: Sequence[str] = ("near",),
    repeats: int = 2,
    budget: int = 0,  # 0: 3·R
    ended: str = "budget",
) -> list[Run]:
    """Every strategy on every task; the same seed, the same runs."""
    return [
        made_up_run(
            f"{seed}",
            task,
            skill,
            topics[task.topic],
            budget or 3 * topics[topic],
            ended,
        )
        for mode in modes
        for judge in judges
        for topic in topics
        for repeat in range(repeats)
        for strategy, skill in strategies.items()
        for task in [
            LabTask(
                web="schools",
                topic=topic,
                strategy=strategy,
                judge=judge,
                seeds_mode=mode,
                repeat=repeat,
            )
        ]
    ]


def made_up_run(
    seed: str, task: LabTask, skill: float, targets: int, budget: int, ended: str
) -> Run:
    """One run: the skill is the chance of a target as long as many are left."""
    web = random.Random(f"{seed} {task.topic} {task.repeat} {task.seeds_mode}")
    ease = web.uniform(0.8, 1.05) * (0.8 if task.seeds_mode == "far" else 1)
    chance = random.Random(f"{seed} {task}")
    skill *= ease * chance.uniform(0.92, 1.08)
    found = list(walk(chance, skill, targets, budget))
    best = list(walk(web, ORACLE, targets, budget))
    measures = measured(chance, found, targets, budget)
    oracle = measured(web, best, targets, budget)
    return Run(
        task=task,
        budget=budget,
        seeds=[f"http://{task.topic}.test/{task.repeat}"],
        R=targets,
        requests=budget,
        ended=ended,
        cpu_ms=chance.uniform(0.2, 3),
        measures=measures,
        oracle=oracle,
        of_oracle={
            name: getattr(measures, name) / getattr(oracle, name)
            for name in MORE_IS_BETTER
            if getattr(oracle, name)
        },
        found_at=found,
        oracle_found_at=best,
    )


def walk(
    chance: random.Random, skill: float, targets: int, budget: int
) -> Iterator[int]:
    """Numbers of the requests that find a target; the last ones are hard to find."""
    left = targets
    for number in range(1, budget + 1):
        if left and chance.random() < skill * (left / targets) ** (2 * (1.1 - skill)):
            left -= 1
            yield number


def measured(
    chance: random.Random, found: Sequence[int], targets: int, budget: int
) -> Measures:
    """The measures of an order; what is not in the order is drawn."""

    def pages_to(share: float) -> int | None:
        wanted = -int(-share * targets // 1)
        return found[wanted - 1] if len(found) >= wanted else None

    def recall(number: int) -> float:
        return bisect_right(found, number) / targets

    return Measures(
        harvest=len(found) / budget,
        recall=len(found) / targets,
        aurc=sum(map(recall, range(1, 3 * targets + 1))) / (3 * targets),
        recall_2R=recall(2 * targets),
        recall_50=recall(50),
        recall_R=recall(targets),
        recall_3R=recall(3 * targets),
        precision_50=sum(1 for at in found if at <= 50) / min(50, budget),
        pages_to_50=pages_to(0.5),
        pages_to_80=pages_to(0.8),
        pages_to_90=pages_to(0.9),
        target_length=median(chance.choices((1, 2, 3, 4), (2, 5, 3, 1), k=9)),
        unfound=targets - len(found),
        through_irrelevant=chance.uniform(0, 0.4),
        wasted=chance.uniform(0, 0.1),
    )
