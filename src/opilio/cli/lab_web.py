"""`opilio lab web`: writes a synthetic web that the lab can crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opilio.cli.terminal import stdout
from opilio.errors import BadInput
from opilio.lab.synthetic.kinds import WebKind, make_kind
from opilio.lab.webs import write_web


def make_web(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write.")],
    kind: Annotated[
        WebKind,
        typer.Option(
            help="How relevant pages are reached: through text, through lists, or on "
            "few of many hosts."
        ),
    ] = WebKind.DENSE,
    pages: Annotated[
        int | None,
        typer.Option(min=1, help="Number of pages. \\[default: 5000 or 6000, by kind]"),
    ] = None,
    hosts: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of hosts. \\[default: 60, 30 or 150, by kind]"
        ),
    ] = None,
    topics: Annotated[
        int | None,
        typer.Option(min=1, help="Number of topics. \\[default: 12 or 16, by kind]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random choices.")] = 0,
) -> None:
    """Write a synthetic web, with labels and topics, for the lab to crawl.

    Examples:

        opilio lab web my-web --pages 3000 && opilio lab compare --web my-web

        opilio lab web my-lists --kind lists --seed 7
    """
    if folder.exists() and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty; choose another folder")
    made = make_kind(kind, pages=pages, hosts=hosts, topics=topics, seed=seed)
    web = write_web(made, folder, folder.resolve().name)
    stdout.print(f"{folder}: {web.title}; its topics are {', '.join(web.topics)}")
