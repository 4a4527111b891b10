"""Gives memory that a long crawl no longer uses back to the system.

Bodies of pages come and go in all sizes, so the free parts of the C library's heap grow
for hours, although no more is used.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def trim_memory() -> None:
    """Give back what is free; a few milliseconds of CPU."""
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> Any:
    """The function of glibc; None on other systems."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
