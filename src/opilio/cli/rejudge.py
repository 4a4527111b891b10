"""`opilio rejudge`: judges the pages of a crawl again after its topic has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Options
from opilio.assembly.registry import find_judge, find_strategy
from opilio.assembly.rejudge import rejudge as judge_again
from opilio.assembly.rejudge_pages import Changed, Rejudged
from opilio.cli.crawl_inputs import parse_options
from opilio.cli.crawl_options import JUDGE_NAMES
from opilio.cli.error_messages import told
from opilio.cli.terminal import foreign, stderr, stdout
from opilio.store.folder import CrawlFolder
from opilio.topic import load_topic

SHOWN = 5  # pages of each list
OFTEN = 25  # pages between two updates of the progress display


def rejudge(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    topic: Annotated[
        Path | None,
        typer.Argument(
            metavar="TOPIC.toml",
            help="The changed topic file. \\[default: the topic of the crawl]",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Change the judge: {JUDGE_NAMES}, the judge of an installed "
            "package, or your own class as FILE.py:CLASS.",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Change the strategy: `opilio strategies` lists them; or your own "
            "class as FILE.py:CLASS.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Set an option of the strategy; may be repeated.",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(metavar="auto|none|PATH", help="Change the word vectors."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Change the trained weights."),
    ] = None,
    embedding_model: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Change the sentence model of the judge `embedding`."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge the pages of a crawl again, offline, and re-score its waiting links.

    Use it after changing keywords, threshold, judge or strategy. Pages come from the
    WARC files; nothing is fetched. `opilio crawl DIR` then continues by the new topic.

    Examples:

        opilio rejudge my-crawl chemistry.toml

        opilio rejudge my-crawl --judge cosine
    """
    if strategy:
        find_strategy(strategy)
    if judge:
        find_judge(judge)
    options: Options = {
        "crawl": {
            "judge": judge,
            "strategy": strategy,
            "vectors": vectors,
            "weights": weights,
        },
        "embedding": {"model": embedding_model},
    }
    if option:
        options = {**options, "options": parse_options(option)}
    crawl = CrawlFolder(folder).require()
    wanted = load_topic(topic) if topic else None
    with told(crawl.path), stderr.status("Reading the pages again.") as status:

        def tell(done: int, pages: int) -> None:
            if done % OFTEN == 0:
                status.update(f"Reading the pages again: {done:,} of {pages:,}")

        found = run_loop(judge_again(crawl, wanted, options, tell))
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
    else:
        show(found, crawl.path)
    if found.trouble:
        stderr.print(Text(found.trouble, "yellow"), soft_wrap=True)
        raise typer.Exit(1)


def show(found: Rejudged, folder: Path) -> None:
    """Say what changed."""
    pages = "page" if found.pages == 1 else "pages"
    stdout.print(f"[bold]{found.pages:,}[/] {pages} judged again")
    stdout.print(
        f"  relevant pages  {found.kept_before:,} → [bold green]{found.kept:,}[/]"
        f"  ({len(found.gained):,} gained, {len(found.lost):,} lost)"
    )
    stdout.print(f"  waiting links   {found.waiting_before:,} → {found.waiting:,}")
    if found.unread:
        stdout.print(f"  not readable    {found.unread:,}; their verdicts are kept")
    show_pages("Relevant now", found.gained)
    show_pages("No longer relevant", found.lost)
    next_one = f"opilio crawl {folder} --max-pages N"
    stdout.print(Text(f"\n{next_one} continues the crawl", "dim"), soft_wrap=True)


def show_pages(title: str, pages: Sequence[Changed]) -> None:
    """The pages whose verdicts changed most, with their scores before and after."""
    if not pages:
        return
    stdout.print(f"\n[bold]{title}[/]")
    for page in pages[:SHOWN]:
        scores = Text(f"  {page.before:.3f} → {page.after:.3f}  ")
        stdout.print(scores + foreign(page.title or page.url, 70))
        address = Text(" " * 17) + foreign(page.url, style="dim")
        stdout.print(address, soft_wrap=True)
    if len(pages) > SHOWN:
        stdout.print(f"  and {len(pages) - SHOWN:,} more; --json shows all")
