"""`opilio explain`: a URL in; how it was found, ranked, fetched and judged, out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from opilio import urls
from opilio.cli.terminal import foreign, stdout
from opilio.errors import BadInput
from opilio.plan import load_plan
from opilio.scope import Scope
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Explanation, opened
from opilio.store.lookup import explain as look_up


def explain(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    url: Annotated[
        str, typer.Argument(metavar="URL", help="An address, in any spelling.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Explain a URL: the way to it, its promise, its verdict, or why it has none."""
    canonical = urls.join("", url)
    if not canonical:
        raise BadInput(f"{url!r} is not an address; write http://… or https://…")
    crawl = CrawlFolder(folder)
    with opened(crawl) as db:
        found = look_up(db, urls.fingerprint(canonical), urls.origin(canonical))
    if found is None:
        in_scope = Scope(load_plan(crawl).topic.scope).allows(canonical)
        why = "no page that was read links to it" if in_scope else "it is out of scope"
        raise BadInput(f"{canonical} is not known to this crawl: {why}")
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
    else:
        show(found)


def show(found: Explanation) -> None:
    """Print an explanation for a person."""
    link, page = found.link, found.page
    reason = f" ({link['reason']})" if link["reason"] else ""
    stdout.print(foreign(link["url"], style="bold"), soft_wrap=True)
    stdout.print(Text(f"{link['state']}{reason}, found on {found.in_links:,} pages"))
    if found.original:
        stdout.print(Text("the same as ") + foreign(found.original))
    stdout.print()
    stdout.print("[bold]The way to it[/], with the score of each page")
    for number, step in enumerate(found.way):
        role = f"{number:>6}" if number else "  seed"
        score = "       " if step.score is None else f"{step.score:7.3f}"
        line = Text(f"{role} ") + Text(score, "dim") + Text("  ") + foreign(step.url)
        stdout.print(line, soft_wrap=True)
        if step.anchor:
            through = Text(" " * 16) + foreign(f"“{step.anchor}”", 70, "dim")
            stdout.print(through, soft_wrap=True)
    if link["found_on"]:
        show_parts("Its promise", link["promise"], link["parts"])
    else:
        stdout.print("\n[bold]Its promise: a seed[/], visited before all others")
    if page and page["score"] is not None:
        show_parts("Its verdict", page["score"], page["parts"])
    if page:
        stdout.print()
        stdout.print("[bold]The page[/]")
        for name in (
            "number",
            "status",
            "title",
            "language",
            "charset",
            "words",
            "bytes",
            "warc",
            "warc_offset",
        ):
            if page[name] is not None:
                stdout.print(Text(f"  {name:<12} ", "dim") + foreign(str(page[name])))
    if found.robots:
        stdout.print(Text(f"  robots.txt   {found.robots['status']}", "dim"))


def show_parts(title: str, total: float, parts: Mapping[str, Any] | None) -> None:
    """A number and what it is made of, largest first."""
    stdout.print()
    stdout.print(f"[bold]{title}: {total:.4f}[/]")
    for name, value in sorted((parts or {}).items(), key=lambda item: -abs(item[1])):
        stdout.print(Text(f"  {value:>10.4f}  ") + foreign(name))
