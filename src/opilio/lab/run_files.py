"""Names the files of finished runs, so that a run is repeated only if something
changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

import opilio
from opilio.assembly.registry import find_strategy, judge_place
from opilio.errors import BadInput
from opilio.extensions import is_file
from opilio.lab.checks import parse_strategy
from opilio.lab.perfect_judge import PERFECT
from opilio.lab.runs import LabTask
from opilio.lab.seeds_and_targets import Course, Ground
from opilio.vectors.files import ENGLISH, WORDLLAMA, resolve

FileKey = tuple[str, int, int]


def vectors_key(setting: str) -> FileKey:
    """The file that a setting of vectors names, with its state."""
    name = resolve(setting)
    return (name, 0, 0) if name in (ENGLISH, WORDLLAMA) else file_key(name)


def file_key(name: str) -> FileKey:
    """The state of a file (size and time); empty without a file."""
    if not name:
        return "", 0, 0
    try:
        state = Path(name).stat()
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror}") from None
    return name, state.st_size, state.st_mtime_ns


def name_of(
    task: LabTask,
    course: Course,
    ground: Ground,
    code: Callable[[str], str],
    files: Sequence[FileKey],
) -> str:
    """A name for a task that changes with anything that decides its outcome."""
    strategy, _ = parse_strategy(task.strategy)
    judge = "" if task.judge == PERFECT else judge_place(task.judge)
    decides = (
        task,
        ground.atlas.key,
        course.topic,
        course.seeds,
        course.budget,
        sorted(course.targets.items()),
        course.examples,
        course.counterexamples,
        code(find_strategy(strategy)),
        files,
        code(judge) if judge else "",
    )
    digest = hashlib.blake2b(msgspec.json.encode(decides), digest_size=8).hexdigest()
    return f"{Path(task.topic).stem}-{strategy.rpartition(':')[2]}-{digest}"


def code_of(place: str) -> str:
    """A fingerprint of Opilio's own code and of the file that a strategy is in.

    The strategy is not loaded for this: its code must not run where the labels are.
    """
    module = place.rpartition(":")[0]
    ours = sorted(Path(opilio.__file__).parent.rglob("*.py"))
    ours += sorted(Path(opilio.__file__).parent.rglob("*.json"))  # trained weights
    found = None if is_file(place) else find_spec(module.partition(".")[0])
    own = Path(found.origin if found and found.origin else module)
    digest = hashlib.blake2b(digest_size=16)
    for file in [*ours, own] if own.is_file() else ours:
        digest.update(file.read_bytes())
    return digest.hexdigest()
