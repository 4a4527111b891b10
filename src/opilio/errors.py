"""All exceptions that Opilio raises, as one tree.

    OpilioError
    ├── BadInput          what the user gave cannot be used          exit code 2
    ├── MachineLimit      the disk is full or memory runs out        exit code 3
    └── FetchError        a URL gave no page; has a reason
        ├── Transient     it may later: wait `after` seconds, then retry
        └── Unusable      it never will

Messages name the thing, the limit and the remedy. A reason is one short word that
is recorded with the link ("robots", "http_404", "dns", "tls", "too_large", ...).
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class OpilioError(Exception):
    """Anything Opilio raises on purpose."""

    exit_code = 1


class BadInput(OpilioError):
    """A file, key, URL or option cannot be used as it is."""

    exit_code = 2


class MachineLimit(OpilioError):
    """Disk or memory is used up; the crawl is kept and can be resumed."""

    exit_code = 3


def full_disk(folder: Path, why: object) -> MachineLimit:
    """The error for a disk on which nothing more can be written."""
    return MachineLimit(
        f"the disk of {folder} is full ({why}). Everything up to the last commit is "
        "kept: free some space and run the same command again"
    )


class FetchError(OpilioError):
    """A URL gave no page."""

    def __init__(self, reason: str, message: str, *, contacted: bool = True) -> None:
        super().__init__(message)
        self.reason = reason
        self.contacted = contacted  # was a request made to the host?


class Transient(FetchError):
    """A URL gave no page, but may later."""

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        after: float,
        counted: bool = True,
        host_rests: bool = False,
        contacted: bool = True,
    ) -> None:
        super().__init__(reason, message, contacted=contacted)
        self.after = after  # seconds to wait
        self.counted = counted  # False: does not count as an attempt of the link
        self.host_rests = host_rests  # all links of the host wait, not only this one


class Unusable(FetchError):
    """A URL gave no page and never will."""


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """A "did you mean …?" with names of similar spelling; "" if there is none."""
    from difflib import get_close_matches  # rarely asked for

    near = ", ".join(map(repr, get_close_matches(name, list(known), most)))
    return f"did you mean {near}? " if near else ""
