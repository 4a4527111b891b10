"""The commands, one file each."""

from __future__ import annotations

import sqlite3
import sys

import typer
from rich.text import Text

from opilio import __version__
from opilio.cli.crawl import crawl
from opilio.cli.demo import demo
from opilio.cli.doctor import doctor
from opilio.cli.evolve import evolve
from opilio.cli.explain import explain
from opilio.cli.export import export
from opilio.cli.lab import lab_app
from opilio.cli.search import SearchCommand, search
from opilio.cli.sites import sites
from opilio.cli.status import status
from opilio.cli.strategies import list_strategies
from opilio.cli.terminal import stderr
from opilio.cli.topic import topic_app
from opilio.errors import OpilioError

app = typer.Typer(
    name="opilio",
    help="Name a subject; get the pages of the web that are about it, best first.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for command in (demo, crawl, status, search, explain, sites, export, doctor, evolve):
    app.command(cls=SearchCommand if command is search else None)(command)
app.command("strategies")(list_strategies)
app.add_typer(topic_app)
app.add_typer(lab_app)


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
    try:
        app()
    except OpilioError as error:
        stderr.print(Text(f"opilio: {error}", "bold red"), soft_wrap=True)
        sys.exit(error.exit_code)
    except sqlite3.DatabaseError as error:
        told = f"opilio: crawl.db cannot be used: {error}; put it back from a copy"
        stderr.print(Text(told, "bold red"), soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone, e.g. `| head`
        sys.exit(1)
    except OSError as error:
        stderr.print(Text(f"opilio: {error}", "bold red"), soft_wrap=True)
        sys.exit(1)
