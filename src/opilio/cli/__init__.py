"""The `opilio` command line: one module per command."""

from __future__ import annotations

import atexit
import gc
import os
import sqlite3
import sys
from io import TextIOWrapper

import typer

from opilio import __version__
from opilio.cli.deferred import CommandPlace, deferred
from opilio.cli.error_messages import told
from opilio.cli.log_output import show_messages
from opilio.errors import OpilioError

LONGEST = 2000  # characters of an error message; some list all known names
CRAWL = "Crawl"
USE = "Look at a crawl and use its pages"
CHECK = "Check and repair"
COMPARE = "Compare and improve"
MANY = "One crawl on many machines"
COMMANDS = {
    "demo": CommandPlace(
        "opilio.cli.demo",
        "demo",
        "Make a small web, serve it on loopback, crawl it, and show the result.",
        CRAWL,
    ),
    "topic": CommandPlace(
        "opilio.cli.topic",
        "topic_app",
        "Make a topic file, or show its contents.",
        CRAWL,
    ),
    "crawl": CommandPlace(
        "opilio.cli.crawl",
        "crawl",
        "Crawl the web for a topic.",
        CRAWL,
    ),
    "status": CommandPlace(
        "opilio.cli.status",
        "status",
        "Show the state of a crawl: pages, harvest rate, links, problems, hosts.",
        CRAWL,
    ),
    "tell": CommandPlace(
        "opilio.cli.tell",
        "tell_crawl",
        "Steer a running crawl: pause, stop, seed, block, boost, label, query.",
        CRAWL,
    ),
    "rejudge": CommandPlace(
        "opilio.cli.rejudge",
        "rejudge",
        "Judge the pages of a crawl again, offline, and re-score its waiting links.",
        CRAWL,
    ),
    "evolve": CommandPlace(
        "opilio.cli.evolve",
        "evolve",
        "Keep a crawl current: complete its websites, follow links, refresh pages.",
        CRAWL,
    ),
    "search": CommandPlace(
        "opilio.cli.search",
        "search",
        "Search the pages of a crawl, also while it runs.",
        USE,
        "SearchCommand",
    ),
    "explain": CommandPlace(
        "opilio.cli.explain",
        "explain",
        "Explain how a URL was found, ranked and judged, block by block.",
        USE,
    ),
    "sites": CommandPlace(
        "opilio.cli.sites",
        "sites",
        "Show the models of websites: the concepts each covers, best first.",
        USE,
    ),
    "export": CommandPlace(
        "opilio.cli.export",
        "export",
        "Write the pages of a crawl to a file, best first.",
        USE,
    ),
    "serve": CommandPlace(
        "opilio.serve.command",
        "serve",
        "Show crawls in the browser; also an HTTP API and metrics.",
        USE,
    ),
    "mcp": CommandPlace(
        "opilio.serve.mcp_command",
        "mcp",
        "Let agents search and read a crawl, by the Model Context Protocol.",
        USE,
    ),
    "doctor": CommandPlace(
        "opilio.cli.doctor",
        "doctor",
        "Check what a crawl needs: libraries, disk, files, clock, readers, network.",
        CHECK,
    ),
    "repair": CommandPlace(
        "opilio.cli.repair",
        "repair",
        "Repair a damaged crawl: save what can be read, let the rest be fetched again.",
        CHECK,
    ),
    "strategies": CommandPlace(
        "opilio.cli.strategies",
        "list_strategies",
        "List the strategies for choosing the next link, with their options.",
        COMPARE,
    ),
    "lab": CommandPlace(
        "opilio.cli.lab",
        "lab_app",
        "Measure strategies on a fixed web with labels that crawls never see.",
        COMPARE,
    ),
    "ontology": CommandPlace(
        "opilio.cli.ontology",
        "ontology_app",
        "Ask an ontology about its terms, or improve it from a crawl.",
        COMPARE,
    ),
    "vectors": CommandPlace(
        "opilio.cli.vectors",
        "vectors_app",
        "Make a table of word vectors, or try one out.",
        COMPARE,
    ),
    "cluster": CommandPlace(
        "opilio.cli.cluster",
        "cluster",
        "Run the workers of one crawl on a Ray cluster, and restart those that die.",
        MANY,
    ),
    "pull": CommandPlace(
        "opilio.cli.pull",
        "pull",
        "Copy a crawl on many machines into a folder, also while it runs.",
        MANY,
    ),
    "push": CommandPlace(
        "opilio.cli.push",
        "push",
        "Copy a crawl into PostgreSQL, where many machines continue it.",
        MANY,
    ),
    "parts": CommandPlace(
        "opilio.cli.parts",
        "list_parts",
        "List the WARC files of a crawl on many machines, or give up lost ones.",
        MANY,
    ),
}

app = typer.Typer(
    name="opilio",
    cls=deferred(COMMANDS),
    help="Name a subject; get the pages of the web that are about it, best first.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def show_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        typer.echo(f"opilio {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False,
        "--version",
        callback=show_version,
        is_eager=True,
        help="Show the version and exit.",
    ),
) -> None:
    """Name a subject; get the pages of the web that are about it, best first."""


def main() -> None:
    """Run a command; an OpilioError ends it with a message and an exit code."""
    open_standard_files()
    limit_threads()
    show_messages()
    atexit.register(gc.freeze)  # the end frees everything; looking for garbage is vain
    if not sys.argv[1:] or {"--help", "-h"}.intersection(sys.argv):
        from opilio.cli.light_help import import_for_help

        import_for_help()
    try:
        with told(None):
            app()
    except OpilioError as error:
        sys.exit(complain(str(error), error.exit_code))
    except (OSError, sqlite3.DatabaseError) as error:
        sys.exit(complain(str(error), 1))


def open_standard_files() -> None:
    """Open /dev/null for standard files that are closed, so that no other file takes
    their number, and replace characters that the output's encoding lacks."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def limit_threads() -> None:
    """Keep numpy's algebra on one thread, unless the user chose a number.

    It is done before numpy is imported, which starts the threads. They wait for each
    other in busy loops: with small matrices that takes more CPU than the rest of a
    crawl's main process.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def complain(error: str, exit_code: int) -> int:
    """Print an error message."""
    from rich.text import Text

    from opilio.cli.plain_text import brief
    from opilio.cli.terminal import stderr

    stderr.print(Text(f"opilio: {brief(error, LONGEST)}", "bold red"), soft_wrap=True)
    return exit_code
