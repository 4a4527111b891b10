"""Makes the judge and the strategy that the settings of a crawl name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from opilio import config, extensions
from opilio.brief import Brief
from opilio.dry import require_estimator
from opilio.errors import BadInput, did_you_mean
from opilio.judge import JUDGES, Make
from opilio.plan import Plan
from opilio.protocols import Judge, SeedSource, Strategy
from opilio.strategies import MakesStrategy, load, place_of, strategies
from opilio.types import Knowledge

if TYPE_CHECKING:
    from opilio.look_ahead import LookAhead

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Own:
    """Parts that a program passes as objects or classes instead of names."""

    strategy: Strategy | type[Strategy] | None = None
    judge: Judge | type[Judge] | None = None
    seeds: Sequence[SeedSource] = ()

    def make_judge(self, plan: Plan, brief: Brief) -> Judge:
        """The judge that was passed, or the one that the settings name."""
        if self.judge is None:
            return make_judge(plan, brief)
        if isinstance(self.judge, type):
            made: Judge = extensions.make("judge", self.judge, brief.subject)
            return made
        return self.judge

    def make_strategy(
        self, plan: Plan, brief: Brief, look_ahead: LookAhead | None = None
    ) -> Strategy:
        """The strategy that was passed, or the one that the settings name."""
        if self.strategy is None:
            return make_strategy(plan, brief, look_ahead)
        if isinstance(self.strategy, type):
            made = cast(MakesStrategy, self.strategy)
            return build_strategy(made, plan, brief, look_ahead)
        return self.strategy

    def check(self, plan: Plan) -> None:
        """Raise BadInput for a name that stands for nothing, and for a strategy that
        lacks what the settings ask for."""
        strategy: object = self.strategy
        if strategy is None:
            place = find_strategy(plan.crawl.strategy)
            strategy = load(place) if plan.crawl.stop_when_dry else None
        if self.judge is None:
            find_judge(plan.crawl.judge)
        if plan.crawl.stop_when_dry:
            require_estimator(plan.crawl.strategy, strategy)


BY_NAME = Own()


def choose(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The part of that name; BadInput that names the known ones."""
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise BadInput(f"unknown {kind} {name!r}; {hint}known: {', '.join(sorted(known))}")


def make_judge(plan: Plan, brief: Brief) -> Judge:
    """The judge that the settings name, for what the brief says is sought."""
    judge: Judge = extensions.make("judge", find_judge(plan.crawl.judge), brief.subject)
    return judge


def find_judge(name: str) -> Make:
    """The class of a judge: one of ours, of an installed package, or in a file."""
    if name in JUDGES:
        return JUDGES[name]
    found: Make = extensions.find("judge", name, JUDGES)
    return found


def judge_place(name: str) -> str:
    """The module:class or file.py:class of a judge that is not ours; else ""."""
    if extensions.is_file(name):
        return name
    if name in JUDGES:
        find_judge(name)  # BadInput for a mode that it does not have
        return ""
    return choose("judge", name, {**dict.fromkeys(JUDGES, ""), **installed_judges()})


def installed_judges() -> Mapping[str, str]:
    """Name -> module:class of the judges of installed packages."""
    return extensions.installed("judge")


def find_strategy(name: str) -> str:
    """Where the class of a strategy is: one that is known, or in a file of Python."""
    if extensions.is_file(name):
        return name
    if name.startswith(extensions.OBJECT):
        extensions.find("strategy", name)  # raises: it takes the object
    return place_of(name) or choose("strategy", name, strategies())


def make_strategy(
    plan: Plan, brief: Brief, look_ahead: LookAhead | None = None
) -> Strategy:
    """The strategy that the settings name, with its options."""
    return build_strategy(
        load(find_strategy(plan.crawl.strategy)), plan, brief, look_ahead
    )


def build_strategy(
    made: MakesStrategy, plan: Plan, brief: Brief, look_ahead: LookAhead | None = None
) -> Strategy:
    """A strategy of this class, with the options of the plan; a class without `Options`
    has none."""
    source = f"options of the strategy {plan.crawl.strategy}"
    kind = getattr(made, "Options", config.Section)
    options = config.build(plan.options, kind, source, strict=False)
    knowledge = Knowledge(
        subject=brief.subject, seed=plan.crawl.seed, look_ahead=look_ahead
    )
    strategy: Strategy = extensions.make("strategy", made, options, knowledge)
    return strategy
