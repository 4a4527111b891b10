"""`opilio ontology show|relate|expand|define`: asks an ontology about its terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.cli.ontology_loop import accept, edit, propose, reject
from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stdout
from opilio.errors import BadInput
from opilio.topic.ontology import Ontology, load_ontology

SHOWN = 12  # terms of a list, unless all are asked for

ontology_app = typer.Typer(
    name="ontology",
    help="Ask an ontology about its terms, or improve it from a crawl.",
    no_args_is_help=True,
)

for command in (propose, accept, reject, edit):
    ontology_app.command()(command)

FileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="SKOS, OWL, RDFS, OBO or CSV."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AllOption = Annotated[bool, typer.Option("--all", help="Show long lists whole.")]
LanguageOption = Annotated[
    str, typer.Option(metavar="CODE", help="Prefer this language, for instance de.")
]


@ontology_app.command()
def show(
    file: FileArgument,
    terms: Annotated[
        list[str] | None,
        typer.Argument(metavar="TERM", help="Show these terms instead of a summary."),
    ] = None,
    language: LanguageOption = "",
    everything: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what an ontology has, or all that it knows of some terms.

    Examples:

        opilio ontology show thesaurus.ttl

        opilio ontology show thesaurus.ttl "solar system"
    """
    from opilio.topic.ontology.facts import describe_ontology, describe_term

    ontology = read(file)
    if not terms:
        facts = describe_ontology(ontology)
        if as_json:
            print_json(facts)
        else:
            show_ontology(facts)
        return
    found = [describe_term(ontology, term, language) for term in terms]
    if as_json:
        print_json(found)
        return
    for number, one in enumerate(found):
        if number:
            stdout.print()
        show_term(one, None if everything else SHOWN)


@ontology_app.command()
def relate(
    file: FileArgument,
    terms: Annotated[
        list[str], typer.Argument(metavar="TERM TERM…", help="Two terms or more.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Show how terms are related: the shortest way from each to the next.

    Example:

        opilio ontology relate thesaurus.ttl planets physics
    """
    from opilio.topic.ontology import canonical_term, compatible, conflicting, relations

    if len(terms) < 2:
        raise BadInput("one term was given; name two or more to relate")
    ontology = read(file)
    rows: list[dict[str, Any]] = []
    for one, other in pairwise(terms):
        steps = relations(ontology, one, other)
        name = canonical_term(ontology, other)
        rows.append(
            {
                "from": canonical_term(ontology, one),
                "to": name,
                "steps": steps,
                "compatible": name in compatible(ontology, one),
                "conflicting": name in conflicting(ontology, one),
            }
        )
    if as_json:
        print_json(rows)
        return
    for row in rows:
        show_relation(row)


@ontology_app.command()
def expand(
    file: FileArgument,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="The words of a query.")
    ],
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Add only terms of this language; may be repeated. \\[default: that "
            "of most labels]",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the terms that a search adds to a query: synonyms, kinds, what is broader.

    Example:

        opilio ontology expand thesaurus.ttl planets and comets
    """
    from opilio.topic import ontology as about

    ontology = read(file)
    asked = " ".join(query)
    languages = language or [ontology.language]
    named = about.canonical_terms(ontology, asked)
    found = about.expand(ontology, asked, languages=languages)
    if as_json:
        print_json({"concepts": named, "terms": found})
        return
    concepts = ", ".join(map(plain, named)) or "none; nothing is added"
    stdout.print(Text("Concepts  ", "bold") + Text(concepts), soft_wrap=True)
    for term, weight in found.items():
        stdout.print(Text(f"{weight:8.2f}  ") + foreign(term))


@ontology_app.command()
def define(
    file: FileArgument,
    terms: Annotated[list[str], typer.Argument(metavar="TERM…")],
    language: LanguageOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the definitions of terms, in the language you prefer if there is one.

    Example:

        opilio ontology define pizza.owl NamedPizza
    """
    from opilio.topic.ontology import canonical_term, definition

    ontology = read(file)
    found = {
        canonical_term(ontology, term): definition(ontology, term, language)
        for term in terms
    }
    if as_json:
        print_json(found)
        return
    for term, text in found.items():
        said = foreign(text) if text else Text("no definition in this file", "dim")
        said.no_wrap = False
        stdout.print(foreign(term or "", style="bold"))
        stdout.print(Text("  ") + said, soft_wrap=True)


def read(file: Path) -> Ontology:
    """The ontology in a file, or the one that the crawl in a folder uses."""
    if not file.is_dir():
        return load_ontology(file)
    from opilio.assembly.plan import load_plan
    from opilio.store.folder import CrawlFolder
    from opilio.subject.improved_ontology import with_improved

    folder = CrawlFolder(file).require()
    topic = with_improved(load_plan(folder).topic, folder)
    if topic.ontology is None:
        raise BadInput(f"{file} is a crawl without [ontology]; name an ontology file")
    return load_ontology(Path(topic.ontology.files[0]))


def print_json(value: Any) -> None:
    """Print a value for programs."""
    typer.echo(msgspec.json.encode(value).decode())


def show_ontology(facts: Any) -> None:
    """Print an ontology in numbers."""
    stdout.print(headed(facts.name, facts.source), soft_wrap=True)
    relations = [f"{count:,} {name}" for name, count in facts.relations.items()]
    rows = [
        ("concepts", f"{facts.concepts:,}"),
        ("instances", f"{facts.instances:,}" if facts.instances else ""),
        ("labels", f"{facts.labels:,}"),
        ("languages", ", ".join(facts.languages)),
        ("relations", ", ".join(relations)),
        ("on top", ", ".join(facts.tops)),
    ]
    print_rows(rows)


def show_term(facts: Any, most: int | None) -> None:
    """Print everything known about a term."""
    stdout.print(headed(facts.term, facts.id), soft_wrap=True)
    rows = [("definition", facts.definition)]
    for code, labels in facts.labels.items():
        others = [label for label in labels if label != facts.term]
        rows.append((f"labels {code}".strip(), listed(others, most)))
    rows += [(name, listed(found, most)) for name, found in facts.around.items()]
    rows += [(name, listed(found, most)) for name, found in facts.attributes.items()]
    rows.append(("compatible", listed(facts.compatible, most)))
    rows.append(("conflicting", listed(facts.conflicting, most)))
    print_rows(rows)


def headed(name: str, place: str) -> Text:
    """A name, and where it comes from."""
    return Text.assemble((plain(name), "bold"), "  ", (plain(place), "dim"))


def show_relation(row: Mapping[str, Any]) -> None:
    """Print the way from one term to another."""
    head = Text(f"{plain(row['from'])} → {plain(row['to'])}", "bold")
    for name in ("compatible", "conflicting"):
        if row[name]:
            head.append(f"  {name}", "dim")
    stdout.print(head, soft_wrap=True)
    if row["from"] == row["to"]:
        stdout.print("  they are the same concept")
    elif not row["steps"]:
        stdout.print("  no relation leads from one to the other")
    for one, relation, other in row["steps"]:
        stdout.print(Text(f"  {plain(one)} {relation} {plain(other)}"), soft_wrap=True)


def listed(terms: Sequence[str], most: int | None) -> str:
    """Terms with commas; of many only the first."""
    rest = len(terms) - most if most else 0
    shown = ", ".join(map(plain, terms[:most]))
    return f"{shown} and {rest:,} more (--all)" if rest > 0 else shown


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Names and what belongs to them, without those that have nothing."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        if value:
            table.add_row(plain(name), Text(plain(value)))
    stdout.print(table)
