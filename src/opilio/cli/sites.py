"""`opilio sites`: shows the models of the websites in a crawl."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from opilio.assembly.plan import load_plan
from opilio.assembly.reader_setup import rereading
from opilio.cli.crawl_argument import CrawlName, crawl_at, require_folder
from opilio.cli.plain_text import plain
from opilio.cli.site_tables import show_site, show_sites
from opilio.cli.terminal import stderr, stdout
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
    folder: CrawlName,
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="One site, with its pages.")
    ] = "",
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="Show this many of the best sites or pages; 0: all."),
    ] = None,
    mode: Annotated[
        Mode,
        typer.Option(
            help="Shares of small sites: shrunk to the mean, or as in the paper."
        ),
    ] = "fixed",
    anew: Annotated[
        bool, typer.Option("--rebuild", help="Read all pages again first.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, without the default --limit.")
    ] = False,
) -> None:
    """Show the models of websites: the concepts each covers, best first.

    --rebuild adds models to a crawl of a version that had none.

    Examples:

        opilio sites my-crawl --limit 5

        opilio sites my-crawl www.example.org
    """
    if anew:
        require_folder(folder, "--rebuild")
    crawl = crawl_at(folder)
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
        stdout.print("  no page is due: archives do not change", style="dim")
    if missing:
        note = f"{missing:,} pages have no profile yet and are not counted"
        stderr.print(f"{note}; read them again with --rebuild", style="yellow")


def as_object(site: SiteProfile, times: Mapping[int, float]) -> dict[str, Any]:
    """A site profile for programs, with the time of its next refresh."""
    fields: dict[str, Any] = msgspec.to_builtins(site)
    return fields | {"due": times.get(site.web_no)}


def find_site(models: SiteModels, name: str) -> str:
    """The host that a name or URL means; BadInput suggests similar names."""
    host = urls.host(urls.join("", name if "://" in name else f"http://{name}/"))
    if host in models:
        return host
    hint = did_you_mean(host, models.rows, most=3)
    raise BadInput(
        f"this crawl has no page of {plain(name)!r}; {hint}opilio sites DIR lists all"
    )


def make_anew(crawl: CrawlFolder) -> None:
    """Read all pages of the crawl again and rebuild its models."""
    plan = load_plan(crawl)
    with opened(crawl) as db:
        subject = current_subject(plan.topic, crawl, db)
    rebuilt = rebuild(crawl, subject, rereading(plan, subject, headings=True))
    lost = f"; {rebuilt.unread:,} not in the WARC files" if rebuilt.unread else ""
    stderr.print(f"{rebuilt.pages:,} pages read again{lost}", style="dim")
    if rebuilt.trouble:
        stderr.print(Text(rebuilt.trouble, "yellow"), soft_wrap=True)
