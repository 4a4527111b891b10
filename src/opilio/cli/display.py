"""A running crawl in; a live table on a terminal, or JSON lines elsewhere, out."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Collection, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
from rich.markup import escape
from rich.text import Text

from opilio.cli.terminal import foreign, plain, stderr, stdout
from opilio.cli.waiting import Waiting, in_words, print_json
from opilio.config import Bounds
from opilio.crawl import Crawl
from opilio.dry import left_in_words
from opilio.errors import OpilioError
from opilio.types import Estimate

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

LIVE_SECONDS = 0.5
LINE_SECONDS = 10.0
SPEED_WINDOW = 20  # live refreshes
MARGIN = 11  # columns of the names in the live table
GAP = "   "


def show_trouble(sentence: str) -> None:
    """Something failed and the rest goes on."""
    stderr.print(foreign(sentence, style="yellow"), soft_wrap=True)


class Reporter:
    """Shows how a crawl is doing, for as long as it is open."""

    def __init__(self, crawl: Crawl, *, quiet: bool = False) -> None:
        self.crawl = crawl
        self.quiet = quiet
        begun = [(time.monotonic(), crawl.tally.pages)]
        self.speeds: deque[tuple[float, int]] = deque(begun, maxlen=SPEED_WINDOW)
        self.tasks: list[asyncio.Task[None]] = []
        self.live: Live | None = None

    async def __aenter__(self) -> Reporter:
        waiting = Waiting(self.crawl, self.show_waiting)
        self.tasks.append(asyncio.create_task(waiting.watch()))
        if self.quiet:
            return self
        if stderr.is_terminal and not stderr.is_dumb_terminal:
            from rich.live import Live

            self.live = Live(console=stderr, transient=True, auto_refresh=False)
            self.live.start()
        self.tasks.append(asyncio.create_task(self.show_regularly()))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if self.live:
            self.live.stop()

    def show_waiting(self, event: dict[str, Any]) -> None:
        """Say that nothing can be visited now; also if nothing else is shown."""
        if self.quiet or stderr.is_terminal:
            show_trouble(in_words(event))
        else:
            print_json(event)

    async def show_regularly(self) -> None:
        """Show a snapshot twice a second, or print one every ten."""
        while True:
            if self.live:
                table = as_table(self.snapshot(), stderr.width)
                self.live.update(table, refresh=True)
            await asyncio.sleep(LIVE_SECONDS if self.live else LINE_SECONDS)
            if not self.live:
                print(json.dumps(self.snapshot()), file=sys.stderr, flush=True)

    def snapshot(self) -> dict[str, Any]:
        """How the crawl is doing now."""
        return snapshot(self.crawl, self.speed())

    def speed(self) -> float:
        """Pages a second over the last refreshes."""
        tally = self.crawl.tally
        self.speeds.append((time.monotonic(), tally.pages))
        (then, before), (now, after) = self.speeds[0], self.speeds[-1]
        return (after - before) / (now - then) if now > then else 0.0


def snapshot(crawl: Crawl, speed: float) -> dict[str, Any]:
    """The figures of a running crawl."""
    tally = crawl.tally
    counts = crawl.frontier.counts()
    estimate = crawl.estimate()
    return {
        "seconds": round(time.monotonic() - tally.started, 1),
        "pages": tally.pages,
        "pages_in_all": crawl.store.catalogue.pages,
        "kept": tally.kept,
        "harvest_rate": round(tally.kept / tally.pages, 4) if tally.pages else 0.0,
        "harvest_rate_recent": round(
            sum(tally.recent) / len(tally.recent) if tally.recent else 0.0, 4
        ),
        "estimate": rounded(estimate) if estimate else None,
        "pages_per_second": round(speed, 1),
        "waiting": counts.waiting,
        "leased": counts.leased,
        "hosts": counts.hosts,
        "hosts_resting": counts.resting,
        "hosts_held": counts.held,
        "unusable": dict(sorted(counts.reasons.items(), key=lambda item: -item[1])),
        "asked_for": crawl.followed.asked if crawl.followed else [],
        "stopping": crawl.stopped,
    }


def rounded(estimate: Estimate) -> dict[str, float]:
    """An estimate with one decimal."""
    plain: dict[str, float] = msgspec.to_builtins(estimate)
    return {name: round(value, 1) for name, value in plain.items()}


def as_table(figures: dict[str, Any], width: int) -> Table:
    """The figures for a person, in so many columns."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", justify="right")
    table.add_column()
    minutes, seconds = divmod(int(figures["seconds"]), 60)
    reasons = [f"{name} {n:,}" for name, n in figures["unusable"].items()]
    asked = ", ".join(figures["asked_for"])
    ending = "stopping: waiting for the visits under way; Ctrl-C again stops now"
    for name, *values in (
        (
            "pages",
            f"[bold]{figures['pages']:,}[/]",
            f"kept [bold green]{figures['kept']:,}[/]",
        ),
        (
            "harvest",
            f"[bold]{figures['harvest_rate_recent']:.0%}[/] now",
            f"{figures['harvest_rate']:.0%} overall",
        ),
        *(
            [("left", left_in_words(Estimate(**figures["estimate"])))]
            if figures["estimate"]
            else []
        ),
        (
            "speed",
            f"{figures['pages_per_second']:.1f} pages/s",
            f"{minutes}:{seconds:02}",
        ),
        (
            "frontier",
            f"{figures['waiting']:,} waiting",
            f"{figures['leased']:,} leased",
        ),
        (
            "hosts",
            f"{figures['hosts']:,}",
            f"{figures['hosts_resting']:,} resting",
            *([held_back(figures["hosts_held"])] if figures["hosts_held"] else []),
        ),
        ("not kept", *(reasons or ["none"])),
        *([("asked for", escape(plain(asked, 60)))] if asked else []),
        *([("", f"[yellow]{ending}[/]")] if figures["stopping"] else []),
    ):
        table.add_row(name, in_lines(values, width - MARGIN))
    return table


def held_back(hosts: int) -> str:
    """Why workers are idle although hosts could be visited."""
    return f"{hosts:,} held back: better links wait for their hosts"


def in_lines(values: Sequence[str], width: int) -> Text:
    """Values side by side, and in further lines where there is no room for one."""
    lines = [Text()]
    for value in map(Text.from_markup, values):
        if not lines[-1]:
            lines[-1] = value
        elif lines[-1].cell_len + len(GAP) + value.cell_len <= width:
            lines[-1] = lines[-1] + GAP + value
        else:
            lines.append(value)
    return Text("\n").join(lines)


ENDINGS = {
    "budget": "the page budget is spent; a larger --max-pages goes on",
    "time": "the time is up; the same command goes on",
    "exhausted": "no link waits any more; more seeds (--seed-url) go on",
    "interrupted": "interrupted; the same command goes on",
    "dry": "little is left to be found; --no-stop-when-dry goes on",
}


def show_end(crawl: Crawl, reason: str) -> int:
    """Say how it went and what to do next; answers the exit code."""
    folder, tally = crawl.store.folder.path, crawl.tally
    if reason == "exhausted" and not crawl.store.catalogue.pages:
        raise OpilioError(nothing_answered(crawl))
    if not stdout.is_terminal:
        speed = tally.pages / max(time.monotonic() - tally.started, 0.001)
        figures = {**snapshot(crawl, speed), "ended": reason, "folder": str(folder)}
        print(json.dumps(figures))
        return 130 if reason == "interrupted" else 0
    before = crawl.store.catalogue.pages - tally.pages
    told = f"{harvest(tally.pages, tally.kept, before)} in {escape(str(folder))}"
    estimate = crawl.estimate()
    left = f", {left_in_words(estimate)}" if estimate else ""
    stdout.print(f"{told}{left}: {ENDINGS[reason]}")
    for command in (
        "status {}",
        "export {} --relevant-only -o pages.jsonl",
    ):
        stdout.print(Text(f"  opilio {command.format(folder)}", "dim"), soft_wrap=True)
    return 130 if reason == "interrupted" else 0


def harvest(pages: int, kept: int, before: int) -> str:
    """What a run brought, beside what there had been before."""
    rate = f" ({kept / pages:.0%})" if pages else ""
    beyond = f" beyond the {before:,}" if before else ""
    return f"[bold]{pages:,}[/] pages, [bold green]{kept:,}[/] kept{rate}{beyond}"


def nothing_answered(crawl: Crawl) -> str:
    """Why a crawl ended without a page, seed by seed."""
    rows = crawl.store.db.execute(
        "SELECT url, state, reason FROM link WHERE depth = 0 ORDER BY id LIMIT 5"
    ).fetchall()
    seeds = "; ".join(f"{url} ({reason or state})" for url, state, reason in rows)
    remedies = remedies_for({reason for *_, reason in rows}, crawl.settings.bounds)
    return f"no page could be fetched. Seeds: {seeds}; {'; '.join(remedies)}"


def remedies_for(reasons: Collection[str | None], bounds: Bounds) -> list[str]:
    """What to do about seeds that gave no page for these reasons."""
    known = {
        "blocked_address": "a private network must be named: --allow-network CIDR",
        "blocked_port": "ports of other services, such as 25 (mail) and 6379, are "
        "never asked: let the server use another, such as 8080",
        "trap_length": f"an address may have {bounds.max_url_length:,} characters "
        "(bounds.max_url_length)",
        "trap_segments": f"a path may have {bounds.max_segments} segments "
        "(bounds.max_segments)",
        "trap_repeats": f"a segment may come {1 + bounds.max_repeats} times in a path "
        "(bounds.max_repeats)",
    }
    told = [remedy for reason, remedy in known.items() if reason in reasons]
    return told or ["check the addresses; opilio doctor --url URL tries one"]
