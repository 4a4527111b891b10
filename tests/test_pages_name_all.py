"""The docs name every folder of the source, and bench --help every measurement."""

import subprocess
import sys
from pathlib import Path

import pytest

import opilio

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    f"{path.name}/" if path.is_dir() else path.name
    for path in Path(opilio.__file__).parent.iterdir()
    if not path.name.startswith("_") and (path.is_dir() or path.suffix == ".py")
)


TREE = (ROOT / "docs/architecture.md").read_text().partition("src/opilio/\n")[2]


@pytest.mark.parametrize("module", MODULES)
def test_the_tree_says_what_a_module_is_for(module: str):
    lines = TREE.partition("```")[0].splitlines()
    named = dict(line.split(maxsplit=1) for line in lines if line[2:3].strip())
    assert named[module]


def test_the_tree_names_nothing_else():
    lines = TREE.partition("```")[0].splitlines()
    named = {line.split()[0] for line in lines if line[2:3].strip()}
    assert named == {"__init__.py", *MODULES}


def test_help_names_all_measurements():
    told = subprocess.run(
        [sys.executable, "-m", "bench", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    listed = {line.split()[0] for line in told.splitlines() if line.startswith("  ")}
    assert listed >= {
        path.stem
        for path in (ROOT / "bench").glob("[!_]*.py")
        if "def main" in path.read_text()
    }
