"""Prints the result of a crawl when it ends, and what to do next."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from opilio.cli.display import Before, is_terminal
from opilio.cli.figures import snapshot
from opilio.cli.link_reasons import reason_in_words, seed_in_words
from opilio.crawl import CrawlLoop
from opilio.errors import OpilioError
from opilio.limits.stop_when_dry import left_in_words
from opilio.settings import BoundsSettings
from opilio.store.seed_notes import SeedNote, seed_notes

SEEDS = 5  # whose problems are shown
SEEDS_HERE = "SELECT url, state, reason FROM link WHERE depth = 0 ORDER BY id LIMIT 5"
SeedRow = tuple[str, str, str | None]
ENDINGS = {
    "budget": "the page budget is used up; continue with a larger --max-pages",
    "time": "the time is up (--max-time); continue with the same command",
    "exhausted": "no links are left; add seeds with --seed-url to continue",
    "resting": "the servers of all links that wait asked for a long rest or fail for "
    "now; continue later with the same command",
    "interrupted": "interrupted; continue with the same command",
    "told": "told to stop by `opilio tell`; continue with the same command",
    "dry": "little is left to find; continue with --no-stop-when-dry",
}


def show_end(crawl: CrawlLoop, reason: str, before: Before) -> int:
    """Say how it went and what to do next; returns the exit code."""
    nothing_left = reason in ("exhausted", "resting")
    if nothing_left and not crawl.store.catalogue.pages:
        rows = crawl.store.db.execute(SEEDS_HERE).fetchall()
        raise OpilioError(nothing_answered(rows, crawl.settings.bounds))
    seeds = seed_notes(crawl.store.db)
    if is_terminal(sys.stdout):
        print_end(crawl, reason, before, seeds)
    else:
        tally = crawl.tally
        speed = tally.pages / max(time.monotonic() - tally.started, 0.001)
        figures = {
            **snapshot(crawl, speed, before),
            "seconds_left": 0,
            "seeds": msgspec.to_builtins(seeds),
            "ended": reason,
            "folder": str(crawl.store.folder.path),
            **added_to(crawl),
        }
        print(json.dumps(figures))
    return 130 if reason == "interrupted" else 0


def print_end(
    crawl: CrawlLoop, reason: str, before: Before, seeds: Sequence[SeedNote]
) -> None:
    """Print it for a person at a terminal."""
    from rich.markup import escape
    from rich.text import Text

    from opilio.cli.terminal import stdout  # slow to import
    from opilio.cli.waiting import until

    folder, tally = crawl.store.folder.path, crawl.tally
    told = f"{escape(str(folder))}: {harvest(tally.pages, tally.kept, before)}"
    estimate = crawl.estimate()
    left = f"; {left_in_words(estimate)}" if estimate else ""
    stdout.print(f"{told}{left}.", soft_wrap=True)
    stdout.print(Text(f"Stopped: {ENDINGS[reason]}."), soft_wrap=True)
    lacking = crawl.frontier.counts().reasons.get("not_archived", 0)
    if reason == "exhausted" and lacking:
        told = f"{lacking:,} links are not in the WARC files; --online fetches them"
        stdout.print(Text(f"{told} from the web."), soft_wrap=True)
    retried, due = crawl.store.db.execute(
        "SELECT count(*), min(due) FROM retry"
    ).fetchone()
    if retried:
        links = "link" if retried == 1 else "links"
        again = f"{retried:,} {links} failed for now; the same command tries again from"
        told = f"{again} {until(due, time.time())} on."
        stdout.print(Text(told), soft_wrap=True)
    if added := added_to(crawl):
        told = f"Added {added['added']:,} responses to {added['archive']}."
        stdout.print(Text(told), soft_wrap=True)
    for seed in seeds[:SEEDS]:
        stdout.print(Text(f"Seed {seed_in_words(seed)}.", "yellow"), soft_wrap=True)
    if len(seeds) > SEEDS:
        more = "More seeds have problems; `opilio status` lists them."
        stdout.print(Text(more, "yellow"))
    commands = [f"status {folder}"]
    if before.kept + tally.kept:
        commands.append(f"export {folder} --relevant-only -o pages.jsonl")
    for command in commands:
        stdout.print(Text(f"  opilio {command}", "dim"), soft_wrap=True)


def added_to(crawl: CrawlLoop) -> dict[str, Any]:
    """What `--online` added to the archive, and the file that has it."""
    additions = getattr(crawl.fetch, "additions", None)
    if not additions:
        return {}
    return {"added": additions.added, "archive": str(additions.path)}


def harvest(pages: int, kept: int, before: Before) -> str:
    """The figures of this run, and of all runs if there were others."""
    told = share(pages, kept)
    if before.pages:
        told += f" in this run; {share(pages + before.pages, kept + before.kept)}"
        told += " in all"
    return told


def share(pages: int, kept: int) -> str:
    """Pages, and how many of them are relevant."""
    rate = f" ({kept / pages:.0%})" if pages else ""
    name = "page" if pages == 1 else "pages"
    return f"[bold]{pages:,}[/] {name}, [bold green]{kept:,}[/] relevant{rate}"


def nothing_answered(rows: Sequence[SeedRow], bounds: BoundsSettings) -> str:
    """Why a crawl ended without a page, by its first seeds."""
    seeds = "; ".join(
        f"{url} {reason_in_words(reason or state)}" for url, state, reason in rows
    )
    remedies = remedies_for({reason for *_, reason in rows}, bounds)
    return f"no page could be fetched. Seeds: {seeds}; {'; '.join(remedies)}"


def remedies_for(reasons: Collection[str | None], bounds: BoundsSettings) -> list[str]:
    """What to do about seeds that gave no page for these reasons."""
    known = {
        "blocked_address": "if you may crawl it, allow its network, for example "
        "with --allow-network 127.0.0.0/8",
        "blocked_port": "ports of other services, such as 25 (mail) and 6379, are "
        "blocked: let the server use another port, such as 8080",
        "trap_length": f"a URL may have {bounds.max_url_length:,} characters "
        "(bounds.max_url_length)",
        "trap_segments": f"a path may have {bounds.max_segments} segments "
        "(bounds.max_segments)",
        "trap_repeats": f"a path may have a segment {1 + bounds.max_repeats} times "
        "(bounds.max_repeats)",
    }
    told = [remedy for reason, remedy in known.items() if reason in reasons]
    return told or ["check the URLs; `opilio doctor --url URL` tests one"]
