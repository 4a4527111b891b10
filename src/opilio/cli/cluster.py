"""`opilio cluster`: runs the workers of one crawl on a cluster."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Literal

import typer

from opilio.assembly.plan import Options
from opilio.cli.crawl_worker import Given, agree
from opilio.cli.display import is_terminal
from opilio.cli.ending import ENDINGS
from opilio.cli.error_messages import told
from opilio.cli.terminal import stderr
from opilio.cluster.connection import require_dsn, without_password
from opilio.cluster.on_ray import ClusterState, ray_library, run_on_ray


def cluster(
    topic: Annotated[
        Path, typer.Argument(metavar="TOPIC.toml", help="The topic to crawl for.")
    ],
    store: Annotated[
        str,
        typer.Option(metavar="DSN", help="The database: postgresql://USER@HOST/NAME."),
    ],
    workers: Annotated[int, typer.Option(min=1, help="How many workers to run.")] = 2,
    on: Annotated[
        Literal["ray"], typer.Option(help="What starts the workers.")
    ] = "ray",
    address: Annotated[
        str,
        typer.Option(
            help="The Ray cluster: `auto`, or ray://HOST:PORT. Default: a new one on "
            "this machine."
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="The folder on every machine."
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read more settings from this TOML file."),
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option(min=0, help="Stop after this many pages; 0: no limit.")
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Your address or page, for the user agent.")
    ] = None,
    proxy: Annotated[
        str | None, typer.Option(metavar="URL", help="Send all requests through this.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show the result only, no progress.")
    ] = False,
) -> None:
    """Run the workers of one crawl on a Ray cluster, and restart those that die.

    The crawl is in PostgreSQL; other workers may join it by `opilio crawl --store`.
    Ctrl-C stops all of them.

    Example:

        opilio cluster bees.toml --store postgresql://example.org/bees --workers 9
    """
    require_dsn(store)
    ray_library()
    home = output or Path(f"{topic.stem}-crawl")
    options: Options = {
        "crawl": {"max_pages": max_pages},
        "fetch": {"contact": contact, "proxy": proxy},
    }
    with told(home):
        agree(store, home, Given(topic, output, settings, options, (), quiet))
        with stderr.status("Starting workers.") as status:

            def show(state: ClusterState) -> None:
                if not quiet:
                    status.update(in_words(state))

            with redirect_stdout(sys.stderr):  # Ray's messages
                reason = run_on_ray(store, home, workers, address, show)
    if is_terminal(sys.stdout):
        print(f"Stopped: {ENDINGS[reason]}.")
    else:
        print(json.dumps({"store": without_password(store), "ended": reason}))
    raise typer.Exit(130 if reason == "interrupted" else 0)


def in_words(state: ClusterState) -> str:
    """The state of a cluster in some lines."""
    head = (
        f"{len(state.workers)} of {state.wanted} workers, {state.pages:,} pages, "
        f"{state.kept:,} relevant"
    )
    rows = [
        f"  worker {one.id} on {one.name}: {one.pages:,} pages, {one.kept:,} relevant"
        for one in state.workers
    ]
    return "\n".join([head, *rows])
