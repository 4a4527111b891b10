"""`opilio strategies`: lists the names for --strategy and their options."""

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
from opilio.errors import BadInput
from opilio.settings import Section
from opilio.strategies import load_strategy, strategies


def list_strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the strategies for choosing the next link, with their options."""
    found = list(describe())
    if as_json:
        typer.echo(json.dumps(found))
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in found:
        told = Text(row["does"])
        options = row["options"].items()
        if options:
            told.append("\n" + ", ".join(map(written, options)), "dim")
        table.add_row(Text(row["name"], "bold"), told)
    stdout.print(table)


def written(option: tuple[str, Any]) -> str:
    """An option and its default, as on the command line."""
    name, value = option
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, float):
        value = f"{value:g}"
    return f"{name}: depends on mode" if value is None else f"{name}={value}"


def describe() -> Iterator[dict[str, Any]]:
    """Each strategy: its name, description, paper and options."""
    for name, place in sorted(strategies().items()):
        try:
            made = load_strategy(place)
        except BadInput as error:
            yield {"name": name, "does": str(error), "paper": "", "options": {}}
            continue
        module = sys.modules[getattr(made, "__module__", "")]
        fields = msgspec.structs.fields(getattr(made, "Options", Section))
        yield {
            "name": name,
            "does": (inspect.getdoc(made) or "").partition("\n")[0],
            "paper": (module.__doc__ or "").partition("\n")[0],
            "options": {field.name: field.default for field in fields},
        }
