"""Meenu et al.'s table II: no table, a static and a dynamic one as interest drifts.

Users ask for one subject and then for its neighbour (interest.py). All crawlers start
at the first subject's seeds. Basic is breadth-first, the others are the paper's
crawler, `weight-table`. Static has the table of the paper's baseline: tf·df over search
results for the name of the first subject (searched_table.py). Dynamic has one from the
current query log, and re-scores waiting links when it changes. Two more show what each
part contributes: the log's table as it was when the crawl began, and a dynamic table
that leaves waiting links as they were.

A page counts if its labels are of the subject that most users ask for when it is
fetched. The paper's own figure, the share of pages that the crawler's judge calls
relevant, is beside it: it is circular (papers.md, D.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import msgspec

from opilio.lab import label_guard
from opilio.lab.labels import relevant_urls
from opilio.lab.reproduce.drifting import Drifting, conduct_drifting
from opilio.lab.reproduce.experiment import Claim, Experiment, Figures, Setting
from opilio.lab.reproduce.interest import query_log, share_of_second
from opilio.lab.reproduce.searched_table import texts_of, with_searched_table
from opilio.lab.runs import Trace
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.synthetic.dials import Dials
from opilio.lab.trial import Trial, conduct
from opilio.topic import Topic
from opilio.topic.file import Evaluation

BASIC, STATIC, DYNAMIC = "basic", "static table (tf·df)", "dynamic table"
FIRST, NOT_AGAIN = "first table of the log", "dynamic, links as found"
ARMS = (BASIC, STATIC, FIRST, NOT_AGAIN, DYNAMIC)
MARKS = 8  # as many as the rows of table II


class Pair(msgspec.Struct, frozen=True):
    """A subject, and the one that users turn to."""

    first: Topic
    second: Topic


def crawl(setting: Setting) -> list[Figures]:
    """The three columns and ours, over pairs of subjects."""
    ground = setting.ground
    budget = ground.requests(setting.budget, 0)
    pairs = [
        Pair(ground.topic(name), ground.topic(neighbour(ground, name)))
        for name in setting.topics
    ]
    texts = texts_of(ground)
    secrets = [ground.web.labels, *ground.web.topics.values()]
    with label_guard.processes(setting.jobs, secrets) as processes:
        running = [
            (pair, arm, processes.submit(run, arm, drifting, searched))
            for pair in pairs
            for drifting in [drifting_of(ground, pair, budget)]
            for searched in [with_searched_table(drifting.trial.topic, texts)]
            for arm in ARMS
        ]
        return [
            Figures(
                arm,
                f"{ground.web.name} {pair.first.name} → {pair.second.name}",
                values(ground, pair, future.result(), budget),
            )
            for pair, arm, future in running
        ]


def run(arm: str, drifting: Drifting, searched: Topic) -> Trace:
    """One crawl; runs in a process of its own."""
    if arm == BASIC:
        return conduct(
            msgspec.structs.replace(drifting.trial, strategy="breadth-first")
        )
    if arm == STATIC:
        return conduct(msgspec.structs.replace(drifting.trial, topic=searched))
    follows, rescores = arm in (DYNAMIC, NOT_AGAIN), arm == DYNAMIC
    return conduct_drifting(
        msgspec.structs.replace(drifting, follows=follows, rescores=rescores)
    )


def drifting_of(ground: Ground, pair: Pair, budget: int) -> Drifting:
    """The trial that a crawl receives."""
    topic = msgspec.structs.replace(pair.first, evaluation=Evaluation())
    words, others = list(pair.first.weights()), list(pair.second.weights())
    return Drifting(
        trial=Trial(
            warcs=tuple(str(path.absolute()) for path in ground.web.warcs),
            topic=topic,
            strategy="weight-table",
            seeds=tuple(topic.sources.urls),
            budget=budget,
        ),
        log=query_log(words, others, budget, f"{pair.first.name} {pair.second.name}"),
        follows=True,
        phrases=tuple(word for word in words + others if " " in word),
    )


def neighbour(ground: Ground, name: str) -> str:
    """The other topic of the web that pages of this one link to most."""
    graph, numbers = ground.atlas.graph, ground.atlas.numbers
    about = {
        other: {
            numbers[url]
            for url in relevant_urls(
                ground.labels, ground.topic(other).evaluation.relevant_labels
            )
            if url in numbers
        }
        for other in ground.web.topics
    }
    linked = [
        target
        for page in about[name]
        for target in graph.targets[
            graph.offsets[page] : graph.offsets[page + 1]
        ].tolist()
    ]
    count = {
        other: sum(target in pages - about[name] for target in linked)
        for other, pages in about.items()
        if other != name
    }
    return max(count, key=lambda other: count[other])


def values(
    ground: Ground, pair: Pair, trace: Trace, budget: int
) -> Mapping[str, float]:
    """Harvest so far at each mark, after the turn, and as the crawler sees it."""
    wanted = [
        relevant_urls(ground.labels, topic.evaluation.relevant_labels)
        for topic in (pair.first, pair.second)
    ]
    found = [
        visit.state in ("kept", "irrelevant")
        and visit.url in wanted[share_of_second(number, budget) >= 0.5]
        for number, visit in enumerate(trace.visits, 1)
    ]
    found += [False] * (budget - len(found))
    so_far = list(accumulate(map(int, found)))
    marks = [budget * mark // MARKS for mark in range(1, MARKS + 1)]
    turn = 3 * budget // 8
    kept = sum(visit.state == "kept" for visit in trace.visits)
    return {
        **{f"at {mark}/{MARKS}": so_far[n - 1] / n for mark, n in enumerate(marks, 1)},
        "after the turn": sum(found[turn:]) / (budget - turn),
        "by its own judge": kept / len(trace.visits),
    }


END = f"at {MARKS}/{MARKS}"
EXPERIMENT = Experiment(
    letter="D",
    paper="Meenu et al.: weight tables while interest drifts, 500 to 4,000 pages",
    webs={"synthetic": Dials(pages=7_000, hosts=60, topics=6)},
    topics=2,
    budget="4000",
    real_budget="20%",
    measures=(
        *(f"at {mark}/{MARKS}" for mark in range(1, MARKS + 1)),
        "after the turn",
        "by its own judge",
    ),
    claims=(
        Claim("the dynamic table beats the static one", DYNAMIC, STATIC, END),
        Claim("the static table beats none", STATIC, BASIC, END),
        Claim("it beats the log's first table", DYNAMIC, FIRST, END, False),
        Claim(
            "dynamic beats the log's first table after the turn",
            DYNAMIC,
            FIRST,
            "after the turn",
            False,
        ),
        Claim(
            "scoring waiting links again helps after the turn",
            DYNAMIC,
            NOT_AGAIN,
            "after the turn",
            False,
        ),
    ),
    crawl=crawl,
)
