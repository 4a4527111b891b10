"""Finds judges and strategies by their names in the settings, and makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from opilio import settings
from opilio.assembly.plan import Plan
from opilio.errors import BadInput, did_you_mean
from opilio.judge import JUDGES
from opilio.protocols import Judge, Strategy
from opilio.records import Knowledge, Subject
from opilio.strategies import is_file, load_strategy, place_of, strategies

T = TypeVar("T")


def choose_by_name(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The part of that name; BadInput that names the known ones."""
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise BadInput(f"unknown {kind} {name!r}; {hint}known: {', '.join(sorted(known))}")


def make_judge(plan: Plan, subject: Subject) -> Judge:
    """The judge that the settings name, for what the subject says is sought."""
    return choose_by_name("judge", plan.crawl.judge, JUDGES)(subject)


def find_strategy(name: str) -> str:
    """Where the class of a strategy is: one that is known, or in a file of Python."""
    if is_file(name):
        return name
    return place_of(name) or choose_by_name("strategy", name, strategies())


def make_strategy(plan: Plan, subject: Subject, **evidence: Any) -> Strategy:
    """The strategy that the settings name, with its options; `evidence` is what else
    Knowledge has a field for."""
    name = plan.crawl.strategy
    made = load_strategy(find_strategy(name))
    source = f"options of the strategy {name}"
    options = settings.build_section(plan.options, made.Options, source, strict=False)
    knowledge = Knowledge(subject=subject, seed=plan.crawl.seed, **evidence)
    return made(options, knowledge)
