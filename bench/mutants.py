"""Counts how many small errors in the files of the five papers their tests find.

A mutant is a file with one error: a comparison, an arithmetic sign, a number, `and` or
`or`, a condition or a returned value is changed. It is killed if a test of that file
fails on it, or never ends. Each mutant runs in a process of its own, with a copy
of the source, so that nothing of the checkout changes. The tests that reach the
function with the error run first, the quickest of them before others.

Run it with `python -m bench.mutants [-n MUTANTS] [-j JOBS] [PART OF A FILE'S NAME …]`.
All mutants of each file are tried, or MUTANTS of each, drawn at random but the same
each time. A mutant takes a second or a few.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.forked_tests import PATIENCE, ROOT, Fork, Ordered, Tried, record
from bench.mutations import Mutant, mutants
from bench.table import show

SOURCE = ROOT / "src/opilio"
SEED = 16

# The files of the papers, and the tests that quote them.
FILES = {
    "strategies/mcore.py": "strategies/test_mcore.py strategies/test_option_limits.py "
    "strategies/test_rescoring.py",
    "strategies/shared/learnt_blend.py": "strategies/test_learnt_blend.py",
    "seeds/priority.py": "seeds/test_priority.py",
    "topic/rules.py": "topic/test_rules.py",
    "topic/ontology/importance.py": "topic/test_ontology_extraction.py "
    "topic/test_ontology_repository.py",
    "topic/ontology/repository.py": "topic/test_ontology_extraction.py "
    "topic/test_ontology_repository.py",
    "strategies/ordering.py": "strategies/test_ordering.py "
    "strategies/test_option_limits.py strategies/test_rescoring.py",
    "strategies/shared/page_rank.py": "strategies/test_graph.py "
    "strategies/test_ordering.py",
    "strategies/shared/ordering_terms.py": "strategies/test_ordering.py",
    "judge/association.py": "judge/test_association.py",
    "topic/ontology/propose.py": "topic/test_ontology_proposals.py",
    "topic/ontology/termhood.py": "topic/test_termhood.py "
    "topic/test_ontology_proposals.py",
    "equations/thesaurus.py": "equations/test_thesaurus.py "
    "topic/test_ontology_services.py sites/test_expander.py search/test_retrieval.py",
    "equations/ontology_classes.py": "equations/test_thesaurus.py "
    "judge/test_ontoclassifier.py",
    "equations/site_model.py": "equations/test_site_model.py",
    "topic/ontology/services.py": "topic/test_ontology_services.py "
    "topic/test_ontology_conflicts.py topic/test_ontology_instances.py",
    "topic/weight_table.py": "topic/test_weight_table.py",
    "strategies/weight_table.py": "strategies/test_weight_table_strategy.py "
    "strategies/test_option_limits.py strategies/test_rescoring.py",
    "judge/cosine.py": "judge/test_cosine.py",
    "judge/blocks.py": "judge/test_blocks.py",
    "strategies/blocks.py": "strategies/test_blocks_strategy.py "
    "strategies/test_option_limits.py strategies/test_rescoring.py",
    "strategies/shared/irrelevant_table.py": "strategies/test_irrelevant_table.py "
    "strategies/test_blocks_strategy.py",
    "topic/keywords.py": "topic/test_keywords.py topic/test_frame.py",
    "topic/keyword_updates.py": "topic/test_keyword_updates.py",
    "judge/svm.py": "judge/test_svm.py",
}


class Slot:
    """A place where one mutant at a time is tried."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(SOURCE, place / "opilio")

    def start(
        self, file: str, mutant: Mutant, tried: dict[str, Tried], cpu: float
    ) -> None:
        """Run the tests of a file with an error in it."""
        path = self.place / "opilio" / file
        path.write_text(mutant.text, encoding="utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()  # perhaps of another mutant that is as long and as old
        self.report = self.place / "report"
        self.report.unlink(missing_ok=True)
        self.mutant = mutant
        order = order_for(mutant, tried)
        plugin = Ordered(order, self.report, 20 + 10 * cpu)
        self.fork = Fork(self.place, tests_of(file), plugin)

    def found_by(self, code: int) -> str | None:
        """What found the error, when the fork has ended with this code."""
        if not code:
            return None
        if self.report.exists():
            return self.report.read_text(encoding="utf-8")
        return "import" if code > 0 else "time limit"


def order_for(mutant: Mutant, tried: dict[str, Tried]) -> Callable[[str], Any]:
    """Order tests: first those that reach the function with the error, quick ones."""

    def key(name: str) -> tuple[bool, float]:
        test = tried.get(name, Tried(0.0, frozenset()))
        return test.lines.isdisjoint(mutant.lines), test.seconds

    return key


def tests_of(file: str) -> list[str]:
    """The paths of the tests of a file."""
    return [str(ROOT / "tests" / name) for name in FILES[file].split()]


def trials(
    slots: list[Slot], file: str, drawn: list[Mutant]
) -> Iterator[tuple[Mutant, str | None]]:
    """Try mutants, as many at a time as there are slots; what found each."""
    for slot in slots:
        shutil.copy(SOURCE / file, slot.place / "opilio" / file)
    tried, cpu = record(slots[0].place, file, tests_of(file))
    free, busy, left = list(slots), dict[int, Slot](), list(reversed(drawn))
    while left or busy:
        while left and free:
            slot = free.pop()
            slot.start(file, left.pop(), tried, cpu)
            busy[slot.fork.pid] = slot
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in busy:
            slot = busy.pop(pid)
            free.append(slot)
            yield slot.mutant, slot.found_by(os.waitstatus_to_exitcode(status))
            continue
        for slot in busy.values():
            if time.monotonic() - slot.fork.started > PATIENCE:
                slot.fork.kill()
        time.sleep(0.01)
    for slot in slots:
        shutil.copy(SOURCE / file, slot.place / "opilio" / file)


class Score(NamedTuple):
    """How the tests of a file did."""

    file: str
    possible: int
    tried: int
    killed: int
    seconds: int


def try_file(
    slots: list[Slot], file: str, count: int, show_tests: bool
) -> tuple[Score, list[Mutant]]:
    """Try so many mutants of a file, or all; the score, and those that survived."""
    made = list(mutants((SOURCE / file).read_text(encoding="utf-8")))
    drawn = random.Random(SEED).sample(made, min(count or len(made), len(made)))
    started = time.monotonic()
    left = []
    for mutant, found in trials(slots, file, drawn):
        if found is None:
            left.append(mutant)
        elif show_tests:
            print(f"  {mutant.name}: {found}", flush=True)
    left.sort(key=lambda one: one.line)
    seconds = round(time.monotonic() - started)
    return Score(file, len(made), len(drawn), len(drawn) - len(left), seconds), left


def main() -> None:
    """Try the mutants and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.mutants")
    parser.add_argument("-n", type=int, default=0, help="mutants of each file; 0: all")
    parser.add_argument("-j", type=int, default=2, help="mutants at a time")
    parser.add_argument("-v", action="store_true", help="show which test found each")
    parser.add_argument("parts", nargs="*", help="parts of names of files")
    options = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # threads would be missing in forks
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        slots = [Slot(Path(folder, str(number))) for number in range(options.j)]
        for file in FILES:
            if options.parts and not any(part in file for part in options.parts):
                continue
            score, left = try_file(slots, file, options.n, options.v)
            scores.append(score)
            print(*score, flush=True)
            for one in left:
                print(f"  survived {one.name}", flush=True)
    whole = Score(
        "all",
        sum(score.possible for score in scores),
        sum(score.tried for score in scores),
        sum(score.killed for score in scores),
        sum(score.seconds for score in scores),
    )
    show("Mutants", Score._fields, [*scores, whole])
    print(f"\n{whole.killed / max(whole.tried, 1):.1%} killed")


if __name__ == "__main__":
    main()
