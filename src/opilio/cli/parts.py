"""`opilio parts`: lists the WARC files of a crawl on many machines."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
import typer
from rich.table import Table

from opilio.cli.terminal import foreign, stdout
from opilio.cluster.connection import open_postgres, require_dsn, without_password
from opilio.cluster.lost_parts import give_back
from opilio.cluster.schema import require_crawl
from opilio.errors import BadInput

_PARTS = """
    SELECT name, place, length,
        (SELECT count(*) FROM page WHERE warc = part.name),
        CASE WHEN is_lost THEN 'lost' WHEN is_sealed THEN 'sealed' ELSE 'open' END
    FROM part ORDER BY name
"""


class ListedPart(NamedTuple):
    """A WARC file."""

    name: str
    place: str
    bytes: int
    pages: int
    state: str  # open, sealed, lost


def list_parts(
    dsn: Annotated[
        str,
        typer.Argument(metavar="DSN", help="The database of a crawl: postgresql://…"),
    ],
    lost: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="This file is gone for good: let its pages be fetched again; "
            "repeatable.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the WARC files of a crawl on many machines, or give up lost ones.

    Example:

        opilio parts postgresql://crawler@db.example.org/bees
    """
    with open_postgres(require_dsn(dsn)) as db:
        require_crawl(db, without_password(dsn))
        found = [ListedPart._make(row) for row in db.execute(_PARTS)]
        if lost:
            if unknown := set(lost) - {part.name for part in found}:
                raise BadInput(
                    f"the crawl has no WARC file {sorted(unknown)[0]}; opilio parts "
                    "DSN lists all"
                )
            pages = give_back(db, lost, sealed=True)
            typer.echo(f"{pages:,} pages will be fetched again.")
            return
    if as_json:
        rows = [part._asdict() for part in found]
        typer.echo(msgspec.json.encode(rows).decode())
        return
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("name", "state", "pages", "bytes", "place"):
        is_number = name in ("pages", "bytes")
        table.add_column(name, justify="right" if is_number else "left")
    for part in found:
        size = f"{part.bytes:,}"
        table.add_row(
            part.name, part.state, f"{part.pages:,}", size, foreign(part.place)
        )
    stdout.print(table)
