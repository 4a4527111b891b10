"""Deletes files of a cache folder that were not used for a month.

A cache only saves time, so all errors here are ignored.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

KEPT_UNUSED = 30 * 86_400.0  # seconds


def note_use(file: Path) -> None:
    """Mark a file as used now."""
    with suppress(OSError):
        os.utime(file)


def prune(folder: Path, names: str) -> None:
    """Delete files that were not used for long and whose names match the pattern. It
    must match only names of this cache, because the folder may hold other files."""
    oldest = time.time() - KEPT_UNUSED
    of_cache = re.compile(names).fullmatch
    with suppress(OSError), os.scandir(folder) as found:
        for file in found:
            with suppress(OSError):  # another process may have been faster
                if of_cache(file.name) and file.stat().st_mtime < oldest:
                    Path(file).unlink()
