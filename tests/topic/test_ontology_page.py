"""The example of docs/reference/ontology.md does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "reference/ontology.md").read_text()


def block(kind: str) -> str:
    (found,) = re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_the_example_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("pc.ttl").write_text(block("turtle"))
    exec(compile(block("python"), "docs/reference/ontology.md", "exec"), {})
    assert capsys.readouterr().out == block("text")
