"""The table of a comparison, on a terminal and in a pipe."""

from __future__ import annotations

import io
from statistics import fmean

import pytest
from rich.console import Console

from lab.made_up_runs import STRATEGIES, made_up_runs
from opilio.cli import lab_table
from opilio.cli.lab_table import print_table

RUNS = made_up_runs(strategies={**STRATEGIES, "[red]\x1b[31mloud": 0.4})


def test_in_a_pipe_each_strategy_is_a_line_of_figures_of_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(RUNS)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len({len(line) for line in lines}) == 1
    assert [lines[0][0], lines[1][0]] == ["strategy", "oracle"]
    rows = {line[0]: line[1:] for line in lines}
    blocks = [run for run in RUNS if run.task.strategy == "blocks"]
    assert rows["blocks"][0] == f"{fmean(run.of_oracle['aurc'] for run in blocks):.1%}"
    assert rows["blocks"][1] == f"{fmean(run.measures.aurc for run in blocks):.3f}"
    shares = [float(line[1].rstrip("%")) for line in lines[2:]]
    assert shares == sorted(shares, reverse=True) and len(shares) == len(STRATEGIES) + 1


@pytest.mark.parametrize("width", [80, 140])
def test_a_terminal_gets_a_table_that_fits(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    screen = io.StringIO()
    console = Console(
        file=screen,
        force_terminal=True,
        color_system=None,
        width=width,
        highlight=False,
    )
    monkeypatch.setattr(lab_table, "stdout", console)
    print_table(RUNS)
    lines = screen.getvalue().splitlines()
    assert len(lines) == 2 + len(STRATEGIES) + 1
    assert all(len(line) <= width for line in lines)
    assert "…" not in screen.getvalue()
    assert ("CPU ms" in lines[0]) == (width == 140)


def test_names_cannot_speak_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(RUNS)
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, color_system=None, width=120)
    monkeypatch.setattr(lab_table, "stdout", console)
    print_table(RUNS)
    for text in (capsys.readouterr().out, screen.getvalue()):
        assert "\x1b" not in text
        assert "[red] [31mloud" in text
