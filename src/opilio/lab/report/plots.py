"""Describes the charts of curves and shares of the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from opilio.lab.report import colours
from opilio.lab.report.colours import Colour
from opilio.lab.report.curve_points import Curve
from opilio.lab.report.drawing import Chart, altair, data, finished, shortened

LABEL = 14  # pixels from one label to the next
LONGEST = 240  # pixels of a label
LEVEL = 8  # columns of a heat map whose names need not be tilted


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
    titled: bool = True  # words along the axes


def line_chart(series: Sequence[Series], frame: Frame) -> Chart:
    """Means with their bands over requests in units of R, named where they end."""
    alt = altair()
    on_top = series[::-1]  # the best entry is drawn last, over the others
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
    """The axis of requests, up to the end of the lines."""
    scale = altair().Scale(domain=[0, furthest(series)], nice=False)
    x = altair().X("x:Q", scale=scale)
    title = "requests, in multiples of R" if frame.titled else ""
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
        title=frame.y_title if frame.titled else "",
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
    """The colours and widths of lines are in their rows."""
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
    """A number with only the digits that can be seen."""
    return round(float(value), 4)


def labels(series: Sequence[Series], frame: Frame) -> list[Chart]:
    """The name of each line at its right end, with a connecting line."""
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
    """Positions in the same order, at least a gap apart, near the wanted ones.

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
    # Rows are identified by number: shortened names may be equal, and a sort would
    # evaluate them.
    values = [
        {"row": place, "column": number, **cell(shares.get((row, column)))}
        for place, row in enumerate(rows)
        for number, column in enumerate(columns)
    ]
    x = alt.X("column:O", axis=None)
    y = alt.Y("row:O", axis=None)
    base = alt.Chart(data(values)).encode(x, y)
    cells = base.mark_rect(stroke=colours.PAPER.light)
    texts = base.mark_text()
    across = ("center", 0) if len(columns) <= LEVEL else ("left", 310)
    layers = [
        cells.encode(alt.Fill("fill:N", scale=None)),
        texts.encode(alt.Fill("ink:N", scale=None), alt.Text("told:N")),
        named("row", rows, "right").encode(y, x=alt.value(-8)),
        named("column", columns, *across).encode(x, y=alt.value(-12)),
    ]
    widest = max(len(shortened(column)) for column in columns)
    wide = max(58, 7 * widest + 10) if len(columns) <= LEVEL else 44
    chart = alt.layer(*layers).properties(width=alt.Step(wide), height=alt.Step(22))
    return finished(chart)


def named(field: str, names: Sequence[str], align: str, angle: int = 0) -> Chart:
    """Names along an edge of a heat map."""
    alt = altair()
    values = [{field: place, "name": name} for place, name in enumerate(names)]
    text = alt.Chart(data(values)).mark_text(
        align=align, angle=angle, fill=colours.QUIET.light
    )
    return text.encode(alt.Text("name:N"))


def cell(share: float | None) -> dict[str, str]:
    """A share as text and colours; nothing for None."""
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
