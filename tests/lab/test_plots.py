"""Charts: curves, their colours, their labels and their files."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.made_up_runs import made_up_runs
from opilio.errors import BadInput
from opilio.lab.report import colours, drawing, plots
from opilio.lab.report.curve_points import (
    CurveWalk,
    curve,
    grid,
    harvest,
    lately,
    recall,
)
from opilio.lab.report.figures import findings, strategy_figure, topics_chart
from opilio.lab.report.plots import spread
from opilio.lab.report.standings import shares_by_topic

RUNS = made_up_runs(repeats=1)
PLACES = st.lists(st.floats(0, 400), min_size=1, max_size=20)


@st.composite
def walks(draw: st.DrawFn) -> CurveWalk:
    targets = draw(st.integers(1, 30))
    requests = draw(st.integers(1, 90))
    found = draw(st.sets(st.integers(1, requests), max_size=targets))
    return CurveWalk(sorted(found), requests, targets, ("web", "topic"))


@given(walks(), st.integers(0, 60))
def test_a_curve_counts_what_was_found_by_then(walk: CurveWalk, place: int) -> None:
    x = np.linspace(0, 3, 61)
    number = place * walk.targets // 20  # ⌊x·R⌋ without fractions
    found = sum(1 for at in walk.found_at if at <= number)
    width = max(1, round(walk.targets / 2))
    newly = [at for at in walk.found_at if number - width < at <= number]
    assert recall(walk, x)[place] == pytest.approx(found / walk.targets)
    made = min(number, walk.requests)
    assert harvest(walk, x)[place] == pytest.approx(found / made if made else 0)
    looked = min(number, width)
    assert lately(walk, x)[place] == pytest.approx(len(newly) / looked if looked else 0)


def test_curves_end_where_the_first_run_ran_out_of_budget() -> None:
    assert grid(RUNS)[-1] == 3
    short = made_up_runs(repeats=1, budget=100)
    assert grid(short)[-1] == pytest.approx(100 / 161)
    exhausted = made_up_runs(repeats=1, budget=100, ended="exhausted")
    assert grid(exhausted)[-1] == 3


def mean_of(*walks: tuple[str, int]) -> tuple[float, ...]:
    """Mean, low and high of the recall at R of runs: topic, targets found of 10."""
    made = [CurveWalk(range(1, n + 1), 30, 10, ("web", name)) for name, n in walks]
    found = curve(made, recall, np.array([1.0]))
    return tuple(float(values[0]) for values in found[1:])


def test_a_band_is_about_topics_not_runs() -> None:
    assert mean_of(*[("a", 2)] * 9, *[("b", 8)] * 9) == pytest.approx((0.5, 0.2, 0.8))


def test_each_topic_counts_the_same() -> None:
    assert mean_of(("a", 2), ("b", 8), ("b", 8))[0] == pytest.approx(0.5)


def test_a_band_of_one_topic_is_about_its_runs_and_of_one_run_is_a_line() -> None:
    mean, low, high = mean_of(("a", 2), ("a", 3), ("a", 7))
    assert low < mean < high and mean == pytest.approx(0.4)
    assert mean_of(("a", 4)) == pytest.approx((0.4, 0.4, 0.4))


@given(PLACES)
def test_labels_never_touch_and_stay_beside_the_chart(wanted: list[float]) -> None:
    placed = spread(wanted, 14, 400)
    assert all(b - a >= 14 - 1e-6 for a, b in pairwise(sorted(placed)))
    assert all(-1e-6 <= place <= 400 + 1e-6 for place in placed)


@given(PLACES)
def test_labels_keep_the_order_of_their_lines(wanted: list[float]) -> None:
    placed = spread(wanted, 14, 400)
    for one, mine in zip(wanted, placed, strict=True):
        for other, theirs in zip(wanted, placed, strict=True):
            assert not (one + 14 < other and mine > theirs)


def test_labels_with_room_lie_at_the_ends_of_their_lines() -> None:
    assert spread([300, 10, 100], 14, 400) == [300, 10, 100]


def contrast(one: str, other: str) -> float:
    """Of two colours, by WCAG 2.2: (brighter + 0.05) / (darker + 0.05)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in parts
        ]
        return sum(np.multiply((0.2126, 0.7152, 0.0722), linear))

    darker, brighter = sorted(map(luminance, (one, other)))
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_text_and_lines_can_be_seen_on_light_and_dark_paper(paper: str) -> None:
    def on(colour: colours.Colour, ground: colours.Colour = colours.PAPER) -> float:
        return contrast(getattr(colour, paper), getattr(ground, paper))

    assert min(on(colours.INK), on(colours.QUIET)) >= 4.5
    lines = (*colours.LINES, colours.BREADTH, colours.CHANCE, colours.ORACLE)
    assert min(map(on, lines)) >= 3
    for step, ground in enumerate(colours.HEAT):
        text = colours.ON_STRONG if step >= colours.STRONG else colours.ON_PALE
        assert on(text, ground) >= 4.5


def test_each_colour_has_a_value_of_its_own_for_the_style_sheet_to_find() -> None:
    light = [colour.light for colour in colours.COLOURS.values()]
    assert len(set(light)) == len(light)


def test_the_heat_map_has_the_mean_share_of_every_topic() -> None:
    found = findings(RUNS)
    tree = ElementTree.fromstring(drawing.svg(topics_chart(found)))
    texts = [text for element in tree.iter() if (text := element.text)]
    shares = shares_by_topic(RUNS)
    assert len(shares) == 7 * 3
    for share in shares.values():
        assert f"{share:.0%}" in texts
    for name in ("birds", "shark-search"):
        assert name in texts


@pytest.mark.parametrize(
    "name", ["\x00", "a\x1bb", "a\ud800b", "\u2028", "\u202eab", "", "x" * 5000, "नम😀"]
)
def test_no_name_can_stop_a_chart_from_being_drawn(name: str) -> None:
    chart = plots.heat_map({(name, name): 0.5}, [name], [name])
    assert "50%" in drawing.svg(chart)


def test_long_names_that_differ_at_their_ends_stay_apart() -> None:
    paths = [f"/{'folder/' * 20}{name}.toml" for name in ("birds", "bees")]
    chart = plots.heat_map({("a", paths[0]): 0.5, ("a", paths[1]): 0.4}, ["a"], paths)
    drawn = drawing.svg(chart)
    assert "50%" in drawn and "40%" in drawn
    assert len(set(re.findall(r">(/folder[^<]*)<", drawn))) == 2


def test_the_names_of_many_topics_are_tilted() -> None:
    topics = [f"topic {number}" for number in range(9)]
    shares = {("a", topic): 0.5 for topic in topics}
    assert "rotate(310)" in drawing.svg(plots.heat_map(shares, ["a"], topics))
    assert "rotate(" not in drawing.svg(plots.heat_map(shares, ["a"], topics[:8]))


def test_a_topic_that_was_not_tried_leaves_its_cell_empty() -> None:
    chart = plots.heat_map({("a", "y"): 0.5, ("b", "x"): 0.4}, ["a", "b"], ["x", "y"])
    tree = ElementTree.fromstring(drawing.svg(chart))
    texts = [text for element in tree.iter() if (text := element.text)]
    assert sorted(texts) == ["40%", "50%", "a", "b", "x", "y"]
    assert texts.index("x") < texts.index("y")


def test_a_strategy_has_a_figure_that_turns_dark_by_itself(tmp_path: Path) -> None:
    strategy_figure(RUNS, "blocks", tmp_path / "blocks.svg")
    tree = ElementTree.parse(tmp_path / "blocks.svg")
    texts = {element.text for element in tree.iter() if element.text}
    assert {"blocks", "breadth-first", "oracle"} <= texts
    style = tree.find("{http://www.w3.org/2000/svg}style")
    assert style is not None and "prefers-color-scheme:dark" in (style.text or "")
    drawn = {element.get("stroke") for element in tree.iter()}
    assert {colours.LINES[0].light, colours.BREADTH.light} <= drawn


def test_a_strategy_that_was_not_run_has_no_figure(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no run of the strategy dowsing.*blocks"):
        strategy_figure(RUNS, "dowsing", tmp_path / "no.svg")


def test_without_the_extra_the_error_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(BadInput, match=r"pip install 'opilio\[lab\]'"):
        drawing.altair()
