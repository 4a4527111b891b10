"""The page of a comparison over several webs: their means, then each web on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from opilio.lab.perfect_judge import PERFECT
from opilio.lab.report.figures import REFERENCES, Findings
from opilio.lab.report.glossary import reading_list
from opilio.lab.report.header import (
    DEFAULT_IS,
    conditions_in_words,
    facts_list,
    theme_switch,
    topics_in_words,
)
from opilio.lab.report.html import Html, tag
from opilio.lab.report.page import (
    CAPTIONS,
    document,
    duels_parts,
    heat_figure,
    lines_key,
    run_section,
    section,
)
from opilio.lab.report.stages import stages_table
from opilio.lab.report.standings import StandingsEntry
from opilio.lab.report.tables import (
    bar,
    name_cell,
    numbers_table,
    percent,
    standings_table,
    wide,
)
from opilio.lab.runs import About, WebFacts
from opilio.strategies import DEFAULT


class OfWeb(NamedTuple):
    """What was found on one web, with its charts."""

    facts: WebFacts
    found: Findings
    charts: Mapping[str, Html]  # recall, recall-narrow and topics


class MeanShare(NamedTuple):
    """An entry's share of the oracle on each web, and the mean over webs."""

    entry: StandingsEntry
    shares: Sequence[float | None]  # None: it was not tried there
    mean: float


def means(webs: Sequence[Findings]) -> list[MeanShare]:
    """Every entry, best mean over webs first; each web counts the same."""
    known = [{row.entry: row.of_oracle for row in found.rows} for found in webs]
    entries = dict.fromkeys(entry for shares in known for entry in shares)
    found = []
    for entry in entries:
        shares = [of_web.get(entry) for of_web in known]
        mean = fmean(share for share in shares if share is not None)
        found.append(MeanShare(entry, shares, mean))
    return sorted(found, key=lambda row: (None in row.shares, -row.mean, row.entry))


def several_page(found: Findings, webs: Sequence[OfWeb], about: About) -> str:
    """The whole page; `found` is about the runs of all webs together."""
    rows = means([web.found for web in webs])
    sections = [
        header(found, rows, webs, about),
        means_section(found, rows, webs),
        *(web_section(number, web) for number, web in enumerate(webs, 1)),
        section("duels", "Pairwise comparisons over all topics", *duels_parts(found)),
        run_section(found, about),
    ]
    return document(about.title, sections)


def header(
    found: Findings, rows: Sequence[MeanShare], webs: Sequence[OfWeb], about: About
) -> Html:
    """What was compared, and which entry has the best mean over the webs."""
    strategies = len({entry.strategy for entry in found.runs})
    return tag(
        "header",
        theme_switch(),
        tag("h1", f"{strategies} strategies compared on {len(webs)} webs"),
        tag("p", *lead(found, rows, webs), class_="lead"),
        facts_list(found, about),
        tag("p", "Conditions: ", conditions_in_words(found.all_runs, about), "."),
    )


def lead(
    found: Findings, rows: Sequence[MeanShare], webs: Sequence[OfWeb]
) -> list[object]:
    """The first and the default strategy, in words."""
    honest = [row for row in rows if row.entry.judge != PERFECT] or list(rows)
    first = honest[0]
    each = ", ".join(
        f"{share:.0%} on {web.facts.name}"
        for share, web in zip(first.shares, webs, strict=True)
        if share is not None
    )
    parts: list[object] = [
        tag("strong", found.names[first.entry]),
        f" comes first in the mean of the webs, with {first.mean:.0%} of what an "
        f"oracle reaches that knows every link and every label: {each}.",
    ]
    usual = [row for row in honest if row.entry.strategy == DEFAULT]
    if usual and usual[0] is not first:
        place = honest.index(usual[0]) + 1
        parts += [
            " ",
            tag("strong", found.names[usual[0].entry]),
            f", {DEFAULT_IS}, is number {place} of {len(honest)} with "
            f"{usual[0].mean:.0%}.",
        ]
    return parts


def means_section(
    found: Findings, rows: Sequence[MeanShare], webs: Sequence[OfWeb]
) -> Html:
    """The share of the oracle by strategy and web."""
    columns = ("strategy", "mean of the webs", *(web.facts.name for web in webs))
    head = tag("tr", *(tag("th", name, scope="col") for name in columns))
    body = [
        tag(
            "tr",
            name_cell(found.names[row.entry], row.entry),
            tag("td", bar(row.mean), class_="share"),
            *(tag("td", percent(share)) for share in row.shares),
            class_="reference" if row.entry.strategy in REFERENCES else None,
        )
        for row in rows
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body), class_="rank")
    return section(
        "webs",
        "Results on each web",
        tag(
            "p",
            "Share of the oracle's AURC: the mean over the topics of a web, and the "
            "mean over webs, each of which counts the same.",
        ),
        wide(table),
        tag("h3", "What the columns mean"),
        reading_list(),
    )


def web_section(number: int, web: OfWeb) -> Html:
    """Everything about one web."""
    facts, found, charts = web
    narrow = tag("div", charts["recall-narrow"], role="img", aria_label="recall")
    recall = tag(
        "figure",
        tag(
            "div",
            charts["recall"],
            class_="chart wide-only",
            role="img",
            aria_label="recall",
        ),
        tag("div", narrow, lines_key(found, "recall"), class_="chart narrow"),
        tag("figcaption", CAPTIONS["recall"]),
    )
    return section(
        f"web-{number}",
        f"{facts.name}: {facts.title}",
        tag(
            "p",
            f"{facts.pages:,} pages, {facts.links:,} links. Topics (R, their targets "
            f"in reach): {topics_in_words(found.all_runs)}.",
        ),
        standings_table(found),
        tag("h3", "By stage of the crawl: targets found, as a share of the oracle’s"),
        stages_table(found),
        recall,
        heat_figure(charts["topics"]),
        tag(
            "details",
            tag("summary", "Pairwise comparisons on this web"),
            *duels_parts(found),
        ),
        tag(
            "details",
            tag("summary", "The figures of the recall curves"),
            numbers_table(found),
        ),
    )
