"""`opilio strategies`: lists the names for --strategy and their options."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.terminal import stdout
from opilio.errors import BadInput
from opilio.settings import Section
from opilio.strategies import DEFAULT, load_strategy, strategies
from opilio.strategies.shared.inputs import GROUPS, input_of


def list_strategies(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the strategies for choosing the next link, with their options."""
    found = list(describe())
    if as_json:
        typer.echo(json.dumps(found))
        return
    for group in GROUPS:
        rows = [row for row in found if row["group"] == group]
        if rows:
            show_group(group, rows)
    stdout.print(Text("\nChoose one with: opilio crawl --strategy NAME", "dim"))


def show_group(group: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print the strategies of a group, the default first."""
    stdout.print()
    stdout.print(Text(group.capitalize(), "bold underline"))
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in sorted(rows, key=lambda row: (row["name"] != DEFAULT, row["name"])):
        told = Text(row["does"])
        if row["name"] == DEFAULT:
            told.append("  (the default)", "green")
        told.append(f"\nneeds {row['needs']}", "cyan")
        if options := row["options"].items():
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
    """Each strategy: its name, sentence, paper, options, group and what it needs."""
    for name, place in sorted(strategies().items()):
        try:
            made = load_strategy(place)
        except BadInput as error:
            row = {"name": name, "does": str(error), "paper": "", "options": {}}
            yield row | input_of(name)._asdict()
            continue
        module = sys.modules[getattr(made, "__module__", "")]
        fields = msgspec.structs.fields(getattr(made, "Options", Section))
        yield {
            "name": name,
            "does": (inspect.getdoc(made) or "").partition("\n")[0],
            "paper": (module.__doc__ or "").partition("\n")[0],
            "options": {field.name: field.default for field in fields},
            **input_of(name)._asdict(),
        }
