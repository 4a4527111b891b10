"""Assembles the self-contained HTML page of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

from opilio.lab.report import colours
from opilio.lab.report.curve_points import topic_of
from opilio.lab.report.duels import duels_in_words, duels_table, fight, warning
from opilio.lab.report.figures import PLOTS, Findings, chosen
from opilio.lab.report.glossary import reading_list
from opilio.lab.report.header import contenders, default_row, header
from opilio.lab.report.html import Html, joined, tag
from opilio.lab.report.stages import stages_table
from opilio.lab.report.standings import StandingsEntry, distinct_tasks
from opilio.lab.report.tables import (
    numbers_table,
    rows_table,
    standings_table,
    written,
)
from opilio.lab.runs import About, Run

# The page loads nothing and runs no script, whatever the names in it contain.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"

CAPTIONS = {
    "recall": "Share of a topic's R targets found, mean over topics. Bands, of the "
    "first and of breadth-first, are 95 % intervals of that mean; topics differ, so "
    "bands may overlap where the paired comparison below is clear.",
    "harvest": "Share of all requests so far that found a new target.",
    "window": "The same over a sliding window: what a crawl still finds as it "
    "continues. Where the oracle falls, everything has been found.",
}
TITLES = {
    "recall": "Recall over requests",
    "harvest": "Harvest rate over requests",
    "window": "Harvest rate in a sliding window",
}


def page(
    found: Findings,
    about: About,
    charts: Mapping[str, Html],
    small: Mapping[StandingsEntry, Html],
) -> str:
    """The whole page; `charts` are SVG by name, `small` those of each entry."""
    title = about.title or about.web
    sections = [
        header(found, about),
        standings_section(found),
        stages_section(found),
        *(curves_section(found, name, charts) for name in TITLES if name in charts),
        multiples_section(found, small),
        topics_section(charts["topics"]),
        duels_section(found),
        section(
            "numbers",
            "The figures of the recall curves",
            tag("details", tag("summary", "Show the table"), numbers_table(found)),
        ),
        run_section(found, about),
    ]
    return document(title, sections)


def document(title: str, sections: Sequence[Html]) -> str:
    """A page of these sections, the first of which is its header."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title}: strategies compared"),
        tag("style", Html(style())),
    )
    body = tag("body", sections[0], tag("main", *sections[1:]))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def style() -> str:
    """The colours, the page's own style, and the colours of its charts."""
    sheet = files("opilio.lab.report").joinpath("page.css").read_text(encoding="utf-8")
    return colours.variables() + sheet + colours.variable_charts()


def section(name: str, title: str, *parts: object) -> Html:
    """A part of the page that can be linked to."""
    return tag("section", tag("h2", title), *parts, id=name)


def standings_section(found: Findings) -> Html:
    """The table, with its explanation."""
    notes = [
        "Figures are means over topics of the means over their runs; requests to 50, "
        "80 and 90 % and the target length are medians. "
    ]
    missing = sum(
        len(found.all_runs) // len(found.rows) != row.runs for row in found.rows
    )
    if missing:
        notes.append("Not all rows have the same runs; compare them with care. ")
    if found.left_out:
        notes.append(f"{found.left_out} runs had no target in reach and are left out.")
    return section(
        "standings",
        "Results",
        tag("p", "Sorted by the share of the oracle's AURC."),
        standings_table(found),
        tag("p", *notes, class_="note"),
        tag("h3", "What the columns mean"),
        reading_list(),
    )


def stages_section(found: Findings) -> Html:
    """The results of each entry in each stage."""
    return section(
        "stages",
        "By stage of the crawl",
        tag(
            "p",
            "Targets found by the end of each stage as a share of what the oracle has "
            "found by then: after the first 50 requests, after R and after 3R.",
        ),
        stages_table(found),
    )


def curves_section(found: Findings, name: str, charts: Mapping[str, Html]) -> Html:
    """A chart of curves, in two widths, of which one is shown."""
    narrow = tag("div", charts[f"{name}-narrow"], role="img", aria_label=name)
    both = [
        tag("div", charts[name], class_="chart wide-only", role="img", aria_label=name),
        tag("div", narrow, lines_key(found, name), class_="chart narrow"),
    ]
    caption = tag("figcaption", CAPTIONS[name])
    return section(name, TITLES[name], tag("figure", *both, caption))


def lines_key(found: Findings, name: str) -> Html:
    """The legend of a chart, for when there is no room beside its lines."""
    called = {colour: variable for variable, colour in colours.COLOURS.items()}
    lines = [
        tag(
            "li",
            tag("span", class_="key", style=f"border-color:var(--{called[colour]})"),
            found.names[entry],
        )
        for entry, colour in chosen(found, PLOTS[name].shown)
    ]
    lines.append(tag("li", tag("span", class_="key best"), "oracle"))
    return tag("ul", *lines, class_="keys")


def multiples_section(found: Findings, small: Mapping[StandingsEntry, Html]) -> Html:
    """A small chart of every entry."""
    key = [
        tag("span", class_="key own"),
        "the strategy, ",
        tag("span", class_="key breadth"),
        "breadth-first, ",
        tag("span", class_="key best"),
        "the oracle; recall over requests in multiples of R.",
    ]
    charts = []
    for row in found.rows:
        name = found.names[row.entry]
        share = tag("small", f" {row.of_oracle:.0%} of the oracle")
        chart = tag("div", small[row.entry], role="img", aria_label=f"recall of {name}")
        caption = tag("figcaption", name, share, title=written(row.entry))
        charts.append(tag("figure", caption, chart))
    grid = tag("div", *charts, class_="multiples")
    return section("each", "Each strategy", tag("p", *key, class_="note"), grid)


def topics_section(chart: Html) -> Html:
    """Shares by topic."""
    return section("topics", "Results by topic", heat_figure(chart))


def heat_figure(chart: Html) -> Html:
    """The heat map."""
    caption = "Share of the oracle's AURC, mean over the runs of a topic."
    picture = tag("div", chart, class_="heat", role="img", aria_label=caption)
    return tag("figure", picture, tag("figcaption", caption))


def duels_section(found: Findings) -> Html:
    """The pairwise comparisons."""
    return section("duels", "Pairwise comparisons", *duels_parts(found))


def duels_parts(found: Findings) -> list[Html]:
    """A table of duels for each kind of seeds, and two entries in words."""
    note = (
        "Differences in AURC are taken task by task. A strategy beats another only if "
        "the 95 % interval of the mean difference d̄ over topics lies above zero. "
        "Beside it are d̄ [low, high] and p by Wilcoxon's signed ranks, corrected by "
        "Holm for the number of pairs; in the table they are tooltips. "
    )
    topics = len({topic_of(run) for run in found.all_runs})
    if topics == 1:
        note += "With one topic, only its repetitions are compared. "
    duels = fight(found)
    parts = [tag("p", note)]
    warned = warning(duels, topics)
    if warned:
        parts.append(tag("p", tag("strong", warned)))
    told = dict.fromkeys(row.entry for row in contenders(found)[:1])
    usual = default_row(found)
    if usual:
        told[usual.entry] = None
    parts += [
        duels_in_words(found, duels[entry.seeds_mode], entry)
        for entry in told
        if duels[entry.seeds_mode]
    ]
    for mode, of_mode in duels.items():
        if len(duels) > 1:
            parts.append(tag("h3", f"Seeds: {mode}"))
        parts.append(duels_table(found, of_mode))
    return parts


def run_section(found: Findings, about: About) -> Html:
    """What is needed to repeat the comparison."""
    runs = found.all_runs
    budgets = sorted({run.budget for run in runs})
    rows: list[tuple[str, object]] = [
        ("command", tag("code", about.command)),
        ("web", webs_in_words(about)),
        ("judges", ", ".join(sorted({run.task.judge for run in runs}))),
        ("seeds", ", ".join(sorted({run.task.seeds_mode for run in runs}))),
        ("conditions", about.conditions),
        ("repetitions", len({run.task.repeat for run in runs})),
        ("given to each crawl", given_in_words(runs)),
        ("requests a run", f"{budgets[0]:,} to {budgets[-1]:,} at most"),
        ("versions", ", ".join(f"{name} {v}" for name, v in about.versions.items())),
        ("begun", about.started),
        ("took", f"{about.seconds:,.0f} s on {about.cores} cores"),
    ]
    return section("run", "What was run", rows_table(rows), seeds_table(runs))


def webs_in_words(about: About) -> str:
    """The web, or each of several, with its size."""
    sizes = [(web.name, web.pages, web.links) for web in about.webs]
    return "; ".join(
        f"{name}: {pages:,} pages, {links:,} links"
        for name, pages, links in sizes or [(about.web, about.pages, about.links)]
    )


def given_in_words(runs: list[Run]) -> str:
    """What crawls were given beyond the topic, and how many labels they took."""
    task = runs[0].task
    parts = ["the topic and its seeds"]
    if task.examples or task.counterexamples:
        parts.append(
            f"{task.examples} relevant and {task.counterexamples} irrelevant example "
            "pages, which are not targets"
        )
    if task.labels:
        taken = [run.labels_given for run in runs]
        parts.append(
            f"at most {task.labels} labels while it ran (taken: {min(taken)} to "
            f"{max(taken)}; 0 where neither judge nor strategy learns from labels)"
        )
    return "; ".join(parts)


def seeds_table(runs: list[Run]) -> Html:
    """The seeds of the crawls, each task once."""
    several = len({run.task.web for run in runs}) > 1
    rows = []
    for run in distinct_tasks(runs).values():
        task = run.task
        name = f"{task.topic}, {task.seeds_mode}, repetition {task.repeat + 1}"
        seeds = joined(*(joined(tag("code", seed), tag("br")) for seed in run.seeds))
        rows.append((f"{task.web}: {name}" if several else name, seeds))
    return tag("details", tag("summary", "Seeds of each task"), rows_table(rows))
