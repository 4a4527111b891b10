"""Remembers, until the program ends, the objects that it gave to its crawls.

A folder stores only the names of judges and strategies. So a crawl with an object can
be opened again in the same program, a notebook for instance, without giving it again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opilio import extensions
from opilio.assembly.plan import Plan
from opilio.assembly.registry import Own

_given: dict[Path, Own] = {}  # by the folder of the crawl


def remember_objects(folder: Path, own: Own) -> None:
    """Note the objects of a crawl that runs."""
    if own.judge is not None or own.strategy is not None:
        _given[folder.resolve()] = own


def recall_objects(folder: Path, own: Own, plan: Plan) -> Own:
    """The objects of a crawl that is opened; those that were given before if the plan
    names them and no others are given now."""
    before = _given.get(folder.resolve(), own)
    for kind in ("judge", "strategy"):
        known = getattr(before, kind)
        if known is not None and extensions.name_of(known) == getattr(plan.crawl, kind):
            own = replace(own, **{kind: getattr(own, kind) or known})
    return own
