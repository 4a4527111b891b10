"""`opilio evolve`: completes the site models of a crawl and refreshes its pages."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Plan
from opilio.cli.change_texts import change_in_words
from opilio.cli.terminal import foreign, stdout
from opilio.errors import BadInput
from opilio.records import Mode
from opilio.sites.evolve_and_expand import open_evolver, ready_plan
from opilio.sites.evolver import Evolver, Outcome
from opilio.sites.phases import Phase
from opilio.store.folder import CrawlFolder

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
NAMES = {
    Phase.FILL: "complete sites",
    Phase.COMPLETE: "new sites",
    Phase.FOLLOW: "follow links",
    Phase.REFRESH: "refresh pages",
}
HEADERS = {
    "chosen": "chosen",
    "pages": "pages",
    "relevant": "relevant",
    "changed": "changed",
    "unchanged": "same",
    "gone": "gone",
    "failed": "failed",
    "left": "left",
}
LEAST = (
    "chosen",
    "unchanged",
    "gone",
    "left",
)  # not shown where there is no room for them
NARROW = 72  # columns
MOST_CHANGES = 20  # shown to a person


def evolve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    pages: Annotated[
        int,
        typer.Option(
            min=0, help="At most this many new and refreshed pages each in a round."
        ),
    ] = 100,
    every: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Repeat every 30m, 6h, 1d until Ctrl-C."),
    ] = None,
    mode: Annotated[
        str,
        typer.Option(help="fixed, or paper to follow Yang's paper exactly."),
    ] = "fixed",
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Send all requests through this proxy."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per round.")
    ] = False,
) -> None:
    """Keep a crawl current: complete its websites, follow links, refresh pages.

    Ctrl-C stops cleanly, a second Ctrl-C at once; nothing is lost either way.

    Examples:

        opilio evolve my-crawl --pages 200

        opilio evolve my-crawl --every 6h
    """
    if mode not in ("fixed", "paper"):
        raise BadInput(f"--mode {mode!r}: known are fixed and paper")
    pause = parse_time(every) if every else 0.0
    crawl = CrawlFolder(folder)
    plan = ready_plan(crawl, {"fetch": {"proxy": proxy}})
    rounds = Rounds(plan, crawl, "paper" if mode == "paper" else "fixed")
    raise typer.Exit(run_loop(rounds.run(pages, pause, as_json)))


def parse_time(told: str) -> float:
    """Seconds of `30m`, `6h`, `1d`; BadInput for anything else."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd])", told.strip().lower())
    seconds = float(parts[1]) * UNITS[parts[2]] if parts else 0.0
    if seconds < 1:
        raise BadInput(
            f"--every {told!r}: write a time like 30m, 6h or 1d, at least 1s"
        )
    return seconds


class Rounds:
    """Evolves a crawl once or repeatedly; the folder is unlocked in between."""

    def __init__(self, plan: Plan, folder: CrawlFolder, mode: Mode) -> None:
        self.plan = plan
        self.folder = folder
        self.mode = mode
        self.ended = asyncio.Event()  # this is the last round
        self.evolver: Evolver | None = None

    async def run(self, pages: int, pause: float, as_json: bool) -> int:
        """Evolve until the last round or a signal; returns the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.interrupt)
        while True:
            began = time.monotonic()
            outcomes = await self.round(pages)
            show(outcomes, self.folder.path, as_json)
            if not pause or self.ended.is_set():
                return 130 if self.ended.is_set() else 0
            with suppress(TimeoutError):
                left = max(0.0, began + pause - time.monotonic())
                await asyncio.wait_for(self.ended.wait(), left)
            if self.ended.is_set():
                return 130

    async def round(self, pages: int) -> list[Outcome]:
        """Open the crawl for one round."""
        folder = CrawlFolder(self.folder.path)
        async with open_evolver(self.plan, folder, self.mode) as evolver:
            self.evolver = evolver
            try:
                return await evolver.round(pages)
            finally:
                self.evolver = None

    def interrupt(self) -> None:
        """Stop cleanly; the second time, stop at once."""
        self.ended.set()
        if self.evolver:
            self.evolver.stop()


def show(outcomes: Sequence[Outcome], folder: Path, as_json: bool) -> None:
    """Print the result of a round."""
    if as_json:
        phases = [
            {"name": outcome.phase.name.lower(), **msgspec.to_builtins(outcome)}
            for outcome in outcomes
        ]
        told = {"at": time.time(), "folder": str(folder), "phases": phases}
        typer.echo(msgspec.json.encode(told).decode())
        return
    shown = [name for name in HEADERS if stdout.width >= NARROW or name not in LEAST]
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("phase", no_wrap=True)
    for name in shown:
        table.add_column(HEADERS[name], justify="right", no_wrap=True)
    for outcome in outcomes:
        values = [getattr(outcome, name) for name in shown]
        counts = [len(value) if isinstance(value, list) else value for value in values]
        table.add_row(
            f"{outcome.phase.value} {NAMES[outcome.phase]}",
            *(f"{count:,}" if count else "-" for count in counts),
        )
    stdout.print(table)
    for outcome in outcomes:
        if outcome.note:
            stdout.print(Text(f"Phase {outcome.phase.value}: {outcome.note}.", "dim"))
        for change in outcome.changes[:MOST_CHANGES]:
            stdout.print(foreign(change.url), soft_wrap=True)
            stdout.print(
                Text("  ") + foreign(change_in_words(change.what), style="dim")
            )
        if (left := len(outcome.changes) - MOST_CHANGES) > 0:
            stdout.print(f"and {left:,} more; --json shows all")
