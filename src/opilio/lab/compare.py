"""Webs, topics, strategies and judges in; a run for each task out, as they end.

Trials run in processes that were started without any label and cannot open them. What
has ended is kept in a folder, so the same comparison goes on where it was.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import msgspec

import opilio
from opilio import config
from opilio.choice import choose, find_strategy
from opilio.errors import BadInput, OpilioError
from opilio.judge import JUDGES
from opilio.lab import guard
from opilio.lab.conditions import ONE_AT_A_TIME, Conditions
from opilio.lab.course import Course, Ground, SeedsMode
from opilio.lab.measures import measure, shares
from opilio.lab.perfect import PERFECT
from opilio.lab.runs import Run, Task, Trace
from opilio.lab.trial import Trial, conduct
from opilio.strategies import OURS, is_file, load


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison is to compare."""

    topics: Sequence[str]
    strategies: Sequence[str]
    judges: Sequence[str] = ("cosine",)
    modes: Sequence[SeedsMode] = (SeedsMode.NEAR,)
    budget: str = "3R"
    repeat: int = 1
    time_limit: float = 0.0  # seconds that one crawl may take; 0: no limit
    conditions: Conditions = ONE_AT_A_TIME


class Done(NamedTuple):
    """A run with the requests it consists of."""

    run: Run
    trace: Trace


def tasks(web: str, wanted: Wanted) -> list[Task]:
    """Everything to be tried, topic by topic: so are readings shared."""
    return [
        Task(
            web=web,
            topic=topic,
            strategy=strategy,
            judge=judge,
            seeds_mode=mode,
            repeat=repeat,
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


def compare(
    ground: Ground,
    wanted: Wanted,
    folder: Path,
    jobs: int = 1,
    trouble: Callable[[Task, Exception], None] | None = None,
) -> Iterator[Done]:
    """Try everything; each run as it ends, those of earlier times first.

    A trial that fails is told to `trouble`, and the others go on; without it, the
    comparison fails too.
    """
    secrets = [ground.web.labels, *ground.web.topics.values()]
    check(wanted, secrets)
    course = cache(partial(ground.course, budget=wanted.budget))
    code = cache(code_of)
    kept, readings = folder / "runs", folder / "readings"
    for each in (kept, readings):
        each.mkdir(parents=True, exist_ok=True)
    todo: list[Prepared] = []
    for task in tasks(ground.web.name, wanted):
        taken = course(task.topic, SeedsMode(task.seeds_mode), task.repeat)
        file = kept / f"{name_of(task, taken, ground, code)}.json"
        if earlier := recalled(file):
            yield earlier
        else:
            todo.append(Prepared(file, task, taken))
    try:
        limit = wanted.time_limit
        for one, future in conducted(ground, todo, readings, secrets, jobs, limit):
            try:
                trace = future.result()
            except Exception as error:  # of a strategy that may be someone else's
                if isinstance(error, BrokenProcessPool):
                    raise OpilioError(
                        f"a process died, perhaps at {one.task.strategy} on "
                        f"{one.task.topic}: killed, out of memory, or ended by the "
                        "strategy; what is done is kept, run the same command to go on"
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


def recalled(file: Path) -> Done | None:
    """A run of an earlier time."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Done)
    except (OSError, msgspec.DecodeError):
        return None


def keep(done: Done, file: Path) -> None:
    """Write a run down, whole or not at all."""
    draft = file.with_suffix(".new")
    draft.write_bytes(msgspec.json.encode(done))
    draft.replace(file)


class Prepared(NamedTuple):
    """A task that was not done before."""

    file: Path
    task: Task
    course: Course


def conducted(
    ground: Ground,
    todo: Sequence[Prepared],
    readings: Path,
    secrets: Sequence[Path],
    jobs: int,
    time_limit: float,
) -> Iterator[tuple[Prepared, Future[Trace]]]:
    """The traces of trials, as they end, run by so many processes."""
    waiting = iter(todo)
    under_way: dict[Future[Trace], Prepared] = {}
    with guard.processes(jobs, secrets) as processes:
        try:
            while True:
                for one in islice(waiting, 2 * jobs - len(under_way)):
                    trial = msgspec.structs.replace(
                        trial_of(ground, one.course, one.task, readings),
                        time_limit=time_limit,
                    )
                    under_way[processes.submit(conduct, trial)] = one
                if not under_way:
                    return
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    yield under_way.pop(future), future
        finally:
            processes.shutdown(wait=False, cancel_futures=True)


def trial_of(ground: Ground, course: Course, task: Task, readings: Path) -> Trial:
    """What a crawl is told of a task."""
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
    )


def run_of(task: Task, course: Course, trace: Trace) -> Run:
    """What came of a task, by the labels."""
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
        of_oracle=shares(measures, course.oracle),
        found_at=found_at,
        oracle_found_at=course.oracle_found_at,
        hours=trace.seconds / 3600,
    )


def parse_strategy(written: str) -> tuple[str, Mapping[str, str]]:
    """`blocks,mode=paper` as a name and its options."""
    name, *options = written.split(",")
    for each in options:
        if "=" not in each:
            raise BadInput(f"--strategies {written!r}: {each!r} is not NAME=VALUE")
    return name.strip(), {
        key.strip(): value.strip()
        for key, _, value in (each.partition("=") for each in options)
    }


def check(wanted: Wanted, secrets: Sequence[Path]) -> None:
    """BadInput for anything that is not there.

    The code of a strategy that is not ours runs only in processes that see no label.
    """
    for name in ("topics", "strategies", "judges", "modes"):
        if not getattr(wanted, name):
            raise BadInput(f"there are no {name} to compare; name one at least")
    for judge in wanted.judges:
        if judge != PERFECT:
            choose("judge", judge, JUDGES)
    theirs = [name for name in wanted.strategies if parse_strategy(name)[0] not in OURS]
    for name in set(wanted.strategies) - set(theirs):
        check_strategy(name)
    if theirs:
        with guard.processes(1, secrets) as processes:
            list(processes.map(check_strategy, theirs))


def check_strategy(written: str) -> None:
    """BadInput for a strategy that is not there, or options that it does not have."""
    name, options = parse_strategy(written)
    made = load(find_strategy(name))
    source = f"options of the strategy {name}"
    config.build(options, made.Options, source, strict=False)


def name_of(
    task: Task, course: Course, ground: Ground, code: Callable[[str], str]
) -> str:
    """A name for a task that is another when anything that decides its outcome is."""
    strategy, _ = parse_strategy(task.strategy)
    decides = (
        task,
        ground.atlas.key,
        course.topic,
        course.seeds,
        course.budget,
        sorted(course.targets.items()),
        code(find_strategy(strategy)),
    )
    digest = hashlib.blake2b(msgspec.json.encode(decides), digest_size=8).hexdigest()
    return f"{Path(task.topic).stem}-{strategy.rpartition(':')[2]}-{digest}"


def code_of(place: str) -> str:
    """A fingerprint of Opilio's own code and of the file that a strategy is in.

    The strategy is not loaded for that: its code must not run where the labels are.
    """
    module = place.rpartition(":")[0]
    ours = sorted(Path(opilio.__file__).parent.rglob("*.py"))
    found = None if is_file(place) else find_spec(module.partition(".")[0])
    own = Path(found.origin if found and found.origin else module)
    digest = hashlib.blake2b(digest_size=16)
    for file in [*ours, own] if own.is_file() else ours:
        digest.update(file.read_bytes())
    return digest.hexdigest()
