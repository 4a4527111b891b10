"""An error of the machine in; what is wrong, where, and what to do about it, out."""

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
LITTLE = 2**20  # bytes left, with which nothing can be written any more
READ_ERRORS = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS")
STDOUT = 1
FILES = 1024  # open ones that are enough


@contextmanager
def told(folder: Path | None, output: str = "") -> Iterator[None]:
    """Let what the machine refuses be told with the folder of a crawl, and with what is
    written if that is not in it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (OSError, sqlite3.DatabaseError) as error:
        if found := explained(error, folder, output):
            raise found from error
        raise


@contextmanager
def while_read() -> Iterator[None]:
    """Print; if the reader has seen enough, as `| head` has, that is no failure."""
    try:
        try:
            yield
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except BrokenPipeError:
        if not is_left():
            raise  # of another pipe
        # Or Python would fail to flush what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        raise typer.Exit from None


def is_left() -> bool:
    """Does nobody read our standard output any more?"""
    poll = select.poll()
    poll.register(STDOUT, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def explained(
    error: OSError | sqlite3.DatabaseError, folder: Path | None, output: str = ""
) -> OpilioError | None:
    """What an error means; None if nothing more can be said of it."""
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
    """A disk is full: that of the crawl, or that of what is written."""
    why = error.strerror
    inside = bool(name and folder and Path(name).is_relative_to(folder))
    if folder and (inside or not (name or output or has_room(folder))):
        return full_disk(folder, why)
    where = name or output
    if where in ("", "-"):
        where = "the standard output"
    return MachineLimit(
        f"{where} cannot be written: {why}; free some space, or write to another disk"
    )


def no_files() -> MachineLimit:
    """Too many files are open."""
    import resource

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MachineLimit(
        f"too many files are open: this shell allows {most}; allow more with "
        f"`ulimit -n {FILES}` and run the same command again"
    )


def not_allowed(name: str, why: str) -> BadInput:
    """Somebody else's file, or one that is protected."""
    return BadInput(
        f"{name} cannot be used ({why}); let this user read and write it and its "
        "folder, as with chmod or chown, or choose another folder"
    )


def of_database(
    error: sqlite3.DatabaseError, folder: Path | None
) -> OpilioError | None:
    """What SQLite means.

    It makes files beside its own, so a full disk or a folder that is protected looks
    as if the database was bad; putting a copy in its place would lose pages then.
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
            "to another one, and put back from a copy what cannot be read"
        )
    if kind.startswith("SQLITE_IOERR"):
        return full_disk(folder, error)
    if kind.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM")):
        return cannot_open(error, path)
    if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BadInput(f"{path} is in use by another process; wait for it, or stop it")
    return BadInput(f"{path} cannot be used: {error}; put it back from a copy")


def cannot_open(error: sqlite3.DatabaseError, path: Path) -> OpilioError:
    """Why SQLite cannot open a file: it may not, it is none, or too many are open."""
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
    """Can something be written beside a crawl?"""
    try:
        return shutil.disk_usage(folder).free >= LITTLE
    except OSError:
        return True
