"""Measures the cases of docs/security.md that no attack by name stands for.

    python -m bench.hostile_rows [CASE …]

Such a row is measured by its tests: peak memory of all their processes, shared pages
counted once, and CPU, of a pytest that runs this file alone. Both are written into the
table. They are upper bounds: a file tests more than the case, and pytest takes 85 MB
and a second by itself. Rows that name attacks get the highest figures of these, from
the second table, which `python -m bench.hostile` measures.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

HOME = Path(__file__).parent.parent
SECURITY = HOME / "docs" / "security.md"
ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \| `(.*?)` \|$", re.M)
ATTACK = re.compile(r"^\| `([\w-]+)` \|.*\| (\d+) \| ([\d.]+) \|$", re.M)


def tree(pid: int) -> list[int]:
    """A process and all its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(below for child in children for below in tree(int(child)))]


def memory(pids: list[int]) -> float:
    """MB of processes, shared pages counted once."""
    total = 0
    for pid in pids:
        try:
            told = Path(f"/proc/{pid}/smaps_rollup").read_text()
            total += int(told.split("Pss:")[1].split()[0])
        except (OSError, IndexError):
            continue
    return total / 1024


def measure(test: str) -> tuple[float, float] | None:
    """Peak MB and CPU seconds of a test file; None if it fails."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", test]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        command,
        cwd=HOME,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, memory(tree(process.pid)))
        time.sleep(0.1)
    if process.returncode:
        print(f"{test} failed")
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return peak, spent


def main() -> None:
    """Measure the rows that are named, or all that have no attack."""
    wanted = set(sys.argv[1:])
    known = {
        name: (int(mb), float(cpu))
        for name, mb, cpu in ATTACK.findall(SECURITY.read_text())
    }
    tested: dict[str, tuple[float, float] | None] = {}
    for case, sent, does, _, _, test in ROW.findall(SECURITY.read_text()):
        attacks = [name for name in re.findall(r"`([\w-]+)`", sent) if name in known]
        if wanted and case not in wanted:
            continue
        if attacks:
            mb, cpu = map(max, zip(*(known[name] for name in attacks), strict=True))
        elif test.startswith("tests/"):
            if test not in tested:
                tested[test] = measure(test)
            if (found := tested[test]) is None:
                continue
            mb, cpu = found
        else:
            continue
        write(f"| {case} | {sent} | {does} | {mb:.0f} | {cpu:.1f} | `{test}` |")


def write(row: str) -> None:
    """Replace the row of a case in the table."""
    print(row, flush=True)
    begin = row[: row.index("|", 2) + 1]
    lines = SECURITY.read_text().split("\n")
    lines = [row if line.startswith(begin) else line for line in lines]
    SECURITY.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
