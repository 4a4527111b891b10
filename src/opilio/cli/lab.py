"""`opilio lab`: measures and compares strategies on a fixed web with labels."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from opilio.cli.lab_conditions import (
    Breadth,
    Delay,
    Haste,
    InFlight,
    Latency,
    Named,
    Preset,
    chosen_conditions,
)
from opilio.cli.lab_options import (
    LONG,
    Budget,
    EmbeddingModel,
    Given,
    GivenOthers,
    Jobs,
    Labels,
    Modes,
    Repeat,
    TimeLimit,
    TopicsDir,
    TrainedWeights,
    Vectors,
    Webs,
)
from opilio.cli.lab_reproduce import reproduce
from opilio.cli.lab_runs import carry_out, cores, facts_of, locked, open_grounds
from opilio.cli.lab_table import print_tables
from opilio.cli.lab_train import train_weights
from opilio.cli.lab_web import make_web
from opilio.cli.terminal import stdout
from opilio.lab.compare import WantedRuns
from opilio.lab.row_export import row, row_with_pages, write_lines, write_pages
from opilio.lab.runs import About
from opilio.lab.seeds_and_targets import SeedsMode
from opilio.strategies import DEFAULT, strategies
from opilio.vectors.files import AUTO

lab_app = typer.Typer(
    name="lab",
    help="Measure strategies on a fixed web with labels that crawls never see.",
    no_args_is_help=True,
)


@lab_app.command()
def run(
    web: Webs,
    topic: Annotated[
        list[str], typer.Option(help="A topic of the web, or a topic file; repeatable.")
    ],
    strategy: Annotated[
        list[str],
        typer.Option(
            help="With options: blocks,mode=paper; or your own class as "
            "FILE.py:CLASS; repeatable."
        ),
    ] = [DEFAULT],  # noqa: B006
    judge: Annotated[
        list[str],
        typer.Option(
            help="`perfect` uses the true labels; or your own class as FILE.py:CLASS; "
            "repeatable."
        ),
    ] = ["cosine"],  # noqa: B006
    seeds_mode: Modes = [SeedsMode.NEAR],  # noqa: B006
    budget: Budget = "3R",
    repeat: Repeat = 1,
    examples: Given = 0,
    counterexamples: GivenOthers = 0,
    labels: Labels = 0,
    time_limit: TimeLimit = LONG,
    vectors: Vectors = AUTO,
    weights: TrainedWeights = "",
    embedding_model: EmbeddingModel = "",
    conditions: Named = Preset.ONE_AT_A_TIME,
    in_flight: InFlight = None,
    delay: Delay = None,
    latency: Latency = None,
    haste: Haste = None,
    breadth: Breadth = None,
    jobs: Jobs = 0,
    as_json: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="OUT", help="Write one JSON object per run; -: stdout."
        ),
    ] = None,
) -> None:
    """Crawl a fixed web; show how much of the topic was found, and how soon.

    Example:

        opilio lab run --web my-web --topic birds --strategy blocks --json out.json
    """
    wanted = WantedRuns(
        topics=topic,
        strategies=named(strategy),
        judges=judge,
        modes=seeds_mode,
        budget=budget,
        repeat=repeat,
        examples=examples,
        counterexamples=counterexamples,
        labels=labels,
        time_limit=time_limit,
        vectors=vectors,
        weights=weights,
        embedding_model=embedding_model,
        conditions=chosen_conditions(
            conditions, in_flight, delay, latency, haste, breadth
        ),
    )
    jobs = jobs or cores()
    grounds = open_grounds(web, topic, jobs)
    with locked(None) as folder:
        done, failed = carry_out(grounds, wanted, folder, jobs)
    rows = map(row_with_pages, done)
    if as_json and str(as_json) == "-":
        for each in rows:
            typer.echo(msgspec.json.encode(each).decode())
    elif as_json:
        write_lines(rows, as_json)
    if str(as_json) != "-" and done:
        print_tables([each.run for each in done])
    raise typer.Exit(1 if failed else 0)


@lab_app.command("compare")
def compare_all(
    web: Webs,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            help="Names or topic files, separated by commas; repeatable. "
            "\\[default: all of each web]"
        ),
    ] = None,
    strategies_: Annotated[
        list[str] | None,
        typer.Option(
            "--strategies",
            help="Separated by commas, each with its options: "
            "blocks,mode=paper,best-first; repeatable. \\[default: all]",
        ),
    ] = None,
    judges: Annotated[
        list[str],
        typer.Option(
            help="Separated by commas; `perfect` uses the labels, FILE.py:CLASS is "
            "your own judge."
        ),
    ] = ["cosine"],  # noqa: B006
    seeds_mode: Modes = [SeedsMode.NEAR],  # noqa: B006
    budget: Budget = "3R",
    repeat: Repeat = 1,
    examples: Given = 0,
    counterexamples: GivenOthers = 0,
    labels: Labels = 0,
    time_limit: TimeLimit = LONG,
    vectors: Vectors = AUTO,
    weights: TrainedWeights = "",
    embedding_model: EmbeddingModel = "",
    conditions: Named = Preset.ONE_AT_A_TIME,
    in_flight: InFlight = None,
    delay: Delay = None,
    latency: Latency = None,
    haste: Haste = None,
    breadth: Breadth = None,
    jobs: Jobs = 0,
    topics_dir: TopicsDir = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="For runs, report and plots; finished runs are not repeated. "
            "\\[default: lab-WEB]",
        ),
    ] = None,
) -> None:
    """Compare strategies over webs and topics; curves, tables and one HTML report.

    If interrupted, the same command continues.

    Examples:

        opilio lab compare --web my-web

        opilio lab compare --web my-web --topics birds,railways --repeat 5

        opilio lab compare --web my-web --strategies blocks --judges cosine,perfect

        opilio lab compare --web my-web --web my-lists --examples 5
    """
    from opilio.lab.report import write_report
    from opilio.lab.report.drawing import altair  # slow to import

    altair()  # raises BadInput before anything is crawled if it is missing
    began = time.monotonic()
    jobs = jobs or cores()
    chosen = named(topics or ())
    grounds = open_grounds(web, chosen, jobs, topics_dir)
    wanted = WantedRuns(
        topics=chosen,
        strategies=named(strategies_ or strategies()),
        judges=named(judges),
        modes=seeds_mode,
        budget=budget,
        repeat=repeat,
        examples=examples,
        counterexamples=counterexamples,
        labels=labels,
        time_limit=time_limit,
        vectors=vectors,
        weights=weights,
        embedding_model=embedding_model,
        conditions=chosen_conditions(
            conditions, in_flight, delay, latency, haste, breadth
        ),
    )
    webs = [facts_of(ground) for ground, _ in grounds]
    name = re.sub(r"[^\w.-]+", "-", "-".join(each.name for each in webs))
    started = datetime.now(UTC).isoformat(timespec="seconds")
    with locked(output or Path(f"lab-{name}")) as folder:
        done, failed = carry_out(grounds, wanted, folder, jobs)
        if not done:
            raise typer.Exit(1)
        about = About(
            command=shlex.join(["opilio", *sys.argv[1:]]),
            web=", ".join(each.name for each in webs),
            title=webs[0].title if len(webs) == 1 else f"{len(webs)} webs",
            pages=sum(each.pages for each in webs),
            links=sum(each.links for each in webs),
            webs=webs,
            versions={name: version(name) for name in VERSIONS} | {"python": PYTHON},
            started=started,
            seconds=time.monotonic() - began,
            cores=cores(),
            conditions=str(wanted.conditions),
        )
        runs = [each.run for each in done]
        (folder / "comparison.json").write_bytes(msgspec.json.encode(about))
        write_lines(map(row, runs), folder / "runs.jsonl")
        write_pages(done, folder / "pages.parquet")
        page = write_report(runs, about, folder)
    print_tables(runs)
    stdout.print(f"\nReport: {page}", markup=False, soft_wrap=True)
    raise typer.Exit(1 if failed else 0)


lab_app.command("web")(make_web)
lab_app.command("train")(train_weights)
lab_app.command()(reproduce)

VERSIONS = ("opilio", "numpy", "turbohtml")
PYTHON = ".".join(map(str, sys.version_info[:3]))


def named(given: Iterable[str]) -> list[str]:
    """The names in lists separated by commas; options stay with their strategy.

    >>> named(["blocks,mode=paper,best-first", "random"])
    ['blocks,mode=paper', 'best-first', 'random']
    """
    found: list[str] = []
    for part in (part.strip() for each in given for part in each.split(",")):
        if "=" in part and found:
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return list(dict.fromkeys(found))
