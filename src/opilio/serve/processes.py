"""Starts and resumes crawls as processes that outlive the server.

A process has a session of its own, so neither Ctrl-C nor the end of the server reaches
it, and it writes to a log file. Whether a crawl runs is read from the lock of its
folder, so a new server knows the crawls that an earlier one started.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from opilio.serve.served_crawl import ServedCrawl
from opilio.store.lifecycle import owner_of

COMMAND = (sys.executable, "-m", "opilio.cli")
STARTING = 15.0  # seconds to wait for a process to begin
LOOK = 0.05


def start_opilio(words: Sequence[str], log: Path) -> int:
    """Start `opilio` with these words; returns the id of the process.

    A thread waits for its end, so that it leaves no zombie, and notes a failure in the
    log file.
    """
    with log.open("ab") as file:
        process = subprocess.Popen(  # noqa: S603  our own command; words are checked
            [*COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    threading.Thread(target=watch, args=(process, log), daemon=True).start()
    return process.pid


def watch(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for the end of a process, and note it if it was killed."""
    code = process.wait()
    if code < 0:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"The process was ended by signal {-code}.\n")


def resume_crawl(crawl: ServedCrawl, *, max_pages: int | None = None) -> int:
    """Resume a crawl; returns the id of its process."""
    words = ["crawl", str(crawl.folder.path)]
    if max_pages is not None:
        words += ["--max-pages", str(max_pages)]
    return begun(crawl, start_opilio(words, crawl.log))


def expand_crawl(crawl: ServedCrawl, query: str, pages: int) -> int:
    """Fetch pages for a query into a crawl that is not running."""
    words = ["search", str(crawl.folder.path), "--expand", str(pages), "--json"]
    return begun(crawl, start_opilio([*words, "--", query], crawl.log))


def begun(crawl: ServedCrawl, process: int) -> int:
    """Wait until a process has the crawl open, or has ended; returns its id."""
    end = time.monotonic() + STARTING
    while Path(f"/proc/{process}").exists() and time.monotonic() < end:
        if owner_of(crawl.folder) == process:
            break
        time.sleep(LOOK)
    return process
