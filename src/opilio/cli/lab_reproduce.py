"""`opilio lab reproduce`: repeats the experiments of the papers and checks claims."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from opilio.cli.terminal import stderr
from opilio.errors import BadInput

LETTERS = ("A", "B", "C", "D", "E")


def reproduce(
    papers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PAPER", help="Which papers, of A, B, C, D and E. \\[default: all]"
        ),
    ] = None,
    web: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A web to crawl as well, for B, C, D and E."),
    ] = None,
    mixed_web: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The same for A: pages with Hindi words."),
    ] = None,
    dictionary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Hindi to English, for --mixed-web."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="For webs, runs and tables; finished runs are not repeated.",
        ),
    ] = Path("lab-reproduce"),
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=0, help="Crawls at a time; 0: one a core."),
    ] = 0,
) -> None:
    """Repeat the experiments of the papers; show which claims hold.

    Example:

        opilio lab reproduce A E -o reproduced
    """
    from opilio.lab.reproduce.experiment import ClaimOutcome
    from opilio.lab.reproduce.runner import OutputPlaces, run_experiments
    from opilio.lab.reproduce.tables import markdown

    letters = [letter.upper() for letter in papers or LETTERS]
    for letter in letters:
        if letter not in LETTERS:
            raise BadInput(
                f"there is no experiment {letter!r}; there are A, B, C, D, E"
            )
    if mixed_web and not dictionary:
        raise BadInput("--mixed-web needs --dictionary, for its Hindi words")
    began = time.monotonic()

    def tell(message: str) -> None:
        stderr.print(f"{time.monotonic() - began:4.0f} s  {message}", style="dim")

    places = OutputPlaces(
        folder=output, web=web, mixed_web=mixed_web, dictionary=dictionary
    )
    outcomes: list[ClaimOutcome] = []
    for outcome in run_experiments(
        letters, places, jobs or len(os.sched_getaffinity(0)), tell
    ):
        outcomes.append(outcome)
        typer.echo(markdown([outcome]))
    (output / "outcomes.json").write_bytes(msgspec.json.encode(outcomes))
    (output / "outcomes.md").write_text(markdown(outcomes), encoding="utf-8")
    tell(f"done; the same is in {output / 'outcomes.md'}")
