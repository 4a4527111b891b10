"""`opilio search`: searches the pages of a crawl, and may fetch more for the query."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from opilio.assembly.search import logs_searches, open_search, remember_query
from opilio.cli.crawl_argument import (
    CrawlName,
    crawl_at,
    require_folder,
)
from opilio.cli.expansion import expand_search as fetch_more
from opilio.cli.plain_text import plain
from opilio.cli.plain_values import PlainCommand
from opilio.cli.terminal import foreign, stderr, stdout
from opilio.search.searcher import Answer, Hit
from opilio.sites.expander import Expansion
from opilio.store.folder import CrawlFolder, is_database

MARGIN = " " * 5
WIDEST = 100  # columns; longer lines are hard to read
ENDED = {
    "links": "; no other waiting link matches the query",
    "time": "; stopped after --expand-seconds",
    "interrupted": "; interrupted",
    "paused": "; the crawl was paused",
    "stopped": "; the crawl has stopped; resumed, it continues with the query",
}


class SearchCommand(PlainCommand):
    """Accepts `-word` as a part of the query; the only short option here is -h."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep words that begin with one dash from being parsed as options."""
        return super().parse_args(
            ctx,
            [
                f" {arg}" if re.match("-[^-]", arg) and arg != "-h" else arg
                for arg in args
            ],
        )


def search(
    folder: CrawlName,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='Words; also begin*, "a phrase", -word, site:HOST, lang:CODE, '
            "after:YYYY-MM-DD.",
        ),
    ],
    page: Annotated[int, typer.Option(help="The page of results to show.")] = 1,
    size: Annotated[int, typer.Option(help="Results per page.")] = 10,
    log: Annotated[
        bool | None,
        typer.Option(
            "--log/--no-log",
            help="Let the crawl follow this query from now on. \\[default: what the "
            "topic says (searches of \\[query_log]), else no]",
        ),
    ] = None,
    expand: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="First fetch up to N more pages for the query."
        ),
    ] = 0,
    expand_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=1, help="Time limit of --expand; Ctrl-C ends it."
        ),
    ] = 60,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="With --expand: fetch through this proxy."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search the pages of a crawl, also while it runs.

    Examples:

        opilio search my-crawl '"star cluster" -dwarf site:example.org'

        opilio search my-crawl 'star cluster' --expand 50
    """
    text = " ".join(part.strip() for part in query)
    if expand or log:
        require_folder(folder, "--expand" if expand else "--log")
    crawl = crawl_at(folder)
    answer = search_folder(crawl, text, page, size)
    logged = logs_searches(crawl) if log is None else log
    logged = logged and not is_database(folder)
    if logged:
        try:
            # A word that is new to the crawl may be spelt correctly all the same.
            remember_query(crawl, text, "" if expand else answer.suggestion)
        except OSError as error:
            tell(f"The crawl cannot follow this query: {error}; see --no-log")
    more: Expansion | None = None
    if expand:
        with stderr.status("Fetching pages; Ctrl-C shows the results so far."):
            more = fetch_more(
                crawl, text, expand, expand_seconds, proxy, logged, show_arrival
            )
        answer = search_folder(crawl, text, page, size)
    if as_json:
        typer.echo(msgspec.json.encode(for_programs(answer, more)).decode())
    else:
        show(answer, size, more.urls if more else ())
        if more:
            show_expansion(more, answer)
    if more and more.ended == "interrupted":
        raise typer.Exit(130)


def search_folder(crawl: CrawlFolder, text: str, page: int, size: int) -> Answer:
    """Search the pages that the crawl has so far."""
    with open_search(crawl) as it:
        return it.search(text, page, size)


def for_programs(answer: Answer, more: Expansion | None) -> dict[str, Any]:
    """The answer as JSON; after --expand with the new pages and the outcome."""
    told: dict[str, Any] = msgspec.to_builtins(answer)
    if more:
        new = set(more.urls)
        told["hits"] = [hit | {"new": hit["url"] in new} for hit in told["hits"]]
        told["expansion"] = msgspec.to_builtins(more)
    return told


def show_expansion(more: Expansion, answer: Answer) -> None:
    """Print the outcome of fetching more pages."""
    new = set(more.urls)
    shown = sum(hit.url in new for hit in answer.hits)
    pages = "page" if more.pages == 1 else "pages"
    parts = [
        f"{count:,} {what[count > 1]}"
        for count, what in (
            (more.kept, ("relevant", "relevant")),
            (more.irrelevant, ("not relevant", "not relevant")),
            (more.copies, ("copy", "copies")),
            (more.noindex, ("marked noindex",) * 2),
            (more.unread, ("not readable", "not readable")),
        )
        if count
    ]
    told = f"{more.pages:,} {pages} fetched"
    told += f": {', '.join(parts)}" if parts else ""
    if more.pages:
        told += f"; {shown:,} of them among the results above"
    if more.failed:
        links = "link" if more.failed == 1 else "links"
        told += f"; {more.failed:,} {links} led to no page"
    stdout.print(Text(told + ENDED.get(more.ended, "")), soft_wrap=True)


def show_arrival(page: dict[str, Any]) -> None:
    """Name a page that a running crawl has just fetched for the query."""
    mark = Text("new: ", "bold green" if page["state"] == "kept" else "dim")
    score = f" ({page['score']:.2f})" if page["score"] is not None else ""
    title = Text(plain(page["title"] or page["url"], 100) + score)
    stderr.print(mark + title + Text(f"  {plain(page['url'])}", "cyan"), soft_wrap=True)


def tell(message: str) -> None:
    """Print a message on standard error."""
    stderr.print(Text(message), soft_wrap=True)


def show(answer: Answer, size: int, new: Collection[str] = ()) -> None:
    """Print an answer for people; new URLs are marked."""
    if answer.concepts:
        names = ", ".join(answer.concepts)
        stdout.print(Text("understood as: ", "dim") + foreign(names))
    if answer.suggestion:
        stdout.print(Text("did you mean: ") + foreign(answer.suggestion, style="bold"))
    if not answer.total:
        stdout.print("No page of this crawl matches the query.")
        return
    first = (answer.page - 1) * size + 1
    for number, hit in enumerate(answer.hits, first):
        show_hit(number, hit, hit.url in new)
    last = first + len(answer.hits) - 1
    if answer.hits:
        told = f"{first:,} to {last:,} of {answer.total:,}"
        more = f"; more: --page {answer.page + 1}" if last < answer.total else ""
        stdout.print(Text(f"\n{told}{more}", "dim"))
    else:
        stdout.print(f"There are only {answer.total:,} results.")


def show_hit(number: int, hit: Hit, is_new: bool = False) -> None:
    """Print one result."""
    mark = Text("new: ", "bold green") if is_new else Text()
    title = Text(plain(hit.title or hit.url, 150), "bold")
    facts = [f"score {hit.score:.2f}", f"relevance {hit.relevance:.2f}"]
    if hit.copies:
        facts.append(f"{len(hit.copies)} more with the same text")
    stdout.print()
    indent(mark + title, f"{number:>3}  ")
    # Not wrapped, so that the URL can be clicked and copied.
    stdout.print(Text(MARGIN) + foreign(hit.url, style="cyan"), soft_wrap=True)
    indent(passage(hit))
    indent(Text(", ".join(facts), "dim"))


def indent(text: Text, margin: str = MARGIN) -> None:
    """Print a text with a margin, wrapped to a readable width."""
    width = min(stdout.width, WIDEST) - len(MARGIN)
    for line in text.wrap(stdout, max(width, 1)):
        line.rstrip()
        stdout.print(Text(margin) + line, soft_wrap=True)
        margin = MARGIN


def passage(hit: Hit) -> Text:
    """The snippet with its hits highlighted; never interpreted as markup."""
    text = Text()
    for piece in hit.snippet:
        text.append(piece.text, "bold yellow" if piece.hit else "")
    return text
