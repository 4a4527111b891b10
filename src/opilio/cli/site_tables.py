"""Prints the profiles of sites and pages as tables, for `opilio sites`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from rich.table import Table
from rich.text import Text

from opilio.cli.plain_text import plain
from opilio.cli.terminal import foreign, stdout
from opilio.profiles.models import PageProfile, SiteModels, SiteProfile

MOST_CONCEPTS = 12
MOST_HEADINGS = 5
UNKNOWN = "-"
MEDIUM = 72  # columns; narrower terminals get fewer columns
LONGEST_HOST = 40


def show_sites(
    models: SiteModels, shown: Sequence[SiteProfile], times: Mapping[int, float]
) -> None:
    """The sites, two lines each."""
    total = models.everything
    stdout.print(
        f"[bold]{len(models):,} {'site' if len(models) == 1 else 'sites'}[/], "
        f"{total.pages:,} pages, "
        f"{total.in_domain:,} in the domain of {len(models.concepts):,} concepts\n"
    )
    if not shown:
        return
    table = Table(box=None, padding=(0, 1, 0, 0), expand=True, header_style="dim")
    names = max(len(plain(site.host)) for site in shown)
    width = min(names, max(20, stdout.width // 3), LONGEST_HOST)
    if stdout.width < MEDIUM:
        width = min(names, stdout.width - 18)  # leaves room for the other columns
    table.add_column("site\ntitle", ratio=1, min_width=width, no_wrap=True)
    table.add_column("type\nprofile", no_wrap=True)
    table.add_column("pages\nshare", justify="right", no_wrap=True)
    if stdout.width >= MEDIUM:
        table.add_column("changed\nrefresh", no_wrap=True)
        table.add_column("concepts,\nwith coverage", ratio=1, no_wrap=True)
    for site in shown:
        first, second = in_two(coverage(site))
        cells = (
            lines(foreign(site.host, style="bold"), foreign(site.title, style="dim")),
            lines(Text(type_of(site)), Text(profile_of(site), "dim")),
            lines(Text(f"{site.pages:,}"), Text(f"{site.relation:.0%}", "green")),
            lines(Text(date(site.updated)), Text(date(times.get(site.web_no)), "dim")),
            lines(foreign(first), foreign(second, style="dim")),
        )
        table.add_row(*cells[: len(table.columns)])
    stdout.print(table)
    if left := len(models) - len(shown):
        stdout.print(f"  and {left:,} more; --limit 0 shows all", style="dim")


def show_site(
    site: SiteProfile, refresh: float | None, pages: Sequence[PageProfile]
) -> None:
    """One site with every field of its profile, and the profiles of its pages."""
    stdout.print(foreign(site.host, style="bold"))
    for name, value in (
        ("WebNo", str(site.web_no)),
        ("Website title", site.title or UNKNOWN),
        ("Start URL", site.start_url),
        ("WebType", f"{site.web_type} ({type_of(site)})"),
        ("Tree level limit", str(site.tree_level_limit)),
        ("Last change", date(site.updated)),
        ("Next refresh", date(refresh)),
        ("Profile", profile_of(site)),
        ("N_S", f"{site.pages:,} pages"),
        ("N_S,D", f"{site.in_domain:,} of them in the domain"),
        ("R_S,D", f"{site.relation:.3f}"),
    ):
        stdout.print(Text(f"  {name:<17} ", "dim") + foreign(value), soft_wrap=True)
    named = sorted(site.concept_pages, key=lambda one: -site.concept_pages[one])
    if named:
        stdout.print("\n[bold]Its concepts[/], N_S,C and P_S,D(C)")
    for concept in named[:MOST_CONCEPTS]:
        count, share = site.concept_pages[concept], site.proportions[concept]
        stdout.print(Text(f"  {count:>7,}  {share:5.3f}  ") + foreign(concept))
    if (left := len(named) - MOST_CONCEPTS) > 0:
        stdout.print(f"  and {left:,} more; --json shows all")
    stdout.print(f"\n[bold]Its pages[/], {len(pages):,} of {site.pages:,}, best first")
    for page in pages:
        show_page(page)


def show_page(page: PageProfile) -> None:
    """A page profile in a few lines."""
    mark = Text(f"{page.score:.3f} ", "green" if page.domain_mark else "dim")
    stdout.print(
        Text("\n  ") + mark + foreign(page.title or "(no title)", style="bold")
    )
    stdout.print(Text("  ") + foreign(page.url), soft_wrap=True)
    counts = page.concepts.items()
    concepts = ", ".join(f"{concept} {count}" for concept, count in counts)
    headings = " · ".join(page.headings[:MOST_HEADINGS])
    anchors = sum(1 for link in page.outbound if link.anchor)
    for name, value in (
        ("Domain mark", "in the domain" if page.domain_mark else "not in the domain"),
        ("class", page.onto_class or UNKNOWN),
        ("concepts", concepts or UNKNOWN),
        ("headings", f"{len(page.headings)}: {headings}" if headings else UNKNOWN),
        ("outbound", f"{len(page.outbound)} links, {anchors} with an anchor"),
        ("DocNo", f"{page.doc_no}, at {page.location}, changed {date(page.updated)}"),
    ):
        line = Text(f"    {name:<12} ", "dim") + foreign(value)
        stdout.print(line, no_wrap=True, overflow="ellipsis")


def coverage(site: SiteProfile) -> list[str]:
    """The concepts of a site, with the share of its pages that are about them."""
    found = sorted(site.concept_pages, key=lambda one: -site.proportions[one])
    return [f"{concept} {site.proportions[concept]:.0%}" for concept in found]


def in_two(items: Sequence[str]) -> tuple[str, str]:
    """A list as two lines: the first three items, and the rest."""
    return ", ".join(items[:3]), ", ".join(items[3:MOST_CONCEPTS])


def lines(first: Text, second: Text) -> Text:
    """Two lines of one cell; each is cut where the cell ends."""
    both = Text("\n", no_wrap=True, overflow="ellipsis").join((first, second))
    both.no_wrap, both.overflow = True, "ellipsis"
    return both


def type_of(site: SiteProfile) -> str:
    """The type of a site in letters."""
    return site.web_type.name.lower()


def profile_of(site: SiteProfile) -> str:
    """Whether enough is known about a site, in words."""
    return "definite" if site.definite else "indefinite"


def date(at: float | None) -> str:
    """A day, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at else UNKNOWN
