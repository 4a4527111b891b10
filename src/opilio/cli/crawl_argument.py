"""The argument that names a crawl: its folder, or the database of many machines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder, is_database

CrawlName = Annotated[
    str,
    typer.Argument(
        metavar="DIR",
        help="The folder of a crawl, or the database of one on many machines: "
        "postgresql://…",
    ),
]


def crawl_at(name: str) -> CrawlFolder:
    """The folder of a crawl; of one on many machines a copy, as it is now."""
    if not is_database(name):
        return CrawlFolder(Path(name))
    from opilio.cluster.mirror import mirror_of  # needs psycopg

    return mirror_of(name)


@contextmanager
def kept_current(name: str) -> Iterator[Path]:
    """The path of a crawl; the copy of one on many machines is brought up to date all
    the time, and messages that are left in it are sent."""
    if not is_database(name):
        yield Path(name)
        return
    from opilio.cluster.mirror import keep_current

    with keep_current(name) as folder:
        yield folder.path


def require_folder(name: str, what: str) -> None:
    """Raise BadInput if a database is given for what only a folder can do."""
    if is_database(name):
        raise BadInput(
            f"{what} needs a folder, and this crawl is on many machines; copy it into "
            "a folder with: opilio pull DSN DIR"
        )


def shown(name: str) -> str:
    """The name of a crawl as it may be shown and stored: without a password."""
    if not is_database(name):
        return name
    from opilio.cluster.connection import without_password

    return without_password(name)
