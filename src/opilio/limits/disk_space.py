"""Stops a crawl before the disk is full."""

from __future__ import annotations

import shutil
from pathlib import Path

from opilio.errors import MachineLimit


def require_disk_space(folder: Path, min_free: int) -> None:
    """Raise MachineLimit if the disk has less than `min_free` bytes left."""
    free = shutil.disk_usage(folder).free
    if free < min_free:
        raise MachineLimit(
            f"the disk of {folder} has {free / 2**20:.0f} MB left; the crawl "
            f"stops at {min_free / 2**20:.0f} MB (store.min_free). Everything so "
            "far is kept: free some space and run the same command to resume"
        )
