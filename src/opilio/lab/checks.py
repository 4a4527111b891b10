"""Checks that what a comparison asks for exists, before anything is crawled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opilio import settings
from opilio.assembly.registry import find_judge, find_strategy, judge_place
from opilio.errors import BadInput
from opilio.lab import label_guard
from opilio.lab.perfect_judge import PERFECT
from opilio.strategies import OURS, load_strategy

if TYPE_CHECKING:
    from opilio.lab.compare import WantedRuns


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


def check_wanted(wanted: WantedRuns, secrets: Sequence[Path]) -> None:
    """Raise BadInput for anything that does not exist.

    The code of a strategy or judge that is not ours runs only in processes that see no
    label.
    """
    for name in ("topics", "strategies", "judges", "modes"):
        if not getattr(wanted, name):
            raise BadInput(f"there are no {name} to compare; name one at least")
    judges = [
        judge for judge in wanted.judges if judge != PERFECT and judge_place(judge)
    ]
    theirs = [name for name in wanted.strategies if parse_strategy(name)[0] not in OURS]
    for name in set(wanted.strategies) - set(theirs):
        check_strategy(name)
    if theirs or judges:
        with label_guard.processes(1, secrets) as processes:
            list(processes.map(check_strategy, theirs))
            list(processes.map(check_judge, judges))


def check_judge(name: str) -> None:
    """Raise BadInput for a judge that cannot be loaded."""
    find_judge(name)


def check_strategy(written: str) -> None:
    """Raise BadInput for an unknown strategy or option."""
    name, options = parse_strategy(written)
    made = load_strategy(find_strategy(name))
    source = f"options of the strategy {name}"
    kind = getattr(made, "Options", settings.Section)
    settings.build_section(options, kind, source, strict=False)
