"""Files that the project's own tools read agree with each other."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from opilio import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_every_dependency_has_an_oldest_version():
    told = subprocess.run(
        [sys.executable, ".ci/oldest.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    pins = dict(line.partition("==")[::2] for line in told.stdout.splitlines())
    wanted = [*PROJECT["project"]["dependencies"]]
    for name, extra in PROJECT["project"]["optional-dependencies"].items():
        wanted += extra if name != "all" else []
    names = {re.match(r"[\w.-]+", one)[0] for one in wanted}
    assert names - {"opilio"} == set(pins)  # an extra may name another extra


def test_ci_has_tested_a_version_of_everything_that_is_asked_for():
    lines = (ROOT / ".ci/tested.txt").read_text().splitlines()
    tested = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    groups = PROJECT["dependency-groups"]
    wanted = [*PROJECT["project"]["dependencies"], *groups["test"], *groups["lint"]]
    names = {
        re.match(r"[\w.-]+", one)[0].lower().replace("_", "-")
        for one in wanted
        if "python_version >=" not in one
    }
    assert names <= tested, names - tested


def test_every_source_file_is_listed_with_a_sentence():
    told = subprocess.run(
        [sys.executable, ".ci/source_files.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    listed = re.findall(r"^  (\S+) +\S+ \S+", told, re.MULTILINE)
    source = ROOT / "src/opilio"
    files = [*source.rglob("*.py"), *source.rglob("*.pyx")]
    named = [file.name for file in files if file.read_text().strip()]
    assert sorted(listed) == sorted(named)


def test_a_page_takes_at_most_fifteen_hops_through_files_that_exist():
    page = (ROOT / "docs/architecture.md").read_text()
    path = page.partition("## From `opilio crawl` to the WARC file")[2]
    hops = re.findall(r"^\| (\d+) \| `([^`]+)`", path, re.MULTILINE)
    assert [int(number) for number, _ in hops] == [*range(1, len(hops) + 1)]
    assert 10 <= len(hops) <= 15
    named = set(re.findall(r"`(\w+/[\w/]+\.py)`", path.partition("## ")[0]))
    assert [file for file in named if not (ROOT / "src/opilio" / file).is_file()] == []


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"version: {__version__}\n" in text


def test_module_docstrings_say_what_the_module_is_for():
    pattern = re.compile(r"\bin; .*\bout\b|; .*\bout[.:]")
    odd = []
    for folder in ("src", "bench", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            told = ast.get_docstring(ast.parse(path.read_text())) or ""
            if pattern.search(told.partition("\n\n")[0].replace("\n", " ")):
                odd.append(str(path.relative_to(ROOT)))
    assert odd == [], "say in one sentence what these modules are for"
