"""Files in; a process that cannot open them any more, out: crawls never see labels."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


def forbid(paths: Iterable[Path]) -> None:
    """Refuse these files, by whatever name, to this process for as long as it lives.

    An audit hook sees every way in which Python opens a file, and cannot be removed.
    """
    forbidden = {identity(path) for path in paths}

    def refuse(event: str, details: tuple[Any, ...]) -> None:
        if event not in ("open", "sqlite3.connect"):
            return
        with suppress(OSError, TypeError, ValueError):  # no file, so no label
            if identity(details[0]) in forbidden:
                # Not an OSError: nothing that tolerates missing files may pass over it.
                raise Forbidden(f"the lab lets no crawl see {details[0]}")

    sys.addaudithook(refuse)


class Forbidden(RuntimeError):
    """A crawl tried to open what only the lab may see."""


def identity(path: Path | str | bytes | int) -> tuple[int, int]:
    """What makes a file itself, also under another name."""
    facts = os.stat(path)  # noqa: PTH116 - may be a number or bytes
    return facts.st_dev, facts.st_ino
