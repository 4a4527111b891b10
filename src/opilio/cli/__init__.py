"""The commands, one file each."""

from __future__ import annotations

import os
import sqlite3
import sys
from io import TextIOWrapper

import typer

from opilio import __version__
from opilio.cli.deferred import CommandPlace, deferred
from opilio.cli.error_messages import told
from opilio.cli.messages import show_messages
from opilio.errors import OpilioError

LONGEST = 2000  # characters of an error; some list all that one could have meant
COMMANDS = {
    "demo": CommandPlace(
        "opilio.cli.demo",
        "demo",
        "Make a small web, serve it on loopback, crawl it, and show the harvest.",
    ),
    "crawl": CommandPlace("opilio.cli.crawl", "crawl", "Crawl the web for a topic."),
    "status": CommandPlace(
        "opilio.cli.status",
        "status",
        "Show how a crawl stands: pages, harvest rate, links, problems, resting hosts.",
    ),
    "tell": CommandPlace(
        "opilio.cli.tell",
        "tell_crawl",
        "Steer a running crawl: pause, stop, seed, block, boost, label, query.",
    ),
    "search": CommandPlace(
        "opilio.cli.search",
        "search",
        "Search the pages of a crawl, also while it runs.",
        "SearchCommand",
    ),
    "explain": CommandPlace(
        "opilio.cli.explain",
        "explain",
        "Explain a URL: the way to it, its promise, its verdict block by block.",
    ),
    "sites": CommandPlace(
        "opilio.cli.sites",
        "sites",
        "Show the models of websites: what each has of the domain, most useful first.",
    ),
    "export": CommandPlace(
        "opilio.cli.export",
        "export",
        "Write the pages of a crawl to a file, best first.",
    ),
    "doctor": CommandPlace(
        "opilio.cli.doctor",
        "doctor",
        "Check what a crawl needs: libraries, disk, files, clock, readers, network.",
    ),
    "rejudge": CommandPlace(
        "opilio.cli.rejudge",
        "rejudge",
        "Judge the pages of a crawl again, offline, and re-score its waiting links.",
    ),
    "evolve": CommandPlace(
        "opilio.cli.evolve",
        "evolve",
        "Let a crawl evolve: fill in its websites, follow links, refresh its pages.",
    ),
    "strategies": CommandPlace(
        "opilio.cli.strategies",
        "list_strategies",
        "List the ways to choose the next link, with their options.",
    ),
    "topic": CommandPlace(
        "opilio.cli.topic",
        "topic_app",
        "Make a topic file, or show what one says.",
    ),
    "ontology": CommandPlace(
        "opilio.cli.ontology",
        "ontology_app",
        "Ask an ontology about its terms, or improve it from a crawl.",
    ),
    "vectors": CommandPlace(
        "opilio.cli.vectors",
        "vectors_app",
        "Make a table of word vectors, or show what one knows.",
    ),
    "lab": CommandPlace(
        "opilio.cli.lab",
        "lab_app",
        "Measure strategies on a fixed web whose labels no crawl ever sees.",
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
    """Print the version and end."""
    if wanted:
        typer.echo(f"opilio {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=show_version, is_eager=True, help="Say which one."
    ),
) -> None:
    """Name a subject; get the pages of the web that are about it, best first."""


def main() -> None:
    """Run a command; an error of ours becomes its message and its exit code."""
    open_standard_files()
    limit_threads()
    show_messages()
    try:
        with told(None):
            app()
    except OpilioError as error:
        sys.exit(complain(str(error), error.exit_code))
    except (OSError, sqlite3.DatabaseError) as error:
        sys.exit(complain(str(error), 1))


def open_standard_files() -> None:
    """Let nothing that we open take the place of a closed standard file, and print
    what a terminal or pipe of another encoding can take of a text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
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
    """Say what is wrong."""
    from rich.text import Text

    from opilio.cli.terminal import brief, stderr

    stderr.print(Text(f"opilio: {brief(error, LONGEST)}", "bold red"), soft_wrap=True)
    return exit_code
