"""The options of `opilio lab` for the simulated conditions of a crawl."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
import typer

from opilio.lab.conditions import ONE_AT_A_TIME, REAL, Conditions


class Preset(StrEnum):
    """Named conditions."""

    ONE_AT_A_TIME = "one-at-a-time"
    REAL = "real"


CONDITIONS = "Simulated conditions"  # in the help
PRESETS = {Preset.ONE_AT_A_TIME: ONE_AT_A_TIME, Preset.REAL: REAL}

Named = Annotated[
    Preset,
    typer.Option(
        "--conditions",
        help="Visit one page at a time, or as a real crawl does, in simulated time: "
        f"{REAL.in_flight} in flight, delay {REAL.delay:g} s, latency "
        f"{REAL.latency:g} s.",
        rich_help_panel=CONDITIONS,
    ),
]
InFlight = Annotated[
    int | None,
    typer.Option(
        min=1, help="Simulate this many requests at a time.", rich_help_panel=CONDITIONS
    ),
]
Delay = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Simulate a delay between visits to a host.",
        rich_help_panel=CONDITIONS,
    ),
]
Latency = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Simulate this median response time.",
        rich_help_panel=CONDITIONS,
    ),
]
Haste = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Set crawl.haste: 0 keeps the order, 1 never waits.",
        rich_help_panel=CONDITIONS,
    ),
]
Breadth = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Set crawl.breadth: 1 shares pages among many hosts.",
        rich_help_panel=CONDITIONS,
    ),
]


def chosen_conditions(
    preset: Preset,
    in_flight: int | None,
    delay: float | None,
    latency: float | None,
    haste: float | None,
    breadth: float | None,
) -> Conditions:
    """The conditions of a preset, except those that are given."""
    given = {
        "in_flight": in_flight,
        "delay": delay,
        "latency": latency,
        "haste": haste,
        "breadth": breadth,
    }
    changed = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(PRESETS[preset], **changed)
