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
    made rare: imported modules stay for good, and a crawl makes many objects but few
    cycles.
    """
    gc.freeze()
    gc.set_threshold(*RARELY)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    if max(soft, most) < FEWEST:  # too few even for the event loop
        main.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    result: T = uvloop.run(main)
    return result
