"""Writes the outcomes of experiments as tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

from opilio.lab.reproduce.experiment import ClaimOutcome, Finding, Mean

SHARES_BELOW = 1.5  # figures above it are counts


def markdown(outcomes: Sequence[ClaimOutcome]) -> str:
    """Everything, an experiment a section."""
    return "\n".join(line for outcome in outcomes for line in section(outcome))


def section(outcome: ClaimOutcome) -> Iterator[str]:
    """The table of arms, the findings on each claim, and the verdict."""
    yield f"## {outcome.letter}, {outcome.kind}: {outcome.paper}\n"
    yield f"{'; '.join(outcome.webs)}.\n"
    yield row(["", *outcome.measures])
    yield row(["---"] * (1 + len(outcome.measures)))
    for arm, means in outcome.table.items():
        figures = [figure(means.get(measure)) for measure in outcome.measures]
        yield row([arm, *figures])
    yield ""
    yield row(["claim", "measure", "difference, 95 %", "wins–ties–losses", "verdict"])
    yield row(["---"] * 5)
    for each in outcome.findings:
        yield row(claimed(each))
    yield f"\n{outcome.letter}: **{outcome.verdict}**\n"


def row(cells: Sequence[str]) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"


def figure(mean: Mean | None) -> str:
    """A mean and its interval; a single group has none."""
    if mean is None:
        return "–"
    form = number if mean.value > SHARES_BELOW else share
    if isinf(mean.low) or mean.low == mean.high:
        return form(mean.value)
    return f"{form(mean.value)} ({form(mean.low)}–{form(mean.high)})"


def share(value: float) -> str:
    """A share, or a difference of shares."""
    return f"{value:.3f}"


def number(value: float) -> str:
    """A count of pages or links."""
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def claimed(each: Finding) -> list[str]:
    """The row of a claim; those that are not the paper's are in brackets."""
    paired = each.paired
    text = each.claim.text if each.claim.main else f"({each.claim.text})"
    return [
        text,
        each.claim.measure,
        f"{paired.mean:+.3f} ({paired.low:+.3f} to {paired.high:+.3f})",
        f"{paired.wins}–{paired.ties}–{paired.losses}",
        str(each.verdict),
    ]
