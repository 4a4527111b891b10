"""Runs all combinations of webs, topics, strategies and judges, several at a time.

Trials run in processes that were started without any label and cannot open them.
Finished runs are stored in a folder, so an interrupted comparison can be continued.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import msgspec

from opilio.errors import OpilioError
from opilio.lab import label_guard
from opilio.lab.checks import check_wanted, parse_strategy
from opilio.lab.conditions import ONE_AT_A_TIME, Conditions
from opilio.lab.estimates import half_way
from opilio.lab.measures import measure, oracle_shares
from opilio.lab.perfect_judge import PERFECT
from opilio.lab.run_files import code_of, file_key, name_of, vectors_key
from opilio.lab.runs import LabTask, Run, Trace
from opilio.lab.seeds_and_targets import Course, Ground, SeedsMode
from opilio.lab.teacher import Teacher, Ticket
from opilio.lab.trial import Trial, conduct
from opilio.vectors.files import AUTO


class WantedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What to compare."""

    topics: Sequence[str]
    strategies: Sequence[str]
    judges: Sequence[str] = ("cosine",)
    modes: Sequence[SeedsMode] = (SeedsMode.NEAR,)
    budget: str = "3R"
    repeat: int = 1
    examples: int = 0  # relevant pages that each crawl is given
    counterexamples: int = 0
    labels: int = 0  # that each crawl is given while it runs
    time_limit: float = 0.0  # seconds that one crawl may take; 0: no limit
    vectors: str = AUTO  # the setting of that name
    weights: str = ""  # the same
    embedding_model: str = ""  # of the judge `embedding`
    conditions: Conditions = ONE_AT_A_TIME


class Done(NamedTuple):
    """A run with the requests it consists of."""

    run: Run
    trace: Trace


def tasks(web: str, wanted: WantedRuns) -> list[LabTask]:
    """Everything to be tried, topic by topic, so that parsed pages are shared."""
    return [
        LabTask(
            web=web,
            topic=topic,
            strategy=strategy,
            judge=judge,
            seeds_mode=mode,
            repeat=repeat,
            examples=wanted.examples,
            counterexamples=wanted.counterexamples,
            labels=wanted.labels,
            conditions=wanted.conditions,
        )
        for topic, mode, repeat, judge, strategy in product(
            wanted.topics,
            wanted.modes,
            range(wanted.repeat),
            wanted.judges,
            wanted.strategies,
        )
    ]


def run_comparison(
    ground: Ground,
    wanted: WantedRuns,
    folder: Path,
    jobs: int = 1,
    trouble: Callable[[LabTask, Exception], None] | None = None,
    other_secrets: Sequence[Path] = (),
) -> Iterator[Done]:
    """Run everything; yields each run as it ends, stored ones first.

    A trial that fails is reported to `trouble` and the others continue; without
    `trouble`, the comparison fails too. No trial can open the labels of this web, nor
    the other secrets: the labels of another web may be about the same pages.
    """
    secrets = [*secrets_of(ground), *other_secrets]
    check_wanted(wanted, secrets)
    course = cache(
        partial(
            ground.course,
            budget=wanted.budget,
            examples=wanted.examples,
            counterexamples=wanted.counterexamples,
        )
    )
    code = cache(code_of)
    files = [vectors_key(wanted.vectors), file_key(wanted.weights)]
    if wanted.embedding_model:
        files.append(file_key(wanted.embedding_model))
    kept, readings = folder / "runs", folder / "readings"
    for each in (kept, readings):
        each.mkdir(parents=True, exist_ok=True)
    todo: list[Prepared] = []
    for task in tasks(ground.web.name, wanted):
        taken = course(task.topic, SeedsMode(task.seeds_mode), task.repeat)
        file = kept / f"{name_of(task, taken, ground, code, files)}.json"
        if earlier := recalled(file):
            yield earlier
        else:
            todo.append(Prepared(file, task, taken))
    try:
        for one, future in conducted(ground, wanted, todo, readings, secrets, jobs):
            try:
                trace = future.result()
            except Exception as error:  # of a strategy that may be someone else's
                if isinstance(error, BrokenProcessPool):
                    raise OpilioError(
                        f"a process died, perhaps at {one.task.strategy} on "
                        f"{one.task.topic}: killed, out of memory, or ended by the "
                        "strategy; finished runs are kept: run the command again"
                    ) from error
                if trouble is None:
                    raise
                trouble(one.task, error)
                continue
            done = Done(run_of(one.task, one.course, trace), trace)
            keep(done, one.file)
            yield done
    finally:
        shutil.rmtree(readings, ignore_errors=True)


def secrets_of(ground: Ground) -> list[Path]:
    """The files of a web that no crawl may open."""
    return [ground.web.labels, *ground.web.topics.values()]


def recalled(file: Path) -> Done | None:
    """A stored run."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Done)
    except (OSError, msgspec.DecodeError):
        return None


def keep(done: Done, file: Path) -> None:
    """Store a run atomically."""
    draft = file.with_suffix(".new")
    draft.write_bytes(msgspec.json.encode(done))
    draft.replace(file)


class Prepared(NamedTuple):
    """A task that has no stored run."""

    file: Path
    task: LabTask
    course: Course


def conducted(
    ground: Ground,
    wanted: WantedRuns,
    todo: Sequence[Prepared],
    readings: Path,
    secrets: Sequence[Path],
    jobs: int,
) -> Iterator[tuple[Prepared, Future[Trace]]]:
    """The traces of trials, as they end, run by a number of processes."""
    waiting = iter(todo)
    under_way: dict[Future[Trace], Prepared] = {}
    tickets: dict[Future[Trace], Ticket] = {}
    with Teacher() as teacher, label_guard.processes(jobs, secrets) as processes:
        try:
            while True:
                for one in islice(waiting, 2 * jobs - len(under_way)):
                    ticket = teacher.ticket(one.course.relevant, one.task.labels)
                    trial = msgspec.structs.replace(
                        trial_of(ground, one.course, one.task, readings),
                        time_limit=wanted.time_limit,
                        vectors=wanted.vectors,
                        weights=wanted.weights,
                        embedding_model=wanted.embedding_model,
                        ticket=ticket if one.task.labels else None,
                    )
                    future = processes.submit(conduct, trial)
                    under_way[future], tickets[future] = one, ticket
                if not under_way:
                    return
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    one = under_way.pop(future)
                    told = teacher.collect(tickets.pop(future))
                    yield one, checked(future, told, one.task)
        finally:
            processes.shutdown(wait=False, cancel_futures=True)


def checked(
    future: Future[Trace], told: Mapping[str, bool], task: LabTask
) -> Future[Trace]:
    """The trace; an error if the crawl got labels that the trace does not have."""
    if future.exception() is None:
        taught = {one.url: one.relevant for one in future.result().taught}
        if taught != told:
            failed: Future[Trace] = Future()
            failed.set_exception(
                OpilioError(
                    f"{task.strategy} asked for {len(told)} labels by itself; the lab "
                    f"gave it {len(taught)}; a strategy must not ask"
                )
            )
            return failed
    return future


def trial_of(ground: Ground, course: Course, task: LabTask, readings: Path) -> Trial:
    """The trial that a crawl receives for a task."""
    strategy, options = parse_strategy(task.strategy)
    return Trial(
        warcs=tuple(str(path.absolute()) for path in ground.web.warcs),
        topic=course.topic,
        strategy=strategy,
        options=options,
        judge=task.judge,
        seeds=course.seeds,
        budget=course.budget,
        chance=task.repeat,
        conditions=task.conditions,
        readings=str(readings),
        truth=tuple(sorted(course.relevant)) if task.judge == PERFECT else None,
        examples=course.examples,
        counterexamples=course.counterexamples,
    )


def run_of(task: LabTask, course: Course, trace: Trace) -> Run:
    """The result of a task, by the labels."""
    measures, found_at = measure(trace.visits, course.targets, course.R)
    return Run(
        task=task,
        budget=course.budget,
        seeds=course.seeds,
        R=course.R,
        requests=len(trace.visits),
        ended=trace.ended,
        cpu_ms=1000 * trace.cpu_seconds / max(len(trace.visits), 1),
        measures=measures,
        oracle=course.oracle,
        of_oracle=oracle_shares(measures, course.oracle),
        found_at=found_at,
        oracle_found_at=course.oracle_found_at,
        examples=course.examples,
        counterexamples=course.counterexamples,
        half_way=half_way(trace.estimates, found_at, course.R),
        labels_given=len(trace.taught),
        hours=trace.seconds / 3600,
    )
