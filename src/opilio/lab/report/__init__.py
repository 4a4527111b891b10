"""Writes the report of a comparison: one HTML page with its plots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from opilio.lab.report.drawing import svg, write_png, write_svg
from opilio.lab.report.figures import (
    NARROW,
    PLOTS,
    Findings,
    against_oracle,
    findings,
    leaders,
    strategy_figure,
    topics_chart,
)
from opilio.lab.report.html import Html
from opilio.lab.report.page import page
from opilio.lab.report.several_webs import OfWeb, several_page
from opilio.lab.runs import About, Run

__all__ = ["strategy_figure", "write_report"]


def write_report(runs: Sequence[Run], about: About, folder: Path) -> Path:
    """Write report.html and its plots as SVG and PNG; return the page's path."""
    found = findings(runs)
    folder.mkdir(parents=True, exist_ok=True)
    if len({run.task.web for run in found.all_runs}) > 1:
        return write_several(found, about, folder)
    charts = dict(draw(found))
    for name, drawn in charts.items():
        write_svg(drawn, folder / f"{name}.svg")
        write_png(drawn, folder / f"{name}.png")
    narrow = {
        f"{name}-narrow": Html(svg(leaders(found, PLOTS[name], NARROW)))
        for name in charts
        if name in PLOTS
    }
    inline = {name: Html(drawn) for name, drawn in charts.items()} | narrow
    small = {
        row.entry: Html(svg(against_oracle(found, row.entry))) for row in found.rows
    }
    path = folder / "report.html"
    path.write_text(page(found, about, inline, small), encoding="utf-8")
    return path


def write_several(found: Findings, about: About, folder: Path) -> Path:
    """The same for runs on several webs: a part of the page for each of them."""
    webs = []
    for facts in about.webs:
        own = [run for run in found.all_runs if run.task.web == facts.name]
        if not own:
            continue
        of_web = findings(own)
        charts = {
            "recall": svg(leaders(of_web, PLOTS["recall"])),
            "topics": svg(topics_chart(of_web)),
        }
        suffix = re.sub(r"[^\w.-]+", "-", facts.name)
        for name, drawn in charts.items():
            write_svg(drawn, folder / f"{name}-{suffix}.svg")
            write_png(drawn, folder / f"{name}-{suffix}.png")
        inline = {name: Html(drawn) for name, drawn in charts.items()}
        narrow = Html(svg(leaders(of_web, PLOTS["recall"], NARROW)))
        webs.append(OfWeb(facts, of_web, {**inline, "recall-narrow": narrow}))
    path = folder / "report.html"
    path.write_text(several_page(found, webs, about), encoding="utf-8")
    return path


def draw(found: Findings) -> Iterator[tuple[str, str]]:
    """The plots that are files too: names and SVG."""
    for name, plot in PLOTS.items():
        if plot.start < found.x[-1]:
            yield name, svg(leaders(found, plot))
    yield "topics", svg(topics_chart(found))
