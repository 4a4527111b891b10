"""Starts reader processes.

A process with a single thread is forked: the reader then has what is imported already,
which saves a quarter of a second of CPU at the start of a crawl. Forking is not safe
while other threads run, and would copy much memory late in a crawl; then the reader is
a new Python.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Protocol

from opilio.read import worker

COMMAND = (sys.executable, "-P", "-m", "opilio.read.worker")
SMALL = 2**28  # bytes of memory; what changes of it after a fork is there twice
BUFFER = 2**20
PAUSE = 0.005  # seconds between two looks whether a process has ended


class Process(Protocol):
    """What a pool does with a process, as subprocess.Popen has it."""

    pid: int
    returncode: int | None

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


def start_process() -> tuple[Process, socket.socket]:
    """A reader process, and our end of the socket on its stdin."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    ours.setblocking(False)
    with theirs:
        process = fork(theirs) if may_fork() else start_python(theirs)
    return process, ours


def used_up_cpu(process: Process) -> bool:
    """Whether a process that has ended was killed for taking too much CPU."""
    return process.returncode == -signal.SIGPROF


def start_python(theirs: socket.socket) -> Process:
    """A new Python that reads."""
    return subprocess.Popen(  # noqa: S603
        COMMAND,
        stdin=theirs.fileno(),
        stdout=subprocess.DEVNULL,
        # numpy's threads would cost a reader more than they give it.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        process_group=0,  # so that Ctrl-C does not reach it
    )


def may_fork() -> bool:
    """Whether this process has a single thread, also of libraries, and is small."""
    try:
        threads = len(list(Path("/proc/self/task").iterdir()))
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # not on Linux
        return False
    return threads == 1 and pages * resource.getpagesize() < SMALL


def fork(theirs: socket.socket) -> Process:
    """A copy of this process that reads, and never returns from here."""
    if pid := os.fork():
        return Fork(pid)
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(theirs.fileno(), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        worker.main()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


class Fork:
    """A forked process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once the process has ended; TimeoutExpired if it does not."""
        until = time.monotonic() + (timeout or 0)
        while self.returncode is None:
            pid, status = os.waitpid(self.pid, 0 if timeout is None else os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                raise subprocess.TimeoutExpired(COMMAND, timeout or 0)
            else:
                time.sleep(PAUSE)
        return self.returncode

    def kill(self) -> None:
        """End the process at once."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)
