"""docs/explanation/papers.md: the files, tests and commands that it names are there."""

import re
from pathlib import Path

import pytest
import typer.main

from opilio.cli import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/papers.md").read_text()
ROWS = re.findall(
    r"^\| ([A-E]\d+) \| [^|]+ \| `([^`]+)` \| ([^|]+) \| `([^`]+)` \| ([^|]+) \|$",
    PAGE,
    re.MULTILINE,
)
COMPONENTS = {"A": 10, "B": 10, "C": 12, "D": 10, "E": 10}


def test_every_component_of_the_five_papers_has_a_row():
    lines = [line for line in PAGE.splitlines() if re.match(r"\| [A-E]\d", line)]
    assert len(lines) == len(ROWS)  # no row is partial
    named = {row[0] for row in ROWS}
    assert named == {
        f"{p}{n}" for p, most in COMPONENTS.items() for n in range(1, most + 1)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_a_row_names_what_is_there(row: tuple[str, ...]):
    _, file, reached, test, run = row
    assert (ROOT / "src/opilio" / file).is_file()
    path, _, name = test.partition("::")
    assert name  # a whole file would say little
    assert f"def {name}(" in (ROOT / "tests" / path).read_text()
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for command in re.findall(r"`opilio (\w+)", reached):
        assert command in commands
    assert run.strip()
