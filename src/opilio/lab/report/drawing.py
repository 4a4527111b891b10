"""Draws the charts of a report as SVG and PNG, in one style."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opilio.errors import BadInput
from opilio.lab.report import colours
from opilio.lab.report.html import without_controls

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
LETTERS = 32  # of a name; more would not fit
ROOM = {"left": 14, "right": 20, "top": 8, "bottom": 8}  # other fonts may be wider
SHARPNESS = 2  # pixels of a PNG for one of the chart

Chart = Any  # altair is optional, so its types are not used


def altair() -> Any:
    """altair, which describes the charts; vl-convert, which draws them, comes with
    it."""
    try:
        import altair
        import vl_convert  # noqa: F401 - needed later, better missed now
    except ImportError as error:
        raise BadInput(
            f"charts need altair and vl-convert ({error}); "
            "run: pip install 'opilio[lab]'"
        ) from error
    return altair


def data(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows for a chart, as text: altair would check and copy each many times.

    This is the only way for text to enter a chart: cleaned, and cut, since measuring it
    takes long.
    """
    alt = altair()
    values = [
        {
            key: without_controls(shortened(value)) if isinstance(value, str) else value
            for key, value in row.items()
        }
        for row in rows
    ]
    return alt.Data(values=json.dumps(values), format=alt.DataFormat(type="json"))


def shortened(name: str) -> str:
    """A name without its middle if it is long: paths differ at their ends."""
    half = LETTERS // 2
    return name if len(name) <= LETTERS else f"{name[:half]}…{name[-half:]}"


def finished(chart: Chart) -> Chart:
    """A chart in the common style: light axes, no boxes."""
    quiet, grid = colours.QUIET.light, colours.GRID.light
    return (
        chart.properties(background=colours.PAPER.light, padding=ROOM)
        .configure(aria=False, font=FONT)
        .configure_view(stroke=None)
        .configure_text(fontSize=12, font=FONT)
        .configure_axis(
            labelColor=quiet,
            titleColor=quiet,
            titleFontWeight="normal",
            labelFontSize=12,
            titleFontSize=12,
            gridColor=grid,
            domainColor=quiet,
            tickColor=quiet,
            ticks=False,
            labelPadding=6,
            titlePadding=8,
        )
    )


def svg(chart: Chart) -> str:
    """A chart as SVG, in the colours of light paper."""
    import vl_convert

    # Not checked once more, which takes as long as drawing it; and nothing that a
    # chart names may be loaded from anywhere.
    text = chart.to_json(validate=False)
    drawn: str = vl_convert.vegalite_to_svg(text, allowed_base_urls=[])
    return drawn


def write_svg(drawn: str, path: Path) -> None:
    """An SVG file that follows the light or dark colour scheme."""
    head, tag_end, rest = drawn.partition(">")
    style = f"<style>{colours.dark_chart()}</style>"
    path.write_text(head + tag_end + style + rest, encoding="utf-8")


def write_png(drawn: str, path: Path) -> None:
    """A picture of a chart, on light paper."""
    import vl_convert

    path.write_bytes(vl_convert.svg_to_png(drawn, scale=SHARPNESS))
