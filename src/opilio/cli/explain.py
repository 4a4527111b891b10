"""`opilio explain`: shows how a URL was found, ranked and judged, block by block."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from heapq import nlargest
from textwrap import shorten
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from opilio.assembly.crawled_pages import explain_url
from opilio.cli.change_texts import change_in_words
from opilio.cli.crawl_argument import CrawlName, crawl_at
from opilio.cli.link_reasons import obstacle_in_words, reason_in_words
from opilio.cli.stored_page import FoundTerm, Reread, SeenBlock, reread
from opilio.cli.terminal import foreign, stdout
from opilio.cli.waiting import sentence, until
from opilio.errors import OpilioError
from opilio.records import TIER, BlockKind, Extraction, Parts
from opilio.store.crash_suspects import DEADLY
from opilio.store.extractions import load_extraction
from opilio.store.folder import CrawlFolder
from opilio.store.llm_answers import answer_about
from opilio.store.lookup import Explanation, opened
from opilio.store.versions import versions_of

MOST_BLOCKS = 60  # shown to a person
MOST_TERMS = 15
BEGINNING = 300  # characters of a main text
DEEPEST = 5  # blocks below that are indented no further
FACTS = (
    "number",
    "status",
    "title",
    "language",
    "charset",
    "words",
    "bytes",
    "warc",
    "warc_offset",
)


def explain(
    folder: CrawlName,
    url: Annotated[str, typer.Argument(metavar="URL", help="A URL, in any spelling.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain how a URL was found, ranked and judged, block by block.

    Example:

        opilio explain my-crawl https://example.org/chemistry/atoms.html
    """
    crawl = crawl_at(folder)
    found = explain_url(crawl, url)
    with opened(crawl) as db:
        versions = versions_of(db, found.link["id"])
        extracted = load_extraction(db, found.link["id"])
        answer = answer_about(db, found.link["url"])
    again, trouble = read_again(crawl, found)
    if as_json:
        seen = again or Reread(blocks=[], terms=[])
        told = msgspec.to_builtins(found) | msgspec.to_builtins(seen)
        told["trouble"] = trouble
        told["versions"] = versions
        told["llm"] = answer
        told["content"] = msgspec.to_builtins(extracted and in_short(extracted))
        typer.echo(msgspec.json.encode(told).decode())
    else:
        show(found, again, trouble)
        if answer:
            show_answer(answer)
        if extracted:
            show_content(extracted)
        show_versions(versions)


def in_short(content: Extraction) -> dict[str, Any]:
    """What a page says about itself, and the beginning of its main text."""
    facts = msgspec.structs.asdict(content)
    del facts["markdown"], facts["version"]
    facts["words"] = len(content.text.split())
    facts["text"] = shorten(content.text, BEGINNING, placeholder=" …")
    return {name: value for name, value in facts.items() if value}


def show_answer(answer: Mapping[str, Any]) -> None:
    """Print what a language model said of a page."""
    stdout.print(f"\n[bold]The language model's answer: {answer['relevance']:.2f}[/]")
    stdout.print(Text("  ") + foreign(answer["reason"]), soft_wrap=True)


def show_content(content: Extraction) -> None:
    """Print the main text of a page in short, as search and export have it."""
    stdout.print("\n[bold]Its main text[/]")
    for name, value in in_short(content).items():
        told = value if isinstance(value, str | int) else ", ".join(value)
        stdout.print(Text(f"  {name:<12} ", "dim") + foreign(str(told)))


def read_again(crawl: CrawlFolder, found: Explanation) -> tuple[Reread | None, str]:
    """A judged page, read again; or None, and the reason."""
    if found.page is None or found.page["score"] is None:
        return None, ""
    if found.page["warc"] is None:
        return None, "the page is not in the WARC files"
    try:
        return reread(crawl, found.page), ""
    except OpilioError as error:
        return None, str(error)


def show(found: Explanation, again: Reread | None, trouble: str) -> None:
    """Print an explanation for a person."""
    link, page = found.link, found.page
    show_way(found)
    if link["found_on"]:
        show_promise(link["promise"], link["parts"])
    else:
        stdout.print("\n[bold]Its promise: a seed[/], visited before all others")
        if found.seed:
            stdout.print(Text("  ") + foreign(found.seed.in_words()), soft_wrap=True)
    if page and page["score"] is not None:
        written = {term.key: term.term for term in again.terms} if again else {}
        show_parts("Its verdict", page["score"], page["parts"], written)
    if again:
        show_blocks(again.blocks)
        show_terms(again.terms)
    elif trouble:
        stdout.print("\n[bold]Its blocks[/] cannot be shown")
        stdout.print(Text(f"  {trouble}"), soft_wrap=True)
    if page:
        stdout.print("\n[bold]The page[/]")
        # Redirects are numbered in crawl.db, but are not shown as pages.
        facts = page | {"number": found.number or None}
        for name in FACTS:
            if facts[name] is not None:
                stdout.print(Text(f"  {name:<12} ", "dim") + foreign(str(facts[name])))
    if again:
        show_links(again)
    show_host(found, time.time())


def show_links(again: Reread) -> None:
    """How many links of a page are followed, why the others are not, and whether they
    are those that scripts have built."""
    if again.rendered:
        told = f"in a browser: {again.rendered:,} bytes after its scripts ran"
        stdout.print(Text("  rendered     ", "dim") + Text(told))
    line = f"{again.links:,}, {again.followed:,} of them followed"
    stdout.print(Text("  links        ", "dim") + Text(line))
    for obstacle in again.obstacles:
        told = f"  The page {obstacle_in_words(obstacle)}."
        stdout.print(Text(told, "yellow"), soft_wrap=True)


def show_host(found: Explanation, now: float) -> None:
    """What the host of a URL says in robots.txt, and whether it rests."""
    robots = found.robots
    if robots:
        stdout.print(Text(f"  robots.txt   {robots['status']}", "dim"))
    if robots and robots["failures"]:
        again = until(robots["expires_at"], now)
        stdout.print(f"  failed {robots['failures']} times, next attempt at {again}")
    if found.delay:
        stdout.print(f"  its host asks for {found.delay:g} s between two visits")
    if found.resting:
        stdout.print(Text(f"  at rest: {sentence(found.resting, now)}"), soft_wrap=True)


def show_way(found: Explanation) -> None:
    """The URL, its outcome, and the links from a seed to it."""
    link = found.link
    reason = f": {reason_in_words(link['reason'])}" if link["reason"] else ""
    stdout.print(foreign(link["url"], style="bold"), soft_wrap=True)
    stdout.print(Text(f"{link['state']}{reason}; {where_found(found)}"))
    if found.deaths:
        stdout.print(
            f"the crawl crashed {found.deaths} times while processing this page; after "
            f"{DEADLY} times it is not retried"
        )
    if found.original:
        stdout.print(Text("the same as ") + foreign(found.original))
    stdout.print("\n[bold]Path from a seed[/], with the score of each page")
    for number, step in enumerate(found.way):
        role = f"{number:>6}" if number else "  seed"
        score = "       " if step.score is None else f"{step.score:7.3f}"
        line = Text(f"{role} ") + Text(score, "dim") + Text("  ") + foreign(step.url)
        stdout.print(line, soft_wrap=True)
        if step.anchor:
            through = Text(" " * 16) + foreign(f"“{step.anchor}”", 70, "dim")
            stdout.print(through, soft_wrap=True)


def where_found(found: Explanation) -> str:
    """How the crawl came to know a URL."""
    pages = f"{found.in_links:,} {'page' if found.in_links == 1 else 'pages'}"
    if len(found.way) > 1:
        return f"found on {pages}"
    return f"a seed, also found on {pages}" if found.in_links else "a seed"


def show_promise(promise: float, parts: Parts | None) -> None:
    """A promise and its parts, without the part that only names its group of links.

    None: the strategy gave no parts; empty: it gave none when it revised the promise.
    """
    tiers = {name: value for name, value in (parts or {}).items() if is_tier(name)}
    rest = {name: value for name, value in (parts or {}).items() if not is_tier(name)}
    show_parts("Its promise", promise - sum(tiers.values()), rest)
    for name, value in tiers.items():
        place = "before" if value > 0 else "behind"
        stdout.print(
            Text(f"  {value:>+10,.0f}  {name.removeprefix(TIER)}: ")
            + Text(f"it is visited {place} others, whatever their promise", "dim")
        )
    if parts is not None and not parts:
        stdout.print("  revised since it was found; the strategy gave no parts")


def is_tier(name: str) -> bool:
    """Whether this part only names the group of links that a link is in."""
    return name.startswith(TIER)


def show_parts(
    title: str,
    total: float,
    parts: Mapping[str, Any] | None,
    written: Mapping[str, str] | None = None,
) -> None:
    """A number and its parts, largest first; terms as the topic writes them."""

    def place(part: tuple[str, Any]) -> tuple[bool, float]:
        return part[0].startswith("("), -abs(part[1])  # "(8 more)" comes last

    stdout.print(f"\n[bold]{title}: {total:.4f}[/]")
    for name, value in sorted((parts or {}).items(), key=place):
        stdout.print(
            Text(f"  {value:>10.4f}  ") + foreign((written or {}).get(name, name))
        )


def show_blocks(blocks: Sequence[SeenBlock]) -> None:
    """The blocks of a page in order, indented below the one they belong to."""
    best = nlargest(MOST_BLOCKS, blocks, key=lambda block: block.relevance)
    table = Table(box=None, padding=(0, 1), expand=True, header_style="dim")
    table.add_column("#", justify="right")
    table.add_column("R(t,b)", justify="right")
    table.add_column("words", justify="right")
    table.add_column("block", no_wrap=True, ratio=1)
    table.add_column("terms", no_wrap=True, ratio=1)
    for block in sorted(best, key=lambda block: block.number):
        counts = (f"{term.term} {term.count}" for term in block.terms if term.weight)
        table.add_row(
            str(block.number),
            f"{block.relevance:.4f}" if block.relevance else "-",
            f"{block.words:,}",
            heading_of(block),
            foreign(", ".join(counts)),
            style="" if block.relevance and block.kind is BlockKind.TEXT else "dim",
        )
    stdout.print("\n[bold]Its blocks[/], and how near each is to the topic")
    stdout.print(table)
    if left := len(blocks) - len(best):
        stdout.print(f"  and {left:,} that are no nearer; --json shows all")


def heading_of(block: SeenBlock) -> Text:
    """The heading of a block, indented; its kind, if it is not text."""
    indent = Text("  " * min(block.depth, DEEPEST), no_wrap=True, overflow="ellipsis")
    kind = "" if block.kind is BlockKind.TEXT else f"({block.kind}) "
    before = "" if block.heading or kind else "(before the first heading)"
    return indent + Text(kind or before) + foreign(block.heading)


def show_versions(versions: Sequence[Mapping[str, Any]]) -> None:
    """The versions of a page, and the outcome of the last visit."""
    if not versions:
        return
    stdout.print("\n[bold]Its versions[/], one per visit")
    for version in versions:
        first, last = (
            datetime.fromtimestamp(version[name], UTC).strftime("%Y-%m-%d %H:%M")
            for name in ("fetched_at", "seen_at")
        )
        seen = f"  {first} to {last}  {version['score'] or 0:7.3f}  "
        stdout.print(Text(seen, "dim") + foreign(version["title"] or ""))
        if version["change"]:
            stdout.print(Text("    ") + foreign(change_in_words(version["change"])))
    if trouble := versions[-1]["trouble"]:
        stdout.print(Text(f"  the last visit failed: {trouble}"))


def show_terms(terms: Sequence[FoundTerm]) -> None:
    """The topic terms on the page, those with the greatest weight first."""
    stdout.print("\n[bold]Topic terms on it[/], with their counts and weights")
    for term in terms[:MOST_TERMS]:
        weight = "     -" if term.weight is None else f"{term.weight:6.3f}"
        stdout.print(Text(f"  {term.count:>6,}  {weight}  ") + foreign(term.term))
    if len(terms) > MOST_TERMS:
        left = len(terms) - MOST_TERMS
        stdout.print(f"  and {left:,} more; --json shows all")
