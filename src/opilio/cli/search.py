"""`opilio search`: a query in; the pages of a crawl that answer it out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from opilio.cli.terminal import foreign, plain, stderr, stdout
from opilio.search.find import Answer, Hit
from opilio.searching import open_search, remember_query
from opilio.store.folder import CrawlFolder


def search(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words; also "a phrase", -word, site:HOST, lang:CODE, '
            "after:YYYY-MM-DD.",
        ),
    ],
    page: Annotated[int, typer.Option(help="Which page of results.")] = 1,
    size: Annotated[int, typer.Option(help="Results on a page.")] = 10,
    no_log: Annotated[
        bool, typer.Option("--no-log", help="Do not let the crawl follow this query.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Search the pages of a crawl, also while it runs."""
    text = " ".join(query)
    crawl = CrawlFolder(folder)
    with open_search(
        crawl, lambda told: stderr.print(Text(told), soft_wrap=True)
    ) as it:
        answer = it.search(text, page, size)
    if not no_log:
        remember_query(crawl, text)
    if as_json:
        typer.echo(msgspec.json.encode(answer).decode())
    else:
        show(answer, size)


def tell(message: str) -> None:
    """Say what takes so long."""
    stderr.print(Text(message), soft_wrap=True)


def show(answer: Answer, size: int) -> None:
    """Print an answer for a person."""
    if answer.concepts:
        names = ", ".join(answer.concepts)
        stdout.print(Text("taken to be about: ", "dim") + foreign(names))
    if answer.suggestion:
        stdout.print(Text("did you mean: ") + foreign(answer.suggestion, style="bold"))
    if not answer.total:
        stdout.print("No page of this crawl answers that.")
        return
    first = (answer.page - 1) * size + 1
    for number, hit in enumerate(answer.hits, first):
        show_hit(number, hit)
    last = first + len(answer.hits) - 1
    if answer.hits:
        told = f"{first:,} to {last:,} of {answer.total:,}"
        more = f"; more: --page {answer.page + 1}" if last < answer.total else ""
        stdout.print(Text(f"\n{told}{more}", "dim"))
    else:
        stdout.print(f"There are only {answer.total:,} results.")


def show_hit(number: int, hit: Hit) -> None:
    """Print one result."""
    title = foreign(hit.title or hit.url, 100, "bold")
    stdout.print(Text(f"\n{number:>3}  ") + title)
    stdout.print(Text("     ") + foreign(hit.url, style="cyan"), soft_wrap=True)
    if hit.snippet:
        stdout.print(passage(hit), soft_wrap=False)
    facts = [f"score {hit.score:.2f}", f"relevance {hit.relevance:.2f}"]
    if hit.copies:
        facts.append(f"{len(hit.copies)} more with the same text")
    stdout.print(Text(f"     {', '.join(facts)}", "dim"))


def passage(hit: Hit) -> Text:
    """The snippet, its hits in another style; never read as markup."""
    text = Text("     ")
    for piece in hit.snippet:
        text.append(plain(piece.text), "bold yellow" if piece.hit else "")
        text.append(" ")
    return text
