"""docs/howto/topics.md: what it shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from opilio.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "howto/topics.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [text for each, text in BLOCKS if each == kind]


def test_the_page_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    queries, pages = blocks("text")
    Path("queries.txt").write_text(queries)
    Path("pc.ttl").write_text(blocks("turtle")[0])
    *good, bad = pages.splitlines()
    for folder, texts in (("good", good), ("bad", [bad])):
        Path(folder).mkdir()
        for number, text in enumerate(texts):
            Path(folder, f"{number}.html").write_text(f"<p>{text}</p>")
    for block in blocks("console"):
        command, _, printed = block.partition("\n")
        ended = CliRunner().invoke(app, shlex.split(command.removeprefix("$ opilio ")))
        assert ended.exit_code == 0, ended.output
        assert ended.stdout == printed, command
    assert Path("chemistry.toml").read_text() == blocks("toml")[0]


def test_the_python_shown_runs(capsys: pytest.CaptureFixture[str]):
    (code,) = blocks("python")
    exec(code, {})
    shown = re.findall(r"print.*# (.*)", code)
    assert capsys.readouterr().out.splitlines() == shown
