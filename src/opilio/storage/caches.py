"""A folder of things that can be made again in; the same without those that nobody has
used for a month, out.

A cache only saves time: whatever goes wrong here is passed over.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

KEPT_UNUSED = 30 * 86_400.0  # seconds


def note_use(file: Path) -> None:
    """Let a file count as used now."""
    with suppress(OSError):
        os.utime(file)


def prune(folder: Path, names: str) -> None:
    """Delete files that were not used for long and whose names match the pattern, which
    must fit nothing but names of this cache: the folder may hold other things."""
    oldest = time.time() - KEPT_UNUSED
    of_cache = re.compile(names).fullmatch
    with suppress(OSError), os.scandir(folder) as found:
        for file in found:
            with suppress(OSError):  # another process may have been faster
                if of_cache(file.name) and file.stat().st_mtime < oldest:
                    Path(file).unlink()
