"""A coroutine in; what it answers out, on the fastest event loop there is."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import resource
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
FILES = 65_536  # that we would like to have open at once
FEWEST = 32
RARELY = (50_000, 20, 50)  # objects until the young are looked at; rounds until others


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where it is installed, on asyncio otherwise.

    As many files as the system allows may be open then. What was imported stays for
    good, and a crawl makes few cycles but many objects: the garbage collector need not
    look at all of them again and again.
    """
    gc.freeze()
    gc.set_threshold(*RARELY)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    if max(soft, most) < FEWEST:  # with which not even a loop ends in order
        main.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    result: T = uvloop.run(main)
    return result
