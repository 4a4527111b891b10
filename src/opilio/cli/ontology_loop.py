"""`opilio ontology propose|accept|reject|edit`: improves an ontology from a crawl."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.text import Text

from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stderr, stdout
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    from opilio.assembly.ontology_loop import Loop
    from opilio.topic.ontology import Proposal

SHOWN = 20  # proposals of a kind
TITLES = {"term": "New terms", "label": "New labels", "relation": "New relations"}

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
]
NamesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NUMBER|TERM…", help="Of the last list: 3, 1-5, or a term itself."
    ),
]


def propose(
    folder: FolderArgument,
    most: Annotated[
        int, typer.Option(min=1, max=500, help="Proposals of each kind.")
    ] = SHOWN,
    pages: Annotated[
        int, typer.Option(min=3, help="Read so many of the best pages.")
    ] = 500,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List terms, labels and relations that the ontology of a crawl lacks.

    They come from the relevant pages of the crawl, best first, each with the sentences
    that support it. Decide with accept, reject and edit.

    Example:

        opilio ontology propose my-crawl
    """
    loop = open_loop(folder)
    with stderr.status("Reading the relevant pages.") as status:
        found = loop.propose(
            most, pages, lambda done: status.update(f"Reading: {done:,} pages")
        )
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    show_proposals(found)
    if found:
        told = f"\nopilio ontology accept {shlex.quote(str(folder))} 1 2-4 adds some"
        stdout.print(Text(told, "dim"), soft_wrap=True)


def accept(folder: FolderArgument, names: NamesArgument) -> None:
    """Add proposals to the ontology of a crawl; a resumed crawl uses it.

    The new file is DIR/ontology/NAME.ttl; the first file stays as it is.

    Example:

        opilio ontology accept my-crawl 1 3-5 "solar wind"
    """
    chosen, files = open_loop(folder).accept(names)
    for one in chosen:
        stdout.print(Text("added    ", "green") + statement(one), soft_wrap=True)
    for file in files:
        stdout.print(foreign(f"Written: {file}"), soft_wrap=True)
    place = shlex.quote(str(folder))
    told = (
        f"opilio crawl {place} uses it from now on; opilio rejudge {place} judges the "
        "pages so far again"
    )
    stdout.print(Text(told, "dim"), soft_wrap=True)


def reject(folder: FolderArgument, names: NamesArgument) -> None:
    """Never propose these again.

    Example:

        opilio ontology reject my-crawl 2 7
    """
    for one in open_loop(folder).reject(names):
        stdout.print(Text("rejected ", "red") + statement(one), soft_wrap=True)


def edit(
    folder: FolderArgument,
    name: Annotated[
        str, typer.Argument(metavar="NUMBER|TERM", help="A number or term of the list.")
    ],
    term: Annotated[
        str, typer.Option(metavar="WORDS", help="Spell the term like this.")
    ] = "",
    relation: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="is-a, part-of, has, related, or label: another name."
        ),
    ] = "",
    concept: Annotated[
        str, typer.Option(metavar="TERM", help="Relate it to this concept.")
    ] = "",
) -> None:
    """Change a proposal before it is accepted.

    Example:

        opilio ontology edit my-crawl 3 --relation is-a --concept stars
    """
    if not (term or relation or concept):
        raise BadInput("nothing to change; give --term, --relation or --concept")
    made = open_loop(folder).edit(name, term=term, relation=relation, concept=concept)
    stdout.print(Text("proposed ", "yellow") + statement(made), soft_wrap=True)


def open_loop(folder: Path) -> Loop:
    """The proposals of a crawl, and what was decided about them."""
    from opilio.assembly.ontology_loop import Loop  # its libraries take their time

    return Loop(CrawlFolder(folder))


def statement(proposal: Proposal) -> Text:
    """A proposal in a few words."""
    relation = "another name of" if proposal.kind == "label" else proposal.relation
    return Text.assemble(
        (plain(proposal.term), "bold"), f"  {relation} ", plain(proposal.concept)
    )


def show_proposals(proposals: Sequence[Proposal]) -> None:
    """Print the list, numbered, with a sentence for each."""
    if not proposals:
        stdout.print("Nothing new is proposed: the pages name what the ontology has.")
    kind = ""
    for number, one in enumerate(proposals, 1):
        if one.kind != kind:
            kind = one.kind
            stdout.print(
                Text(f"{'' if number == 1 else chr(10)}{TITLES[kind]}", "bold")
            )
        pages = "1 page" if one.pages == 1 else f"{one.pages:,} pages"
        head = Text(f"{number:4}  {one.score:.2f}  ") + statement(one)
        head.append(f"  ({pages})", "dim")
        stdout.print(head, soft_wrap=True)
        for support in one.support[:1]:
            said = plain(support.sentence, 150)
            stdout.print(Text(f"            “{said}”", "dim"), soft_wrap=True)
            stdout.print(
                Text(f"            {plain(support.url)}", "dim"), soft_wrap=True
            )
