"""Measures what resuming costs each strategy with notes on 1,000,000 URLs.

On the generated web of bench.ranking it prints, for each strategy, how many notes it
has, their bytes, and the CPU seconds and memory for loading them in a new process. Run
it with `python -m bench.resume [NAME[,OPTION=VALUE...] ...]`.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import sqlite3
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

from bench.ranking import MANY, MadeUp, Run, make
from bench.table import show
from opilio.assembly.event_loop import RARELY
from opilio.protocols import Learner, Remembering
from opilio.strategies import load_strategy, strategies


def crawl(name: str, path: Path) -> bytes | None:
    """Show a strategy a number of links, with its notes in a database; returns its
    dump."""
    run = Run(name)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE TABLE note (key INTEGER PRIMARY KEY, value BLOB NOT NULL)")
    db.execute("BEGIN")
    learnt = None
    while run.web.found < MANY:
        page, verdict, lease = next(run.visits)
        for _ in chain(run.strategy.rank(page, verdict, lease), run.revise()):
            pass
        for key, note in run.changes():
            if note is None:
                db.execute("DELETE FROM note WHERE key = ?", (key,))
            else:
                db.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (key, note))
        if isinstance(run.strategy, Learner):
            learnt = run.strategy.dump() or learnt
    db.execute("COMMIT")
    db.close()
    return learnt


def reopen(name: str, path: Path, learnt: bytes | None) -> tuple[float, float]:
    """Load everything again; returns CPU seconds and MB."""
    gc.freeze()  # as a crawl does
    gc.set_threshold(*RARELY)
    strategy = make(name, MadeUp())
    db = sqlite3.connect(path)
    before, begun = memory(), time.process_time()
    if learnt and isinstance(strategy, Learner):
        strategy.load(learnt)
    assert isinstance(strategy, Remembering)
    strategy.recall(db.execute("SELECT key, value FROM note"))
    return time.process_time() - begun, memory() - before


def memory() -> float:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(name: str) -> tuple[str, ...]:
    """The figures of a strategy."""
    fresh = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, fresh.Pool(1, None, (), 1) as pool:
        path = Path(folder) / "notes.db"
        learnt = pool.apply(crawl, (name, path))
        seconds, taken = pool.apply(reopen, (name, path, learnt))
        db = sqlite3.connect(path)
        notes, size = db.execute(
            "SELECT count(*), sum(length(value)) FROM note"
        ).fetchone()
        db.close()
    return (
        name,
        f"{notes:,}",
        f"{(size or 0) / 2**20:.0f}",
        f"{seconds:.1f}",
        f"{taken:.0f}",
    )


def main(*names: str) -> None:
    """Measure these strategies, or all that have notes."""
    every = strategies()
    kept = [
        name for name in sorted(every) if hasattr(load_strategy(every[name]), "recall")
    ]
    show(
        f"Opening a crawl that knows {MANY:,} URLs",
        ("", "notes", "MB", "CPU seconds", "MB of memory"),
        [row(name) for name in names or kept],
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
