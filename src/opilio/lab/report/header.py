"""Writes the head of a report: what was compared, and which strategy came first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean

from opilio.lab.perfect_judge import PERFECT
from opilio.lab.report.figures import Findings
from opilio.lab.report.html import Html, tag
from opilio.lab.report.standings import Standing
from opilio.lab.runs import About, Run
from opilio.strategies import DEFAULT

DEFAULT_IS = "the default strategy"
GIVEN = ("examples", "counterexamples", "labels")  # to each crawl
THEMES = ("auto", "light", "dark")


def header(found: Findings, about: About) -> Html:
    """What was compared and the result, in a few words."""
    runs = found.all_runs
    strategies = len({entry.strategy for entry in found.runs})
    return tag(
        "header",
        theme_switch(),
        tag("h1", f"{about.title or about.web}: {strategies} strategies compared"),
        tag("p", *lead(found), class_="lead"),
        facts_list(found, about),
        tag("p", "Conditions: ", conditions_in_words(runs, about), "."),
        tag("p", "Topics (R, their targets in reach): ", topics_in_words(runs), "."),
    )


def facts_list(found: Findings, about: About) -> Html:
    """How much was compared, in numbers."""
    runs = found.all_runs
    entries = len(found.rows)
    strategies = len({entry.strategy for entry in found.runs})
    facts: list[tuple[str, object]] = [
        ("pages", f"{about.pages:,}"),
        ("links", f"{about.links:,}"),
        ("strategies", strategies),
        ("topics", len({(run.task.web, run.task.topic) for run in runs})),
        ("runs", f"{len(runs):,}"),
    ]
    facts += [
        (name, most)
        for name in GIVEN
        if (most := max(getattr(run.task, name) for run in runs))
    ]
    if entries != strategies:
        facts.insert(3, ("combinations", entries))
    figures = [tag("div", tag("dt", name), tag("dd", what)) for name, what in facts]
    return tag("dl", *figures, class_="facts")


def conditions_in_words(runs: Sequence[Run], about: About) -> str:
    """The simulated conditions, and how long the crawls would have taken."""
    if not any(run.hours for run in runs):
        return about.conditions
    hours = fmean(run.hours for run in runs)
    return f"{about.conditions}; {hours:.2f} hours a run in the mean"


def lead(found: Findings) -> list[object]:
    """The first and the default strategy, in words."""
    first = contenders(found)[0]
    parts: list[object] = [
        tag("strong", found.names[first.entry]),
        f" comes first, with {first.of_oracle:.0%} of the result of an oracle that "
        f"knows every link and every label (AURC {first.aurc:.3f}).",
    ]
    row = default_row(found)
    if row is None:
        return parts
    if row is first:
        name = found.names[row.entry]
        return [*parts, f" {name} is also {DEFAULT_IS}."]
    place = contenders(found).index(row) + 1
    return [
        *parts,
        " ",
        tag("strong", found.names[row.entry]),
        f", {DEFAULT_IS}, is number {place} of {len(contenders(found))} "
        f"with {row.of_oracle:.0%}.",
    ]


def default_row(found: Findings) -> Standing | None:
    """The result of the default strategy."""
    rows = [row for row in contenders(found) if row.entry.strategy == DEFAULT]
    return rows[0] if rows else None


def contenders(found: Findings) -> list[Standing]:
    """The entries, best first, without those whose judge knows the labels."""
    honest = [row for row in found.rows if row.entry.judge != PERFECT]
    return honest or found.rows


def topics_in_words(runs: Iterable[Run]) -> str:
    """Each topic with the number of its targets, or from fewest to most."""
    sizes: dict[str, list[int]] = {}
    for run in runs:
        sizes.setdefault(run.task.topic, []).append(run.R)
    return ", ".join(
        f"{topic} ({span(min(own), max(own))})" for topic, own in sizes.items()
    )


def span(least: int, most: int) -> str:
    """A number, or two if they differ."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def theme_switch() -> Html:
    """Three buttons for the colours; they work without a script."""
    buttons = [
        tag(
            "label",
            tag(
                "input",
                type="radio",
                name="theme",
                id=theme,
                checked="" if theme == THEMES[0] else None,
            ),
            theme,
        )
        for theme in THEMES
    ]
    return tag("fieldset", *buttons, class_="theme", aria_label="Colours")
