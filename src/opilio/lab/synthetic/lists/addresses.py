"""Finds the URL of each page in a web of lists, and the page of each URL.

/                              home
/browse/                       all sections of the host
/series-4/                     a section; /series-4/page/2/ or ?page=2 continues
/series-4/2019/03/12/17/       item 17 of it, if it is dated; see `Addresses.item`
/archive/2019/                 what all sections published in 2019; /page/2/ continues
/imprint.html                  a page about nothing
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from opilio.lab.synthetic.lists.sections import (
    Item,
    ListSection,
    Sections,
    Style,
    version,
)

SMALL_PAGES = ("imprint", "contact", "privacy")
ARCHIVED = 60  # items on a page of an archive
WITHDRAWN = "withdrawn-"

PAGE = re.compile(r"/([a-z]+-\d+)/(?:page/(\d+)/)?")
ARCHIVE = re.compile(r"/archive/(\d{4})/(?:page/(\d+)/)?")
ITEM = re.compile(
    r"/([a-z]+-\d+)/(?:\d{4}/\d\d/\d\d/(\d+)/|release-(\d+)\.(\d)\.(\d)\.html"
    r"|item-(\d+)\.html|[a-z-]+-(\d+)\.html)"
)


class ListPagePlace(NamedTuple):
    """What a path names."""

    kind: str  # home, browse, years, archive, list, item or small
    section: ListSection | None = None
    number: int = 0  # of the item, of the list's page, or the year
    page: int = 1
    name: str = ""  # of a small page


class ListAddresses:
    """Where the pages of a web of lists are."""

    def __init__(self, sections: Sections) -> None:
        self.sections = sections

    def item(self, item: Item) -> str:
        """The path of an item, by the style of its section."""
        section = self.sections.all[item.section]
        match section.style:
            case Style.DATED:
                day = section.published(item.index)
                end = f"{day:%Y/%m/%d}/{item.index}/"
            case Style.VERSIONS:
                end = f"release-{version(section.size - 1 - item.index)}.html"
            case Style.NUMBERS:
                end = f"item-{section.size + 99 - item.index}.html"
            case Style.TITLES:
                words = re.sub("[^a-z]+", "-", item.label.lower()).strip("-")
                end = f"{words}-{item.index}.html"
        return f"/{section.slug}/{end}"

    def withdrawn(self, item: Item) -> str:
        """The path of the dead link beside an item."""
        section = self.sections.all[item.section]
        return f"/{section.slug}/{WITHDRAWN}{item.index}.html"

    def list(self, section: ListSection, page: int = 1) -> str:
        """The path of a page of a section's list."""
        start = f"/{section.slug}/"
        if page == 1:
            return start
        return f"{start}?page={page}" if section.query else f"{start}page/{page}/"

    def archive(self, year: int, page: int = 1) -> str:
        """The path of a page of a year's archive."""
        start = f"/archive/{year}/"
        return start if page == 1 else f"{start}page/{page}/"

    def url(self, host: int, path: str) -> str:
        """The whole URL of a path."""
        return f"http://{self.sections.hosts[host]}{path}"

    def item_url(self, item: Item) -> str:
        """The whole URL of an item."""
        return self.url(self.sections.all[item.section].host, self.item(item))

    def find(self, host: int, url: str) -> ListPagePlace | None:
        """What a URL of a host names; None: nothing."""
        parts = urlsplit(url)
        path = parts.path or "/"
        if (small := path[1:].removesuffix(".html")) in SMALL_PAGES:
            return ListPagePlace("small", name=small)
        fixed = {"/": "home", "/browse/": "browse", "/archive/": "years"}
        if path in fixed:
            return ListPagePlace(fixed[path])
        if match := ARCHIVE.fullmatch(path):
            return self._archive(host, int(match[1]), int(match[2] or 1))
        if match := PAGE.fullmatch(path):
            asked = parts.query.removeprefix("page=") if parts.query else match[2]
            return self._list(host, match[1], asked or "1", path, parts.query)
        if match := ITEM.fullmatch(path):
            return self._item(host, path, match)
        return None

    def _archive(self, host: int, year: int, page: int) -> ListPagePlace | None:
        if year not in self.sections.years(host):
            return None
        count = len(self.sections.items_of_year(host, year))
        there = 1 <= page <= max(1, -(-count // ARCHIVED))
        return ListPagePlace("archive", number=year, page=page) if there else None

    def _list(
        self, host: int, slug: str, asked: str, path: str, query: str
    ) -> ListPagePlace | None:
        section = self.sections.by_slug.get((host, slug))
        if section is None or not asked.isdecimal() or int(asked) > section.lists:
            return None
        here = f"{path}?{query}" if query else path
        if int(asked) < 1 or self.list(section, int(asked)) != here:
            return None
        return ListPagePlace("list", section, page=int(asked))

    def _item(self, host: int, path: str, match: re.Match[str]) -> ListPagePlace | None:
        section = self.sections.by_slug.get((host, match[1]))
        if section is None:
            return None
        last = section.size - 1
        if match[3]:
            major, minor, patch = map(int, match.group(3, 4, 5))
            index = last - (60 * (major - 1) + 10 * minor + patch)
        elif match[6] and section.style is Style.NUMBERS:
            index = last + 100 - int(match[6])
        else:
            index = int(match[2] or match[6] or match[7])
        if not 0 <= index <= last:
            return None
        item = self.sections.item(section.start + index)
        return (
            ListPagePlace("item", section, item.number)
            if self.item(item) == path
            else None
        )
