"""Curves and shares of the oracle in; charts out, as SVG and PNG."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from opilio.errors import BadInput
from opilio.lab import colours
from opilio.lab.colours import Colour
from opilio.lab.curves import Curve
from opilio.lab.html import clean

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
LABEL = 14  # pixels from one label to the next
LONGEST = 200  # pixels of a label
LETTERS = 80  # of a name; more would not fit
ROOM = {"left": 14, "right": 20, "top": 8, "bottom": 8}  # other fonts may be wider
SHARPNESS = 2  # pixels of a PNG for one of the chart

Chart = Any  # altair is optional, so its types are not ours


class Series(NamedTuple):
    """A line of a chart."""

    name: str
    curve: Curve
    colour: Colour
    width: float = 1.75
    dashed: bool = False
    band: bool = True


class Frame(NamedTuple):
    """What surrounds the lines."""

    y_title: str
    width: int
    height: int
    ticks: tuple[int, int] = (6, 5)  # about so many, along and up
    labelled: bool = True  # names beside the lines


def altair() -> Any:
    """The library that charts are described with; with it comes one that draws them."""
    try:
        import altair
        import vl_convert  # noqa: F401 - needed later, better missed now
    except ImportError as error:
        raise BadInput(
            f"charts need altair and vl-convert ({error}); "
            "type: pip install 'opilio[lab]'"
        ) from error
    return altair


def line_chart(series: Sequence[Series], frame: Frame) -> Chart:
    """Means with their bands over requests in units of R, named where they end."""
    alt = altair()
    on_top = series[::-1]  # what is drawn last hides the rest: the first
    bands = rows_of([one for one in on_top if one.band])
    lines = alt.Chart(rows_of([one for one in on_top if not one.dashed])).mark_line()
    dashed = alt.Chart(rows_of([one for one in on_top if one.dashed])).mark_line()
    layers = [
        alt.Chart(bands)
        .mark_area(opacity=0.13)
        .encode(
            alt.Y("low:Q"), alt.Y2("high:Q"), fill=alt.Fill("colour:N", scale=None)
        ),
        lines.encode(alt.Y("mean:Q"), **stroked()),
        dashed.encode(alt.Y("mean:Q"), strokeDash=alt.value([5, 3]), **stroked()),
    ]
    layers = [layer.encode(alt.Detail("place:N")) for layer in layers]
    if frame.labelled:
        layers += labels(series, frame)
    chart = alt.layer(*layers).encode(x=x_axis(series, frame), y=y_axis(frame))
    return finished(chart.properties(width=frame.width, height=frame.height))


def x_axis(series: Sequence[Series], frame: Frame) -> Any:
    """Requests, as far as the lines go."""
    scale = altair().Scale(domain=[0, furthest(series)], nice=False)
    x = altair().X("x:Q", scale=scale)
    title = "requests, in multiples of R" if frame.labelled else ""
    return x.axis(
        title=title,
        format="~g",
        tickCount=frame.ticks[0],
        labelFlush=False,
        grid=False,
    )


def y_axis(frame: Frame) -> Any:
    """Shares from 0 to 1; the title lies above, where it can be read."""
    y = altair().Y(scale=altair().Scale(domain=[0, 1]))
    return y.axis(
        title=frame.y_title,
        titleAngle=0,
        titleAlign="left",
        titleAnchor="end",
        titleX=0,
        titleY=-14,
        format="~%",
        tickCount=frame.ticks[1],
        domain=False,
    )


def stroked() -> dict[str, Any]:
    """Lines have the colours and widths that their rows say."""
    alt = altair()
    return {
        "stroke": alt.Stroke("colour:N", scale=None),
        "strokeWidth": alt.StrokeWidth("width:Q", scale=None),
    }


def furthest(series: Sequence[Series]) -> float:
    """Where the lines end."""
    return max(float(one.curve.x[-1]) for one in series)


def rows_of(series: Sequence[Series]) -> Any:
    """Lines as rows, a point each."""
    return data(
        {
            "place": place,
            "colour": one.colour.light,
            "width": one.width,
            **dict(zip(Curve._fields, map(rounded, point), strict=True)),
        }
        for place, one in enumerate(series)
        for point in zip(*one.curve, strict=True)
    )


def rounded(value: float) -> float:
    """As much of a number as can be seen."""
    return round(float(value), 4)


def data(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows for a chart, as text: altair would check and copy each many times.

    No text enters a chart but here: cleaned, and cut, since measuring it takes long.
    """
    alt = altair()
    values = [
        {
            key: clean(value[:LETTERS]) if isinstance(value, str) else value
            for key, value in row.items()
        }
        for row in rows
    ]
    return alt.Data(values=json.dumps(values), format=alt.DataFormat(type="json"))


def labels(series: Sequence[Series], frame: Frame) -> list[Chart]:
    """The name of each line, to its right, and a thread that leads there."""
    alt = altair()
    end = furthest(series)
    pixel = end / frame.width
    wanted = [frame.height * (1 - float(one.curve.mean[-1])) for one in series]
    values = [
        {
            "name": one.name,
            "colour": one.colour.light,
            "end": float(one.curve.mean[-1]),
            "y": 1 - place / frame.height,
            "weight": "bold" if one is series[0] else "normal",
            **{f"x{part}": end + part * pixel for part in (2, 14, 24, 30)},
        }
        for one, place in zip(series, spread(wanted, LABEL, frame.height), strict=True)
    ]
    base = alt.Chart(data(values))
    rules = base.mark_rule().encode(stroke=alt.Stroke("colour:N", scale=None))
    y = alt.Y("y:Q")
    thread = rules.encode(alt.X("x2:Q"), alt.X2("x14:Q"), alt.Y("end:Q"), alt.Y2("y:Q"))
    key = rules.encode(alt.X("x14:Q"), alt.X2("x24:Q"), y, strokeWidth=alt.value(3))
    text = base.mark_text(
        align="left",
        baseline="middle",
        fill=colours.INK.light,
        fontWeight={"expr": "datum.weight"},
        limit=LONGEST,
    )
    return [thread, key, text.encode(alt.X("x30:Q"), y, alt.Text("name:N"))]


def spread(wanted: Sequence[float], gap: float, end: float) -> list[float]:
    """Places in the same order, at least a gap apart, near where they are wanted.

    Labels that would touch are pooled and set around the mean of their wishes.
    """
    order = sorted(range(len(wanted)), key=lambda place: round(wanted[place] / gap))
    pools: list[tuple[float, list[int]]] = []  # first place, and whose
    for place in order:
        start, pool = wanted[place], [place]
        while pools and pools[-1][0] + gap * len(pools[-1][1]) > start:
            pool = pools.pop()[1] + pool
            wishes = (wanted[one] - gap * rank for rank, one in enumerate(pool))
            start = sum(wishes) / len(pool)
            # Not beyond the chart's edges, as far as there is room.
            start = max(0.0, min(start, end - gap * (len(pool) - 1)))
        pools.append((start, pool))
    placed = {
        one: start + gap * rank
        for start, pool in pools
        for rank, one in enumerate(pool)
    }
    return [placed[place] for place in range(len(wanted))]


def heat_map(
    shares: Mapping[tuple[str, str], float], rows: Sequence[str], columns: Sequence[str]
) -> Chart:
    """Shares of the oracle by row (strategy) and column (topic), as figures too."""
    alt = altair()
    # Rows and columns come in the order of the data; names in a sort would be code.
    values = [
        {"row": row, "column": column, **cell(shares.get((row, column)))}
        for row in rows
        for column in columns
    ]
    many = len(columns) > 8
    axis = alt.Axis(title=None, labelLimit=LONGEST, labelOverlap=False, domain=False)
    across = axis.copy()
    across.orient, across.labelAngle = "top", -50 if many else 0
    base = alt.Chart(data(values)).encode(
        x=alt.X("column:N", sort=None, axis=across),
        y=alt.Y("row:N", sort=None, axis=axis),
    )
    cells = base.mark_rect(stroke=colours.PAPER.light)
    texts = base.mark_text(fontSize=12)
    layers = [
        cells.encode(fill=alt.Fill("fill:N", scale=None)),
        texts.encode(fill=alt.Fill("ink:N", scale=None), text=alt.Text("told:N")),
    ]
    widest = max((len(column) for column in columns), default=0)
    wide = 44 if many else max(58, 7 * min(widest, 28) + 10)
    chart = alt.layer(*layers).properties(width=alt.Step(wide), height=alt.Step(22))
    return finished(chart)


def cell(share: float | None) -> dict[str, str]:
    """A share in words and colours; nothing for none."""
    if share is None:
        paper = colours.PAPER.light
        return {"told": "", "fill": paper, "ink": paper}
    step = min(int(share * len(colours.HEAT)), len(colours.HEAT) - 1)
    text = colours.ON_STRONG if step >= colours.STRONG else colours.ON_PALE
    return {
        "told": f"{share:.0%}",
        "fill": colours.HEAT[step].light,
        "ink": text.light,
    }


def finished(chart: Chart) -> Chart:
    """A chart with the manners of all our charts: quiet axes, no boxes."""
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
    """A file that is light or dark as its surroundings are."""
    head, tag_end, rest = drawn.partition(">")
    style = f"<style>{colours.dark_chart()}</style>"
    path.write_text(head + tag_end + style + rest, encoding="utf-8")


def write_png(drawn: str, path: Path) -> None:
    """A picture of a chart, on light paper."""
    import vl_convert

    path.write_bytes(vl_convert.svg_to_png(drawn, scale=SHARPNESS))
