"""Checks what a strategy or judge returns, and explains mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Real
from typing import Any

from opilio.errors import BadInput
from opilio.records import Page, Ranked, Revision, Verdict

REMEDY = "a promise is a finite number; fix the strategy"
ROUNDING = 1e-6  # a sum of parts may be a little more than 1


def as_list(strategy: str, given: Iterable[Ranked] | None) -> list[Ranked]:
    """The links that a strategy returned, as a list."""
    if given is None:
        raise BadInput(
            f"the strategy {strategy} returned None instead of links; let `rank` "
            "return a list or yield them"
        )
    return list(given)


def refuse_links(strategy: str, given: Sequence[Any]) -> None:
    """Raise BadInput for the first item that is not a Ranked with a promise."""
    for each in given:
        if not isinstance(each, Ranked):
            raise BadInput(
                f"the strategy {strategy} returned {shown(each)}, which is not a "
                "Ranked; let `rank` return Ranked(link, promise)"
            )
        if not is_promise(each.promise):
            raise BadInput(
                f"the strategy {strategy} returned {shown(each.promise)} as the "
                f"promise of {each.link.url}; {REMEDY}"
            )


def refuse_revisions(strategy: str, given: Sequence[Revision]) -> None:
    """Raise BadInput for the first new promise that is not valid."""
    for each in given:
        if not is_promise(each[1]):
            raise BadInput(
                f"the strategy {strategy} returned {shown(each[1])} as the new promise "
                f"of a waiting link; {REMEDY}"
            )


def check_verdict(judge: str, verdict: object, page: Page) -> None:
    """Raise BadInput for an object that is not a Verdict, or for an invalid score."""
    if isinstance(verdict, Verdict):
        score: object = verdict.score
        if isinstance(score, Real) and -ROUNDING <= float(score) <= 1 + ROUNDING:
            return
        gave = f"{shown(score)} as the score"
    else:
        gave = f"{shown(verdict)} as the verdict"
    raise BadInput(
        f"the judge {judge} returned {gave} of {page.url}; it must return "
        "Verdict(score, relevant) with a score from 0 to 1; fix the judge"
    )


def is_promise(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, Real) and isfinite(value)


def shown(value: object) -> str:
    """A value, shortened, with its type."""
    text = repr(value)
    brief = text if len(text) <= 60 else f"{text[:59]}…"
    return f"{brief} (of type {type(value).__name__})"
