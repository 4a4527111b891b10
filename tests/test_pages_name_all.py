"""Every module is in the table of docs/architecture.md, every measurement in help."""

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


@pytest.mark.parametrize("module", MODULES)
def test_the_table_of_files_says_what_a_module_does(module: str):
    page = (ROOT / "docs/architecture.md").read_text()
    named = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert any(f"`{module}`" in names for names in named)


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
