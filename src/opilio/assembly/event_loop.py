"""Runs a command's coroutine on the fastest event loop that is installed."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
FILES = 65_536  # open files to ask the system for
FEWEST = 32
RARELY = (50_000, 20, 50)  # gc thresholds, generations 0 to 2


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where it is installed, on asyncio otherwise.

    The limit of open files is raised as far as the system allows. Garbage collection is
    made rare while it runs: imported modules stay for good, and a crawl makes many
    objects but few cycles.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*RARELY)
    try:
        raise_file_limit(main)
        return run_fastest(main)
    finally:  # what was garbage when it was frozen can be collected again
        gc.set_threshold(*before)
        gc.unfreeze()


def raise_file_limit(main: Coroutine[Any, Any, T]) -> None:
    """Ask for more open files; OSError if there are too few even for the loop."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    if max(soft, most) < FEWEST:
        main.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def run_fastest(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop, or else on asyncio."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    result: T = uvloop.run(main)
    return result
