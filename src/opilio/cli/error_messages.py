"""Turns errors of disk, files, memory and SQLite into messages that say what to do."""

from __future__ import annotations

import errno
import os
import select
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from opilio.errors import NO_ROOM, BadInput, MachineLimit, OpilioError, full_disk

NO_FILES = (errno.EMFILE, errno.ENFILE)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)
LITTLE = 2**20  # free bytes below which a disk counts as full
READ_ERRORS = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS")
STDOUT = 1
FILES = 1024  # open files that are enough
# Errors with messages of their own, and ways to end a command.
MEANT = (OpilioError, typer.Exit, typer.Abort, typer.BadParameter)


@contextmanager
def told(folder: Path | None, output: str = "") -> Iterator[None]:
    """Explain errors of the machine with the folder of the crawl, and with the output
    if that is elsewhere."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, sqlite3.DatabaseError) as error:
        if found := explained(error, folder, output):
            raise found from error
        raise
    except Exception as error:
        if found := of_damage(error, folder):
            raise found from error
        raise


def of_damage(error: Exception, folder: Path | None) -> OpilioError | None:
    """Explain an error that no check foresaw, if the crawl's database is damaged."""
    if folder is None or isinstance(error, MEANT):
        return None
    from opilio.store.damage_check import damage_behind  # only for this

    return damage_behind(folder)


@contextmanager
def while_read() -> Iterator[None]:
    """Exit quietly if the reader of our output closes the pipe, as `| head` does."""
    try:
        try:
            yield
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except BrokenPipeError:
        if not is_left():
            raise  # of another pipe
        # Otherwise Python would fail to flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        raise typer.Exit from None


def is_left() -> bool:
    """Whether the reader of our standard output has closed the pipe."""
    poll = select.poll()
    poll.register(STDOUT, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def explained(
    error: OSError | sqlite3.DatabaseError, folder: Path | None, output: str = ""
) -> OpilioError | None:
    """The error with an explanation; None if there is none."""
    if isinstance(error, sqlite3.DatabaseError):
        return of_database(error, folder)
    name = error.filename if isinstance(error.filename, str) else ""
    if error.errno in NO_ROOM:
        return no_room(error, name, folder, output)
    if error.errno in NO_FILES:
        return no_files()
    name = name or output
    if not name:
        return None
    if error.errno in NOT_ALLOWED:
        return not_allowed(name, str(error.strerror))
    if error.errno == errno.EISDIR:
        return BadInput(f"{name} is a folder, but must be a file; move it away")
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return BadInput(f"{name} is in the way ({error.strerror}); move it away")
    return None


def no_room(
    error: OSError, name: str, folder: Path | None, output: str
) -> MachineLimit:
    """The error for a full disk: that of the crawl, or that of the output."""
    why = error.strerror
    inside = bool(name and folder and Path(name).is_relative_to(folder))
    if folder and (inside or not (name or output or has_room(folder))):
        return full_disk(folder, why)
    where = name or output
    if where in ("", "-"):
        where = "standard output"
    return MachineLimit(
        f"{where} cannot be written: {why}; free some space, or write to another disk"
    )


def no_files() -> MachineLimit:
    """The error for too many open files."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MachineLimit(
        f"too many open files: this shell allows {most}; allow more with "
        f"`ulimit -n {FILES}` and run the same command again"
    )


def not_allowed(name: str, why: str) -> BadInput:
    """The error for missing permissions."""
    return BadInput(
        f"{name} cannot be used ({why}); let this user read and write it and its "
        "folder, for instance with chmod or chown, or choose another folder"
    )


def of_database(
    error: sqlite3.DatabaseError, folder: Path | None
) -> OpilioError | None:
    """Explain an error of SQLite.

    SQLite creates files next to the database, so a full disk or a read-only folder
    looks like a damaged database; restoring it from a copy would then lose pages.
    """
    if folder is None:
        return None
    path = folder / "crawl.db"
    kind = getattr(error, "sqlite_errorname", "")
    if kind == "SQLITE_FULL":
        return full_disk(folder, error)
    if kind in READ_ERRORS and has_room(folder):
        return BadInput(
            f"{path} cannot be read: {error}; the disk may be failing: copy the folder "
            "to another disk, and restore from a backup what cannot be read"
        )
    if kind.startswith("SQLITE_IOERR"):
        return full_disk(folder, error)
    if kind.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
        return cannot_open(error, path)
    if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BadInput(f"{path} is in use by another process; wait for it, or stop it")
    return BadInput(
        f"{path} cannot be used: {error}; restore it from a backup, or save what can "
        f"be saved with `opilio repair {folder}`"
    )


def cannot_open(error: sqlite3.DatabaseError, path: Path) -> OpilioError:
    """Why SQLite cannot open a file: permissions, a folder, or too many open files."""
    if path.is_dir():
        return BadInput(f"{path} is a folder, but must be a file; move it away")
    may = os.R_OK | os.W_OK
    if os.access(path, may) and os.access(path.parent, may):
        try:
            with path.open("rb"):
                pass
        except OSError as refused:
            if refused.errno in NO_FILES:
                return no_files()
    return not_allowed(str(path), str(error))


def has_room(folder: Path) -> bool:
    """Whether something can be written next to a crawl."""
    try:
        return shutil.disk_usage(folder).free >= LITTLE
    except OSError:
        return True
