"""Everything that can go wrong, as one tree.

    OpilioError
    ├── BadInput          what the user gave cannot be used          exit code 2
    ├── MachineLimit      disk or memory is used up                  exit code 3
    └── FetchError        a URL gave no page; has a reason
        ├── Transient     it may next time: wait `after` seconds, then retry
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
    """The machine has no more room; the crawl is kept and can go on later."""

    exit_code = 3


def full_disk(folder: Path, why: object) -> MachineLimit:
    """Nothing more can be written where a crawl lives."""
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
    """It may work later."""

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
        self.counted = counted  # False: the link is not to blame
        self.host_rests = host_rests  # all links of the host wait, not only this one


class Unusable(FetchError):
    """It will not work later either."""


def did_you_mean(name: str, known: Iterable[str], most: int = 1) -> str:
    """A question about what is spelt nearly so, for a message; "" if nothing is."""
    from difflib import get_close_matches  # rarely asked for

    near = ", ".join(map(repr, get_close_matches(name, list(known), most)))
    return f"did you mean {near}? " if near else ""
