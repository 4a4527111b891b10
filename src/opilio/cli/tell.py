"""`opilio tell`: steers a crawl while it runs, from another terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from opilio.assembly.tell import list_messages, send_and_wait
from opilio.cli.message_lines import in_a_line
from opilio.cli.terminal import foreign, stdout
from opilio.store.folder import CrawlFolder
from opilio.store.lifecycle import owner_of
from opilio.store.message_log import REFUSED, WAITING, ToldMessage
from opilio.store.messages import MOST_PAGES, USUAL_PAGES, parse_message

LATEST = 20  # messages that are listed


def tell_crawl(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    verb: Annotated[
        str | None,
        typer.Argument(
            metavar="VERB",
            help="pause, resume, stop, seed URL, block HOST, unblock HOST, boost HOST "
            "\\[FACTOR], label URL yes|no, query WORDS. Without a verb: list the "
            "messages so far.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="What belongs to the verb."),
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
    crawl = CrawlFolder(folder).require()
    if verb is None:
        show_all(list_messages(crawl), as_json=as_json)
        return
    told = send_and_wait(crawl, parse_message(verb, words or [], pages), wait)
    if as_json:
        typer.echo(msgspec.json.encode(told).decode())
    else:
        stdout.print(foreign(answer(crawl, told)), soft_wrap=True)
    if told.state == REFUSED:
        raise typer.Exit(2)


def answer(crawl: CrawlFolder, told: ToldMessage) -> str:
    """What became of a message, in a sentence."""
    if told.state != WAITING:
        return f"{told.state}: {told.outcome}"
    if owner_of(crawl):
        return (
            "sent; the crawl has not taken it up yet. See `opilio tell "
            f"{crawl.path}` later"
        )
    return (
        "the crawl is not running; the message takes effect when it goes on: opilio "
        f"crawl {crawl.path}"
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
