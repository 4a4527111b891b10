"""Counts how many small errors in the files of the five papers their tests find.

A mutant is a file with one error: a comparison, an arithmetic sign, a number, `and` or
`or`, a condition or a returned value is changed. It is killed if a test of that file
fails on it. Mutants are drawn at random, the same for one seed; each runs the tests
named below in a process of its own, with a copy of the source, so that nothing of the
checkout changes.

Run it with `python -m bench.mutants [mutants of a file] [part of a file's name]`. With
0, all mutants of each file are tried. It takes a process a mutant, seconds each.
"""

from __future__ import annotations

import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.table import show

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/opilio"
SEED = 16
PATIENCE = (
    240  # seconds for the tests of one mutant; a mutant that hangs counts as killed
)
SAMPLE = 8  # mutants of a file by default

# The files of the papers, and the tests that quote them.
FILES = {
    "strategies/mcore.py": "strategies/test_mcore.py",
    "seeds/priority.py": "seeds/test_priority.py",
    "topic/rules.py": "topic/test_rules.py",
    "topic/ontology/importance.py": "topic/test_ontology_extraction.py",
    "topic/ontology/repository.py": "topic/test_ontology_extraction.py",
    "strategies/ordering.py": "strategies/test_ordering.py",
    "strategies/shared/page_rank.py": "strategies/test_graph.py "
    "strategies/test_ordering.py",
    "strategies/shared/ordering_terms.py": "strategies/test_ordering.py",
    "judge/association.py": "judge/test_association.py",
    "topic/ontology/propose.py": "topic/test_ontology_proposals.py",
    "topic/ontology/termhood.py": "topic/test_ontology_proposals.py",
    "equations/thesaurus.py": "topic/test_ontology_services.py sites/test_expander.py "
    "search/test_retrieval.py",
    "equations/ontology_classes.py": "judge/test_ontoclassifier.py",
    "equations/site_model.py": "equations/test_site_model.py",
    "topic/ontology/services.py": "topic/test_ontology_services.py "
    "topic/test_ontology_conflicts.py topic/test_ontology_instances.py",
    "topic/weight_table.py": "topic/test_weight_table.py",
    "strategies/weight_table.py": "strategies/test_weight_table_strategy.py",
    "judge/cosine.py": "judge/test_cosine.py",
    "judge/blocks.py": "judge/test_blocks.py",
    "strategies/blocks.py": "strategies/test_blocks_strategy.py",
    "strategies/shared/irrelevant_table.py": "strategies/test_blocks_strategy.py",
    "topic/keywords.py": "topic/test_keywords.py topic/test_frame.py",
    "topic/keyword_updates.py": "topic/test_keyword_updates.py",
    "judge/svm.py": "judge/test_svm.py",
}
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutant(NamedTuple):
    """An error in a file: where, and what it is."""

    line: int
    was: str
    text: str  # of the whole file

    @property
    def name(self) -> str:
        """Its place, and the code that was there."""
        return f"{self.line}: {self.was}"


def mutants(text: str) -> Iterator[Mutant]:
    """Each error that can be made in a file."""
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for change in changes(node):
            made = copy.deepcopy(tree)
            other = next(n for k, n in enumerate(ast.walk(made)) if k == number)
            was = change(other)
            yield Mutant(getattr(node, "lineno", 0), was, ast.unparse(made))


def changes(node: ast.AST) -> Iterator[object]:
    """The errors that can be made at a node: functions that make one and return what
    was there."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield swap_comparison
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        yield swap_operator
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield change_number
    if isinstance(node, ast.If | ast.IfExp):
        yield negate
    if isinstance(node, ast.Return) and node.value is not None:
        yield return_none


def swap_comparison(node: ast.Compare) -> str:
    """< for <=, == for !=, and so on."""
    was = ast.unparse(node)
    node.ops[0] = SWAPPED[type(node.ops[0])]()  # type: ignore[call-overload]
    return f"{was} → {ast.unparse(node)}"


def swap_operator(node: ast.BinOp | ast.BoolOp) -> str:
    """+ for -, * for /, and for or."""
    was = ast.unparse(node)
    node.op = SWAPPED[type(node.op)]()  # type: ignore[assignment]
    return f"{was} → {ast.unparse(node)}"


def change_number(node: ast.Constant) -> str:
    """A number that is half as large again."""
    was = node.value
    assert isinstance(was, int | float)
    node.value = was + 1 if isinstance(was, int) else was * 1.5 + 0.01
    return f"{was} → {node.value:g}"


def negate(node: ast.If | ast.IfExp) -> str:
    """A negated condition."""
    was = ast.unparse(node.test)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return f"if {was} → if not"


def return_none(node: ast.Return) -> str:
    """A function that returns nothing."""
    was = ast.unparse(node)
    node.value = ast.Constant(None)
    return f"{was} → None"


def survives(place: Path, file: str, mutant: Mutant) -> bool:
    """Whether the tests of a file pass with the error in it."""
    path = place / "opilio" / file
    before = path.read_text(encoding="utf-8")
    path.write_text(mutant.text, encoding="utf-8")
    try:
        tests = [str(ROOT / "tests" / name) for name in FILES[file].split()]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        ended = subprocess.run(
            [*command, *tests],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(place)},
            capture_output=True,
            timeout=PATIENCE,
        )
        return ended.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_text(before, encoding="utf-8")


def main() -> None:
    """Try the mutants and print what was found."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    rows, alive = [], []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(SOURCE, place / "opilio")
        for file in FILES:
            if part not in file:
                continue
            made = list(mutants((SOURCE / file).read_text(encoding="utf-8")))
            drawn = random.Random(SEED).sample(made, min(count or len(made), len(made)))
            left = [one for one in drawn if survives(place, file, one)]
            alive += [(file, one.name) for one in left]
            rows.append((file, len(made), len(drawn), len(drawn) - len(left)))
            print(*rows[-1], *(one.name for one in left), sep="\t", flush=True)
    tried, killed = (sum(row[n] for row in rows) for n in (2, 3))
    rows.append(("all", sum(row[1] for row in rows), tried, killed))
    show("Mutants", ("file", "possible", "tried", "killed"), rows)
    print(f"\n{killed / max(tried, 1):.1%} killed; survivors:\n")
    for file, name in alive:
        print(f"  {file} {name}")


if __name__ == "__main__":
    main()
