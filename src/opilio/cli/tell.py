"""`opilio tell`: steers a crawl while it runs, from another terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.text import Text

from opilio.assembly.tell import list_messages, send_and_wait
from opilio.cli.crawl_argument import CrawlName
from opilio.cli.message_lines import in_a_line
from opilio.cli.terminal import foreign, stdout
from opilio.store.folder import CrawlFolder, is_database
from opilio.store.lifecycle import owner_of
from opilio.store.message_log import REFUSED, WAITING, ToldMessage
from opilio.store.messages import MOST_PAGES, USUAL_PAGES, AnyMessage, parse_message

LATEST = 20  # messages that are listed


def tell_crawl(
    folder: CrawlName,
    verb: Annotated[
        str | None,
        typer.Argument(
            metavar="VERB",
            help="pause, resume, stop, seed URL, block HOST, unblock HOST, boost HOST "
            "\\[FACTOR], label URL yes|no \\[check], query WORDS. Without a verb: list "
            "the messages so far.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="The arguments of the verb."),
    ] = None,
    pages: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_PAGES,
            help="With query: fetch at most N pages for it.",
        ),
    ] = USUAL_PAGES,
    wait: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="Wait up to this long for the result."
        ),
    ] = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Steer a running crawl: pause, stop, seed, block, boost, label, query.

    A message is stored on disk and takes effect once: within a second if the crawl
    runs, or when it is resumed.

    Examples:

        opilio tell my-crawl seed https://example.org/bees

        opilio tell my-crawl block ads.example.org

        opilio tell my-crawl label https://example.org/bees yes
    """
    way = database_way(folder) if is_database(folder) else folder_way(folder)
    if verb is None:
        show_all(way.messages(), as_json=as_json)
        return
    told = way.send(parse_message(verb, words or [], pages), wait)
    if as_json:
        typer.echo(msgspec.json.encode(told).decode())
    else:
        stdout.print(foreign(answer(way, told)), soft_wrap=True)
    if told.state == REFUSED:
        raise typer.Exit(2)


class WayToCrawl(NamedTuple):
    """How a crawl is told something."""

    name: str
    resumed_by: str  # command
    messages: Callable[[], list[ToldMessage]]
    send: Callable[[AnyMessage, float], ToldMessage]
    is_running: Callable[[], bool]


def folder_way(name: str) -> WayToCrawl:
    """The way to the crawl of a folder."""
    crawl = CrawlFolder(Path(name)).require()
    return WayToCrawl(
        name,
        f"opilio crawl {name}",
        lambda: list_messages(crawl),
        lambda message, wait: send_and_wait(crawl, message, wait),
        lambda: bool(owner_of(crawl)),
    )


def database_way(dsn: str) -> WayToCrawl:
    """The way to a crawl on many machines."""
    from opilio.cluster.tell import DatabaseWay

    way = DatabaseWay(dsn)
    return WayToCrawl(
        way.name,
        f"opilio crawl TOPIC.toml --store {way.name}",
        way.messages,
        way.send,
        way.is_running,
    )


def answer(crawl: WayToCrawl, told: ToldMessage) -> str:
    """What became of a message, in a sentence."""
    if told.state != WAITING:
        return f"{told.state}: {told.outcome}"
    if crawl.is_running():
        return (
            "sent; the crawl has not taken it up yet. See `opilio tell "
            f"{crawl.name}` later"
        )
    return (
        "the crawl is not running; the message takes effect when it is resumed: "
        f"{crawl.resumed_by}"
    )


def show_all(messages: list[ToldMessage], *, as_json: bool) -> None:
    """List the latest messages."""
    if as_json:
        typer.echo(msgspec.json.encode(messages).decode())
        return
    if not messages:
        stdout.print("This crawl was sent no messages.")
    if len(messages) > LATEST:
        more = len(messages) - LATEST
        stdout.print(Text(f"… and {more:,} before these; --json lists all", "dim"))
    for told in messages[-LATEST:]:
        stdout.print(in_a_line(told), soft_wrap=True)
