"""Opens webs for `opilio lab` and carries out their runs, with a progress display."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from opilio.cli.terminal import stderr
from opilio.errors import BadInput, OpilioError
from opilio.lab.compare import Done, WantedRuns, run_comparison, secrets_of, tasks
from opilio.lab.labels import read_labels
from opilio.lab.runs import LabTask, WebFacts
from opilio.lab.seeds_and_targets import Ground, load_course_topic
from opilio.lab.web_pages import open_atlas
from opilio.lab.webs import open_web, topics_in

LINES = 8  # shown of the end of a traceback
OFTEN = 10.0  # seconds between two lines where there is no terminal


def cores() -> int:
    """The number of crawls that can run at a time."""
    return len(os.sched_getaffinity(0))


def open_ground(
    folder: Path, topics: Sequence[str], jobs: int, topics_dir: Path | None = None
) -> Ground:
    """A web with its labels and its links; its topics are checked first.

    With `topics_dir`, the topics are those of that folder instead of the web's own.
    """
    web = open_web(folder)
    if topics_dir:
        web = msgspec.structs.replace(web, topics=topics_in(topics_dir))
    for topic in topics or web.topics:
        load_course_topic(web, topic)
    labels = read_labels(web.labels)
    ground = Ground(web, open_atlas(web.warcs, say, jobs), labels)
    if missing := sum(url not in ground.atlas.numbers for url in labels):
        say(
            f"{missing:,} of the {len(labels):,} URLs in {web.labels} are not in the "
            "WARC files; check that none of these is truncated"
        )
    return ground


def open_grounds(
    folders: Sequence[Path],
    topics: Sequence[str],
    jobs: int,
    topics_dir: Path | None = None,
) -> list[tuple[Ground, list[str]]]:
    """Every web with the given topics that it has, or with all of its own.

    A topic file applies to every web; a name, to each web that has it.
    """
    if len(folders) == 1:
        ground = open_ground(folders[0], topics, jobs, topics_dir)
        return [(ground, list(topics) or list(ground.web.topics))]
    known = {folder: own_topics(folder, topics_dir) for folder in folders}
    for topic in topics:
        if not Path(topic).is_file() and not any(
            topic in own for own in known.values()
        ):
            every = ", ".join(
                dict.fromkeys(name for own in known.values() for name in own)
            )
            raise BadInput(f"no web has the topic {topic!r}; known: {every}")
    found = []
    for folder, own in known.items():
        chosen = [name for name in topics if name in own or Path(name).is_file()]
        if chosen or not topics:
            ground = open_ground(folder, chosen, jobs, topics_dir)
            found.append((ground, chosen or own))
    names = [ground.web.name for ground, _ in found]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two webs are named {name!r}; rename one in its web.toml")
    return found


def own_topics(folder: Path, topics_dir: Path | None) -> list[str]:
    """The names of the topics that a web can be crawled for."""
    return list(topics_in(topics_dir) if topics_dir else open_web(folder).topics)


def facts_of(ground: Ground) -> WebFacts:
    """The facts about a web that a report shows."""
    return WebFacts(
        name=ground.web.name,
        title=ground.web.title,
        pages=int(ground.atlas.is_page.sum()),
        links=len(ground.atlas.graph.targets),
    )


def say(message: str) -> None:
    """Print a message on standard error."""
    stderr.print(message, style="dim", markup=False, soft_wrap=True)


@contextmanager
def locked(folder: Path | None) -> Iterator[Path]:
    """Lock the folder of a comparison; without one, make a temporary folder."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="opilio-lab-") as spare:
            yield Path(spare)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror}; choose another with -o DIR"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(
                f"another comparison writes to {folder}; choose another with -o DIR"
            ) from None
        yield folder


def carry_out(
    grounds: Sequence[tuple[Ground, Sequence[str]]],
    wanted: WantedRuns,
    folder: Path,
    jobs: int,
) -> tuple[list[Done], int]:
    """The runs on every web, in the order of the tasks, and how many failed."""
    asked = [
        (ground, msgspec.structs.replace(wanted, topics=topics))
        for ground, topics in grounds
    ]
    every = [task for ground, own in asked for task in tasks(ground.web.name, own)]
    failures: list[str] = []

    def trouble(task: LabTask, error: Exception) -> None:
        told = str(error)
        if not isinstance(error, OpilioError):  # a bug in custom code: show where
            lines = str(error.__cause__ or "").strip('"\n').splitlines()
            told = "\n".join([f"{type(error).__name__}: {error}", *lines[-LINES:]])
        where = f"{task.web} · " if len(grounds) > 1 else ""
        failures.append(f"{where}{task.topic} · {task.strategy} · {task.judge}: {told}")

    done: list[Done] = []
    with progress(len(every)) as show:
        secrets = [path for ground, _ in asked for path in secrets_of(ground)]
        for ground, own in asked:
            for each in run_comparison(ground, own, folder, jobs, trouble, secrets):
                done.append(each)
                show(len(done) + len(failures))
    for failure in failures:
        stderr.print(Text(failure, "red"), soft_wrap=True)
    place = {task: number for number, task in enumerate(every)}
    return sorted(done, key=lambda each: place[each.run.task]), len(failures)


class Progressing:
    """Shows crawls done out of all: as a bar with the time left, or in lines."""

    def __init__(self, of: int, bar: Progress) -> None:
        self.of = of
        self.bar = bar
        self.shown = bar.add_task("crawls", total=of)
        self.told = time.monotonic()

    def __call__(self, done: int) -> None:
        self.bar.update(self.shown, completed=done)
        now = time.monotonic()
        if not stderr.is_terminal and now - self.told > OFTEN:
            self.told = now
            left = self.bar.tasks[0].time_remaining
            say(
                f"{done} of {self.of} crawls" + (f", {left:.0f} s left" if left else "")
            )


@contextmanager
def progress(of: int) -> Iterator[Progressing]:
    """A progress display for this many crawls."""
    with Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
    ) as bar:
        yield Progressing(of, bar)
