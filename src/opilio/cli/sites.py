"""`opilio sites`: a crawl's folder in; the models of its websites out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from opilio.assembly.plan import load_plan
from opilio.assembly.reader_setup import rereading
from opilio.cli.site_tables import show_site, show_sites
from opilio.cli.terminal import plain, stderr, stdout
from opilio.errors import BadInput, did_you_mean
from opilio.profiles.models import SiteModels, SiteProfile, SubjectConcepts, load_sites
from opilio.records import Mode
from opilio.sites.expected_changes import due
from opilio.sites.rebuild import rebuild
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.subject.current import current_subject
from opilio.text import urls

MOST_SITES = 20  # shown to a person
MOST_PAGES = 10


def sites(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="One site, with its pages.")
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="Sites or pages shown, the best ones; 0: all."),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Shares of small sites: drawn to the mean, or to the letter."
        ),
    ] = "fixed",
    anew: Annotated[
        bool, typer.Option("--rebuild", help="Read all pages again first.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs; all, without --limit.")
    ] = False,
) -> None:
    """Show the models of websites: what each has of the domain, most useful first.

    A crawl that was made before there were models gets them by --rebuild.

    Examples:

        opilio sites my-crawl --limit 5

        opilio sites my-crawl www.example.org
    """
    crawl = CrawlFolder(folder)
    if anew:
        make_anew(crawl)
    with opened(crawl) as db:
        plan = load_plan(crawl)
        domain = SubjectConcepts(current_subject(plan.topic, crawl, db))
        models = load_sites(db, domain, mode, plan.topic.sites)
        times = due(db) if len(models) and not plan.replay else {}
        missing = models.unprofiled()
        if host:
            site = models.profile(find_site(models, host))
            most = limit if limit is not None else 0 if as_json else MOST_PAGES
            pages = models.page_profiles(site.host, most or None)
            if as_json:
                told = {"site": as_object(site, times), "pages": pages}
            else:
                show_site(site, times.get(site.web_no), pages)
        else:
            best = sorted(models, key=lambda site: (-site.usefulness, -site.relation))
            most = limit if limit is not None else 0 if as_json else MOST_SITES
            shown = best[: most or None]
            if as_json:
                told = {"sites": [as_object(site, times) for site in shown]}
            else:
                show_sites(models, shown, times)
    if as_json:
        typer.echo(msgspec.json.encode(told | {"unprofiled": missing}).decode())
        return
    if plan.replay:
        stdout.print("  no page is due: an archive does not change", style="dim")
    if missing:
        note = f"{missing:,} pages have no profile yet and are not counted"
        stderr.print(f"{note}; read them again with --rebuild", style="yellow")


def as_object(site: SiteProfile, times: Mapping[int, float]) -> dict[str, Any]:
    """A site profile for programs, with the time of its next refresh."""
    fields: dict[str, Any] = msgspec.to_builtins(site)
    return fields | {"due": times.get(site.web_no)}


def find_site(models: SiteModels, name: str) -> str:
    """The host that was meant, also by a URL; BadInput that names near ones."""
    host = urls.host(urls.join("", name if "://" in name else f"http://{name}/"))
    if host in models:
        return host
    hint = did_you_mean(host, models.rows, most=3)
    raise BadInput(
        f"no page of {plain(name)!r} was read in this crawl; {hint}opilio sites DIR "
        "lists all"
    )


def make_anew(crawl: CrawlFolder) -> None:
    """Read all pages of the crawl again, and make its models of them."""
    plan = load_plan(crawl)
    with opened(crawl) as db:
        subject = current_subject(plan.topic, crawl, db)
    rebuilt = rebuild(crawl, subject, rereading(plan, subject, headings=True))
    lost = f"; {rebuilt.unread:,} are not in the archive" if rebuilt.unread else ""
    stderr.print(f"{rebuilt.pages:,} pages read again{lost}", style="dim")
    if rebuilt.trouble:
        stderr.print(Text(rebuilt.trouble, "yellow"), soft_wrap=True)
