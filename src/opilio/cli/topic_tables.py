"""Prints the tables of a topic, for people or as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stdout
from opilio.records import Subject
from opilio.text.words import Vocabulary
from opilio.topic import Topic
from opilio.topic.rules import ClassRules
from opilio.topic.weight_table import QueryWeights

ROWS = 30  # of a table, unless all are asked for
MOST_TARGETS = 8  # in the heading of a table
BELOW = 5  # terms shown below the threshold
BAR = 20  # characters
LONGEST = 48  # characters of a name


def tables_of(
    topic: Topic, subject: Subject, log: QueryWeights | None, rules: ClassRules | None
) -> dict[str, Any]:
    """The tables by name, with terms as people write them."""
    tables: dict[str, Any] = {
        "name": topic.name,
        "language": subject.language,
        "weights": by_terms(subject, subject.weights),
        "importance": by_terms(subject, subject.importance),
        "rules": [rule._asdict() for rule in rules.rows()] if rules else [],
        "targets": list(subject.targets),
        "examples": {
            "relevant": len(subject.relevant),
            "irrelevant": len(subject.irrelevant),
        },
    }
    if log:
        counted = log.by_key()
        rest = {k: w for k, w in log.state.items() if k not in counted}
        tables["query_log"] = {
            "queries": log.queries,
            "terms": len(log.state),
            "below": {log.forms[key]: rest[key] for key in list(rest)[:BELOW]},
        }
    return tables


def by_terms(subject: Subject, table: Mapping[str, float]) -> dict[str, float]:
    """A table by the terms themselves, the greatest first."""
    key = Vocabulary((), subject.language).key
    words: dict[str, str] = {}
    for term in subject.terms:
        words.setdefault(key(term), term)
    ordered = sorted(table.items(), key=lambda item: (-item[1], item[0]))
    return {words[term]: weight for term, weight in ordered}


def show(tables: Mapping[str, Any], *, everything: bool = False) -> None:
    """Print the tables; long ones only in part, unless `everything`."""
    most = None if everything else ROWS
    stdout.print(foreign(tables["name"], style="bold"))
    log = tables.get("query_log")
    below = log["below"] if log else {}
    if tables["weights"] or not tables["importance"]:
        show_weights("Weight table", tables["weights"], below, most=most)
    if log:
        stdout.print(
            f"  {log['queries']:,} queries with {log['terms']:,} terms", style="dim"
        )
    if tables.get("ontologies"):
        from opilio.cli.topic_ontologies import show_ontologies  # few topics have one

        show_ontologies(tables["ontologies"])
    if tables["importance"]:
        heading = f"Importance table: {named(tables['targets'])}"
        show_weights(heading, tables["importance"], most=most)
    if tables["rules"]:
        show_rules(tables["rules"], most)
    examples = tables["examples"]
    if any(examples.values()):
        stdout.print(
            f"\n[bold]Examples[/]: {examples['relevant']:,} relevant, "
            f"{examples['irrelevant']:,} irrelevant pages"
        )


def named(targets: Sequence[str]) -> str:
    """The classes that are sought; some of them, if there are many."""
    names = ", ".join(targets[:MOST_TARGETS])
    rest = len(targets) - MOST_TARGETS
    return f"{names} and {rest:,} more" if rest > 0 else names


def show_weights(
    title: str,
    weights: Mapping[str, float],
    below: Mapping[str, float] | None = None,
    *,
    most: int | None = None,
) -> None:
    """Terms with their weights, the greatest first; dim if they do not count."""
    stdout.print()
    stdout.print(foreign(title, style="bold"), soft_wrap=True)
    shown = list(weights.items())[:most]
    rows = [(weight, term, "") for term, weight in shown]
    rows += [(w, term, "below the threshold") for term, w in (below or {}).items()]
    print_rows(rows)
    show_rest(len(weights) - len(shown))


def show_rest(rest: int) -> None:
    """How many rows of a table were left out, and how to see them."""
    if rest:
        told = f"  … and {rest:,} more; `opilio topic show TOPIC.toml --all` shows them"
        stdout.print(told, style="dim", soft_wrap=True)


def show_rules(rules: Sequence[Mapping[str, Any]], most: int | None = None) -> None:
    """How likely a page of one class links to one of another."""
    stdout.print()
    stdout.print("[bold]Rules[/]: where the links on pages of a class lead")
    shown = rules[:most]
    print_rows(
        [
            (rule["probability"], f"{rule['source']} → {rule['target']}", "")
            for rule in shown
        ]
    )
    show_rest(len(rules) - len(shown))


def print_rows(rows: Sequence[tuple[float, str, str]]) -> None:
    """Numbers, names and notes: a chart on a terminal, lines with tabs elsewhere."""
    most = max((number for number, _, _ in rows), default=0.0) or 1.0
    if not stdout.is_terminal:
        for number, name, note in rows:
            # Not with rich, which turns tabs into spaces.
            typer.echo(f"{number:.3f}\t{plain(name)}\t{note}".rstrip())
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", width=8)
    table.add_column(max_width=LONGEST)
    table.add_column(style="green", no_wrap=True)
    for number, name, note in rows:
        bar = Text(note, "dim") if note else "━" * round(number / most * BAR)
        style = "dim" if note else ""
        table.add_row(Text(f"{number:.3f}", style), foreign(name, style=style), bar)
    stdout.print(table)
