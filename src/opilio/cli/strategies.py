"""`opilio strategies`: what can be chosen with --strategy, and what can be set, out."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.terminal import stdout
from opilio.strategies import load, strategies


def list_strategies(
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the ways to choose the next link, with their options."""
    found = list(describe())
    if as_json:
        typer.echo(json.dumps(found))
        return
    table = Table("strategy", "what it does", "options", box=None, pad_edge=False)
    for row in found:
        options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
        table.add_row(Text(row["name"], "bold"), row["does"], Text(options, "dim"))
    stdout.print(table)


def describe() -> Iterator[dict[str, Any]]:
    """Each strategy: its name, its sentence, its paper and its options."""
    for name, place in sorted(strategies().items()):
        made = load(place)
        module = sys.modules[getattr(made, "__module__", "")]
        fields = msgspec.structs.fields(made.Options)
        yield {
            "name": name,
            "does": (inspect.getdoc(made) or "").partition("\n")[0],
            "paper": (module.__doc__ or "").partition("\n")[0],
            "options": {field.name: field.default for field in fields},
        }
