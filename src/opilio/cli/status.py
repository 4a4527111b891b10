"""`opilio status`: shows the state of a crawl, also while it runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import msgspec
import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from opilio.assembly.plan import Plan, load_plan
from opilio.cli.crawl_argument import CrawlName, crawl_at, shown
from opilio.cli.ending import ENDINGS
from opilio.cli.link_reasons import reason_in_words, seed_in_words
from opilio.cli.live_table import server_in_words
from opilio.cli.message_lines import in_a_line
from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stdout
from opilio.cli.waiting import sentence, until
from opilio.limits.stop_when_dry import left_in_words
from opilio.progress import BusyServer, OpinionCounts, RenderedCounts
from opilio.store.export_left_out import count_left_out
from opilio.store.lifecycle import Life, life_of
from opilio.store.lookup import Summary, busy_in, opened, summary
from opilio.store.message_log import WAITING, ToldMessage, is_paused, messages_of
from opilio.store.seed_notes import SeedNote, seed_notes
from opilio.store.seed_origins import SeedOrigin, count_classes, found_seeds

NOT_KEPT = {
    "noindex": "relevant, but marked noindex",
    "irrelevant": "not relevant",
    "copy": "copies of other pages",
    "unreadable": "could not be read",
    "redirect": "redirects to other pages",
}
ONE = {"copy": "copy of another page", "redirect": "redirect to another page"}
OPINION_FAILURES = {
    "model": "the sentence model failed",
    "no_text": "the page has no text",
    "busy": "too many pages were waiting for it",
    "budget": "its budget is spent (llm.max_calls, llm.max_tokens)",
    "resting": "it had failed just before",
    "timeout": "it took too long",
    "refused": "its connection was refused",
    "blocked_address": "its address is private; set llm.local if it is yours",
    "bad_json": "its endpoint sent no JSON",
    "bad_answer": "it answered something else than was asked for",
    "redirect": "its endpoint redirects elsewhere",
    "http_401": "its endpoint refused the key",
    "http_403": "its endpoint refused the key",
    "http_429": "its endpoint answered 429, too many requests",
}
OF_PAGES = ("content", "near")  # reasons that are counted among the pages
LAST = 5  # messages shown
SEEDS = 5  # found ones that are shown
CONTINUES = "continue with the same command"


class CrawlStanding(NamedTuple):
    """The state of a crawl."""

    plan: Plan
    figures: Summary
    life: Life
    not_kept: dict[str, int]  # pages that were not kept, by reason
    seeds: list[SeedNote]  # with problems
    folder: str
    paused: bool = False
    messages: Sequence[ToldMessage] = ()
    found: Sequence[SeedOrigin] = ()  # seeds that search engines found
    busy: Sequence[BusyServer] = ()  # while it runs


def status(
    folder: CrawlName,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the state of a crawl: pages, harvest rate, links, problems, hosts."""
    crawl = crawl_at(folder)
    with opened(crawl) as db:
        standing = CrawlStanding(
            load_plan(crawl),
            summary(db),
            life_of(db, crawl),
            count_left_out(db, relevant_only=True),
            seed_notes(db),
            shown(folder),
            is_paused(db),
            messages_of(crawl, db),
            found_seeds(db),
        )
        if standing.life.running:
            standing = standing._replace(busy=busy_in(db))
    if as_json:
        typer.echo(msgspec.json.encode(for_programs(standing)).decode())
    else:
        show(standing, time.time())


def for_programs(standing: CrawlStanding) -> dict[str, Any]:
    """The state as a JSON object."""
    plan = standing.plan
    return {
        "topic": plan.topic.name,
        "strategy": plan.crawl.strategy,
        "judge": plan.crawl.judge,
        "max_pages": plan.crawl.max_pages,
        "running": standing.life.running,
        "stopped": standing.life.stopped,
        **msgspec.to_builtins(standing.figures),
        "not_kept": standing.not_kept,
        "seeds": msgspec.to_builtins(standing.seeds),
        "busy": msgspec.to_builtins(standing.busy),
        "seeds_found": msgspec.to_builtins(standing.found),
        "paused": standing.paused,
        "messages": dict(Counter(told.state for told in standing.messages)),
        "last_messages": msgspec.to_builtins(standing.messages[-LAST:]),
    }


def show(standing: CrawlStanding, now: float) -> None:
    """Print the state for people."""
    plan, figures = standing.plan, standing.figures
    stdout.print(
        f"[bold]{escape(plain(plan.topic.name))}[/]  strategy "
        f"{escape(plan.crawl.strategy)}, judge {escape(plan.crawl.judge)}"
    )
    stdout.print(Text(doing(standing.life)), soft_wrap=True)
    if standing.paused:
        resume = f"`opilio tell {standing.folder} resume` continues"
        stdout.print(Text(f"paused; {resume}", "yellow"), soft_wrap=True)
    show_counts(pages_heading(plan, figures), pages_rows(standing))
    if figures.estimate:
        stdout.print(f"\n[bold]Left:[/] {left_in_words(figures.estimate)}")
    if figures.opinions:
        show_opinions(figures.opinions)
    if figures.rendered:
        show_rendered(figures.rendered)
    hosts = "host" if figures.hosts == 1 else "hosts"
    show_counts(
        f"[bold]Links: {figures.links:,}[/] to {figures.hosts:,} {hosts}",
        links_rows(figures),
    )
    if standing.busy:
        stdout.print("\n[bold]Servers with requests under way[/]")
    for server in standing.busy:
        stdout.print(f"  {server_in_words(server)}", soft_wrap=True)
    show_found(standing.found)
    if standing.seeds:
        stdout.print("\n[bold]Seeds with problems[/]")
    for seed in standing.seeds:
        stdout.print(Text("  ") + foreign(seed_in_words(seed)), soft_wrap=True)
    show_rests(figures, now)
    show_silent(figures, now, plan.politeness.retry_for)
    show_messages(standing.messages)


def show_opinions(counts: OpinionCounts) -> None:
    """How often the adviser of the judge was asked, and how often it failed."""
    told = f"{counts.asked:,} asked for, {counts.answered:,} answered"
    stdout.print(f"\n[bold]Second opinions ({counts.adviser}):[/] {told}")
    for reason, count in sorted(counts.failures.items()):
        why = escape(OPINION_FAILURES.get(reason, reason))
        stdout.print(f"  {count:,} times none: {why}", soft_wrap=True)


def show_rendered(counts: RenderedCounts) -> None:
    """How many pages were rendered, and whether that was of use."""
    pages = "page" if counts.rendered == 1 else "pages"
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    told = f"{counts.rendered:,} {pages}, {counts.changed:,} changed by it{failed}"
    stdout.print(f"\n[bold]Rendered in a browser:[/] {told}")


def show_found(seeds: Sequence[SeedOrigin]) -> None:
    """The seeds that search engines found: their classes, and the first of them."""
    if not seeds:
        return
    classes = ", ".join(f"{n:,} {name}" for name, n in count_classes(seeds).items())
    stdout.print(f"\n[bold]Seeds found by search: {len(seeds):,}[/] ({classes})")
    for seed in seeds[:SEEDS]:
        stdout.print(Text("  ") + foreign(seed.url), soft_wrap=True)
        stdout.print(Text("    ") + foreign(seed.in_words()), soft_wrap=True)


def show_messages(messages: Sequence[ToldMessage]) -> None:
    """The last messages that the crawl was sent, and how many wait."""
    if not messages:
        return
    waiting = sum(told.state == WAITING for told in messages)
    wait = f", {waiting:,} waiting for the crawl to run" if waiting else ""
    stdout.print(f"\n[bold]Messages: {len(messages):,}[/]{wait}")
    for told in messages[-LAST:]:
        stdout.print(Text("  ") + in_a_line(told), soft_wrap=True)


def doing(life: Life) -> str:
    """Whether the crawl runs, and otherwise why it stopped."""
    at = f"{datetime.fromtimestamp(life.at).astimezone():%Y-%m-%d %H:%M}"
    if life.running:
        return f"running since {at} (process {life.running})"
    if not life.at:
        return "not running"
    if life.stopped == "killed":
        return f"not running; started {at}, then killed or failed; {CONTINUES}"
    return f"stopped {at}: {ENDINGS.get(life.stopped, life.stopped)}"


def pages_heading(plan: Plan, figures: Summary) -> str:
    """The number of pages, out of the budget, and the speed; pages of an archive have
    the dates of their first fetch, so there is none."""
    most = plan.crawl.max_pages
    out_of = f" of {most:,}" if most else ""
    speed = f", {figures.pages_per_second:,.1f} a second, including pauses"
    return (
        f"[bold]Pages: {figures.pages:,}[/]{out_of}, {size(figures.bytes)}"
        f"{'' if plan.replay else speed}"
    )


def size(bytes: int) -> str:
    """A number of bytes as people write it.

    >>> size(4_300), size(4_300_000)
    ('4 KB', '4.1 MB')
    """
    small = bytes < 2**20
    return f"{bytes / 2**10:,.0f} KB" if small else f"{bytes / 2**20:,.1f} MB"


def pages_rows(standing: CrawlStanding) -> Iterator[tuple[int, str]]:
    """The outcomes of all pages."""
    figures = standing.figures
    recent = f"{figures.harvest_rate_recent:.1%} of the last 100 pages"
    rates = f"harvest rate {figures.harvest_rate:.1%}, {recent}"
    yield figures.kept, f"[green]relevant[/] ({rates})"
    for reason, count in standing.not_kept.items():
        words = NOT_KEPT | ONE if count == 1 else NOT_KEPT
        yield count, words[reason]


def links_rows(figures: Summary) -> Iterator[tuple[int, str]]:
    """The outcomes of links without a page."""
    yield figures.states.get("waiting", 0) + figures.states.get("leased", 0), "waiting"
    for reason, count in figures.reasons.items():
        if reason not in OF_PAGES:
            yield count, escape(reason_in_words(reason))


def show_counts(heading: str, rows: Iterable[tuple[int, str]]) -> None:
    """Figures below a heading."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    table.add_column()
    for count, what in rows:
        table.add_row(f"  {count:,}", what)
    stdout.print(f"\n{heading}")
    stdout.print(table)


def show_silent(figures: Summary, now: float, retry_for: float) -> None:
    """How many hosts are silent, and when they are given up."""
    if figures.silent_since is None:
        return
    hosts = "host does" if figures.silent_hosts == 1 else "hosts do"
    limit = "tried again when the crawl continues"
    if retry_for:
        left = max(0.0, figures.silent_since + retry_for - now) / 3600
        limit = f"given up after {retry_for / 3600:,.3g} h (politeness.retry_for)"
        limit += f", the first in {left:,.1f} h"
    stdout.print(
        f"\n[bold]Silent: {figures.silent_hosts:,}[/] {hosts} not answer; {limit}",
        soft_wrap=True,
    )


def show_rests(figures: Summary, now: float) -> None:
    """The hosts that rest, with reason and time, and those with long Crawl-delays."""
    if figures.resting:
        stdout.print(f"\n[bold]Resting hosts: {figures.hosts_resting:,}[/]")
    for rest in figures.resting:
        stdout.print(Text(f"  {sentence(rest, now)}"), soft_wrap=True)
    if figures.next_retry is not None:
        links = "link is" if figures.retried == 1 else "links are"
        stdout.print(
            f"\n[bold]Failed for now: {figures.retried:,}[/] {links} tried again, "
            f"the first at {until(figures.next_retry, now)}",
            soft_wrap=True,
        )
    if figures.slowest:
        stdout.print("\n[bold]Longest Crawl-delays[/]")
    for host, delay in figures.slowest.items():
        stdout.print(Text(f"  {plain(host)}: {delay:g} s"), soft_wrap=True)
