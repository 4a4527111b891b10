"""docs/explanation/papers.md: what it names exists, and each test quotes its paper."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from opilio.cli import app
from opilio.judge import JUDGES
from opilio.strategies import OURS
from opilio.topic import Topic

ROOT = Path(__file__).parents[1]
PAPERS = ROOT.parent / "shared/papers"
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
    check_reached(reached)
    assert run.strip()


def check_reached(reached: str) -> None:
    """Commands, options, tables of the topic file, strategies and judges exist."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    named = [c for code in re.findall(r"`([^`]+)`", reached) for c in [code.split()]]
    assert named or "every crawl" in reached
    command = crawl = loaded(commands["crawl"])
    for words in named:
        if words[0] == "opilio":
            command = loaded(commands[words[1]])
            for word in words[2:]:
                command = getattr(command, "commands", {}).get(word, command)
        known = {option for one in command.params for option in one.opts}
        known |= {option for one in crawl.params for option in one.opts}
        assert {word for word in words if word.startswith("--")} <= known
        for option, names in (("--strategy", OURS), ("--judge", JUDGES)):
            if option in words:
                name = words[words.index(option) + 1].partition(",")[0]
                assert name in names
        if table := re.fullmatch(r"\[(\w+)\]", words[0]):
            assert table[1] in Topic.__struct_fields__


def loaded(command: Any) -> Any:
    """A command that is imported only when it is needed."""
    return getattr(command, "loaded", command)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_the_test_of_a_row_quotes_the_paper(row: tuple[str, ...]):
    path, _, name = row[3].partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text())
    [test] = [n for n in ast.walk(tree) if getattr(n, "name", "") == name]
    said = plain(ast.get_docstring(test) or "")  # type: ignore[arg-type]
    quotes = [one for one in re.findall(r'"([^"]+)"', said) if len(one.split()) > 3]
    assert quotes
    if not PAPERS.is_dir():
        pytest.skip("the papers are not beside this checkout")
    assert any(quote in paper(row[0][0]) for quote in quotes)


@cache
def paper(letter: str) -> str:
    """The text of a paper."""
    [file] = PAPERS.glob(f"00{'ABCDE'.index(letter)}_*.txt")
    return plain(file.read_text())


def plain(text: str) -> str:
    """A text without marks of formulas and emphasis, and with plain spaces."""
    return " ".join(re.sub(r"[*$\\]", "", text).split()).casefold()
