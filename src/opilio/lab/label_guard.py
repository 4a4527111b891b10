"""Runs crawls in processes that cannot open the label files.

It keeps a strategy from seeing a label by mistake or by any ordinary way of opening a
file. It is not a sandbox: code that uses ctypes or the memory of other processes can
still get at the labels.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn")
IMPORTED = ["opilio.lab.trial", "opilio.judge.opilio", "opilio.strategies.opilio"]
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class Forbidden(RuntimeError):
    """A crawl tried to open a file that only the lab may see."""


def processes(count: int, secrets: Iterable[Path]) -> ProcessPoolExecutor:
    """A pool of processes that cannot open these files.

    They are not forks of this process, which would have the labels in their memory, but
    of one that was started without them and has only imported what crawls need.
    """
    return ProcessPoolExecutor(
        count, clean_forks(), initializer=begin, initargs=(list(secrets),)
    )


def clean_forks() -> ForkServerContext:
    """Starts processes without the memory of this one, after a single import."""
    context = get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    return context


def begin(secrets: Iterable[Path]) -> None:
    """Prepare this process for crawls."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process above
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
    os.dup2(2, 1)  # output of a strategy must not mix with ours
    forbid(secrets)


def forbid(paths: Iterable[Path]) -> None:
    """Deny this process access to these files, under any name, permanently.

    An audit hook sees every way in which Python opens a file, and cannot be removed.
    """
    forbidden = {identity(path): path.name for path in paths}

    def refuse(event: str, details: tuple[Any, ...]) -> None:
        if event.startswith(STARTS):
            raise Forbidden("the lab lets no crawl start other programs")
        if event in ("open", "sqlite3.connect") and is_forbidden(details[0]):
            # Not an OSError: nothing that tolerates missing files may pass over it.
            raise Forbidden(f"the lab lets no crawl see {details[0]}")

    def is_forbidden(path: Any) -> bool:
        try:
            name = os.fsdecode(path)
        except TypeError:  # the number of an open file
            return False
        if not name.startswith("/") and Path(name).name in forbidden.values():
            return True  # it may be beside any open folder
        try:
            return identity(name) in forbidden
        except (OSError, ValueError):
            return False  # no file, so no label

    sys.addaudithook(refuse)


def identity(path: Path | str) -> tuple[int, int]:
    """The identity of a file, the same under every name."""
    facts = Path(path).stat()
    return facts.st_dev, facts.st_ino
