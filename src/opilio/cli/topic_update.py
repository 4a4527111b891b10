"""`opilio topic build --update`: proposes better keywords from the pages of a crawl."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import typer
from rich.text import Text

from opilio.cli.terminal import foreign, stderr, stdout
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    from opilio.topic.keyword_updates import KeywordChange


def update_topic(
    folder: Path, accepted: Sequence[str], rejected: Sequence[str], as_json: bool
) -> None:
    """List the changes that the kept pages suggest, or make some of them."""
    from opilio.assembly.topic_update import decide, proposals_for

    crawl = CrawlFolder(folder).require()
    with stderr.status("Reading the pages of the crawl."):
        if accepted or rejected:
            changes = decide(crawl, accepted, rejected)
        else:
            changes = proposals_for(crawl)
    if as_json:
        rows = [{**msgspec.to_builtins(one), "kind": one.kind} for one in changes]
        typer.echo(msgspec.json.encode(rows).decode())
        return
    show_changes(changes)
    place = shlex.quote(str(folder))
    if accepted:
        told = (
            f"opilio crawl {place} uses them from now on; opilio rejudge {place} "
            "judges the pages so far again"
        )
    elif changes:
        told = f"opilio topic build --update {place} --accept all makes these changes"
    else:
        told = "Nothing to change."
    stdout.print(Text(told, "dim"), soft_wrap=True)


def show_changes(changes: Sequence[KeywordChange]) -> None:
    """Print changes, a line each."""
    for one in changes:
        before = f"{one.before:.2f}" if one.before else "    "
        after = f"{one.after:.2f}" if one.after else "    "
        line = Text(f"{one.kind:<6} {before} → {after}  ")
        line += foreign(one.term, style="bold")
        line.append(f"  on {one.pages} of {one.of} kept pages", "dim")
        stdout.print(line, soft_wrap=True)
