"""Finds judges and strategies by their names in the settings, and constructs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from opilio import extensions, settings
from opilio.assembly.plan import Plan
from opilio.errors import BadInput, did_you_mean
from opilio.judge import JUDGES, Make
from opilio.protocols import Judge, SeedSource, Strategy
from opilio.records import Knowledge, Subject
from opilio.strategies import (
    MakesStrategy,
    class_of_strategy,
    load_strategy,
    strategies,
)

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Own:
    """Parts that a program passes as objects or classes instead of names."""

    strategy: Strategy | type[Strategy] | None = None
    judge: Judge | type[Judge] | None = None
    seeds: Sequence[SeedSource] = ()

    def replaced(self, strategy: object, judge: object) -> Own:
        """A copy with another strategy and judge, if given; a name replaces an object
        that was passed."""
        given = {"strategy": strategy, "judge": judge}
        new = {
            kind: None if isinstance(one, str) else one
            for kind, one in given.items()
            if one is not None
        }
        return replace(self, **cast(dict[str, Any], new))

    def make_judge(self, plan: Plan, subject: Subject) -> Judge:
        """The judge that was passed, or the one that the settings name."""
        if self.judge is None:
            return make_judge(plan, subject)
        if isinstance(self.judge, type):
            made: Judge = extensions.make("judge", self.judge, subject)
            return made
        return self.judge

    def make_strategy(self, plan: Plan, subject: Subject, **evidence: Any) -> Strategy:
        """The strategy that was passed, or the one that the settings name."""
        if self.strategy is None:
            return make_strategy(plan, subject, **evidence)
        if isinstance(self.strategy, type):
            made = cast(MakesStrategy, self.strategy)
            return build_strategy(made, plan, subject, **evidence)
        return self.strategy

    def check(self, plan: Plan) -> None:
        """Raise BadInput for an unknown name, and for a strategy that cannot do what
        the settings ask for."""
        strategy: object = self.strategy
        if strategy is None:
            place = find_strategy(plan.crawl.strategy)
            strategy = load_strategy(place) if plan.crawl.stop_when_dry else None
        if self.judge is None:
            find_judge(plan.crawl.judge)
        if plan.crawl.stop_when_dry:
            from opilio.limits.stop_when_dry import require_estimator

            require_estimator(plan.crawl.strategy, strategy)


BY_NAME = Own()


def choose_by_name(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The part of that name; if it is unknown, BadInput lists the known ones."""
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise BadInput(f"unknown {kind} {name!r}; {hint}known: {', '.join(sorted(known))}")


def make_judge(plan: Plan, subject: Subject) -> Judge:
    """The judge that the settings name, for this subject."""
    judge: Judge = extensions.make("judge", find_judge(plan.crawl.judge), subject)
    return judge


def find_judge(name: str) -> Make:
    """The class of a judge: one of ours, of an installed package, or in a file."""
    if name in JUDGES:
        return JUDGES[name]
    found: Make = extensions.find_class("judge", name, JUDGES)
    return found


def judge_place(name: str) -> str:
    """The module:class or file.py:class of a judge that is not ours; else ""."""
    if extensions.is_file(name):
        return name
    if name in JUDGES:
        find_judge(name)  # raises BadInput for a mode that it does not have
        return ""
    return choose_by_name(
        "judge", name, {**dict.fromkeys(JUDGES, ""), **installed_judges()}
    )


def installed_judges() -> Mapping[str, str]:
    """Name -> module:class of the judges of installed packages."""
    return extensions.installed("judge")


def find_strategy(name: str) -> str:
    """Where the class of a strategy is: `module:class` or `file.py:class`."""
    if extensions.is_file(name):
        return name
    if name.startswith(extensions.OBJECT):
        extensions.find_class("strategy", name)  # raises: it takes the object
    return class_of_strategy(name) or choose_by_name("strategy", name, strategies())


def make_strategy(plan: Plan, subject: Subject, **evidence: Any) -> Strategy:
    """The strategy that the settings name, with its options; `evidence` fills the other
    fields of Knowledge."""
    made = load_strategy(find_strategy(plan.crawl.strategy))
    return build_strategy(made, plan, subject, **evidence)


def build_strategy(
    made: MakesStrategy, plan: Plan, subject: Subject, **evidence: Any
) -> Strategy:
    """A strategy of this class, with the options of the plan; a class without `Options`
    has none."""
    source = f"options of the strategy {plan.crawl.strategy}"
    kind = getattr(made, "Options", settings.Section)
    options = settings.build_section(plan.options, kind, source, strict=False)
    knowledge = Knowledge(subject=subject, seed=plan.crawl.seed, **evidence)
    strategy: Strategy = extensions.make("strategy", made, options, knowledge)
    return strategy
