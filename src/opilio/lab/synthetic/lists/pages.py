"""Writes the HTML of a web of lists: home pages, lists, archives and items."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from functools import lru_cache

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.lists.addresses import ARCHIVED, SMALL_PAGES, ListAddresses
from opilio.lab.synthetic.lists.sections import NEUTRAL, Item, ListSection, Sections

SHOWN = 5  # sections in the navigation, items in the sidebar
PARTNERS = 3  # hosts that a home page links to
AROUND = 2  # pages of a list linked before and after this one
SPREAD = 0.5  # of the logarithm of an item's length
RELATED, ABROAD, ELSEWHERE = 20, 21, 22  # purposes of chance


class ListPages:
    """Writes the pages of a web of lists."""

    def __init__(self, sections: Sections, addresses: ListAddresses) -> None:
        self.sections = sections
        self.addresses = addresses
        self.dials = sections.dials
        self.vocabulary = sections.vocabulary
        self._frame = lru_cache(1024)(self._make_frame)

    def home(self, host: int) -> bytes:
        """The page at / of a host."""
        count = len(self.sections.hosts)
        partners = {(host + step) % count for step in range(1, PARTNERS + 1)} - {host}
        entries = "\n".join(
            f'<li class="partner">{link(self.addresses.url(other, "/"), name)}</li>'
            for other in sorted(partners)
            for name in [self.sections.hosts[other].split(".")[1]]
        )
        title = f"Welcome to {self.sections.hosts[host].split('.')[1]}"
        content = (
            f"<h1>{title}</h1>\n<p>{self._neutral(host, 8, 4)}</p>\n"
            f"<h2>Sections</h2>\n{self._sections(host)}"
        )
        if partners:
            content += f'\n<h2>Partners</h2>\n<ul class="partners">\n{entries}\n</ul>'
        return self._page(host, title, content)

    def browse(self, host: int) -> bytes:
        """The page with all sections of a host."""
        intro = f"<h1>Browse</h1>\n<p>{self._neutral(host, 9, 2)}</p>"
        return self._page(host, "Browse", f"{intro}\n{self._sections(host)}")

    def years(self, host: int) -> bytes:
        """The page that leads to the archives of each year."""
        entries = "\n".join(
            f'<li class="year">{link(self.addresses.archive(year), year)}</li>'
            for year in self.sections.years(host)
        )
        content = f'<h1>Archive</h1>\n<ul class="years">\n{entries}\n</ul>'
        return self._page(host, "Archive", content)

    def archive(self, host: int, year: int, page: int) -> bytes:
        """A page of what all sections of a host published in a year."""
        items = self.sections.items_of_year(host, year)
        shown = items[(page - 1) * ARCHIVED : page * ARCHIVED]
        last = max(1, -(-len(items) // ARCHIVED))
        paths = {n: self.addresses.archive(year, n) for n in range(1, last + 1)}
        title = f"Archive {year}"
        content = (
            f"<h1>{title}</h1>\n{self._entries(shown, table=False)}\n"
            f'<div class="pager">{pager(paths, page)}</div>'
        )
        return self._page(host, f"{title}, page {page}", content)

    def listing(self, section: ListSection, page: int) -> bytes:
        """A page of a section's list."""
        start = (page - 1) * section.per_list
        items = self.sections.items(section, start, start + section.per_list)
        paths = {
            n: self.addresses.list(section, n) for n in range(1, section.lists + 1)
        }
        intro = self._neutral(section.number, 10, 2)
        turning = pager(paths, page)
        turning = (
            f'<nav class="pagination">{turning}</nav>'
            if section.table
            else f'<div class="pagination">{turning}</div>'
        )
        content = (
            f"{self._trail(section)}\n<h1>{section.name}</h1>\n<p>{intro}</p>\n"
            f"{self._entries(items, table=section.table)}\n{turning}"
        )
        return self._page(section.host, f"{section.name}, page {page}", content)

    def item(self, item: Item) -> bytes:
        """An item: text about its subject, with few links besides the navigation."""
        section = self.sections.all[item.section]
        rng = random.Random(self.sections.draw(item.number, 11))
        # The mean of a lognormal is exp(µ + σ²/2).
        length = self.dials.sentences * math.exp(rng.gauss(-(SPREAD**2) / 2, SPREAD))
        sentences = self.vocabulary.sentences(
            item.topic, max(4, round(length)), rng, noise=self.dials.word_noise
        )
        middle = max(2, len(sentences) // 2)
        content = (
            f"{self._trail(section)}\n<h1>{item.label}</h1>\n"
            f"<h2>{self.vocabulary.title(item.topic, item.draw)}</h2>\n"
            f"<p>{' '.join(sentences[:middle])}</p>\n"
            f"<p>{' '.join(sentences[middle:])}</p>\n{self._onward(section, item)}"
        )
        return self._page(section.host, item.label, content)

    def notice(self, host: int, title: str, text: str) -> bytes:
        """A page about nothing: imprint, contact, an error."""
        return self._page(host, title, f"<h1>{title}</h1>\n<p>{text}</p>")

    def onward(self, item: Item) -> list[Item]:
        """The items that an item links to: its neighbours, some that are related, and
        one on another host."""
        sections, draw = self.sections, self.sections.draw(item.number, RELATED)
        section = sections.all[item.section]
        indices: list[int] = []
        if section.neighbours:
            indices += [item.index - 1, item.index + 1]
        whole, rest = divmod(self.dials.related, 1)
        count = int(whole) + (sections.chance(item.number, RELATED) < rest)
        indices += [(draw >> 8 * place) % section.size for place in range(count)]
        found = [
            sections.item(section.start + index)
            for index in dict.fromkeys(indices)
            if 0 <= index < section.size and index != item.index
        ]
        others = [
            other
            for other in sections.of_topic.get(item.topic, ())
            if other.host != section.host
        ]
        if others and sections.chance(item.number, ABROAD) < self.dials.abroad:
            other = others[draw % len(others)]
            found.append(sections.item(other.start + (draw >> 20) % other.size))
        return found

    def elsewhere(self, item: Item) -> list[Item]:
        """Items of the same host that have nothing to do with this one."""
        rng = random.Random(self.sections.draw(item.number, ELSEWHERE))
        own = self.sections.of_host[self.sections.all[item.section].host]
        chosen = rng.choices(own, [each.size for each in own], k=self.dials.elsewhere)
        return [
            self.sections.item(each.start + rng.randrange(each.size)) for each in chosen
        ]

    def _onward(self, section: ListSection, item: Item) -> str:
        vague = lexicon.VAGUE[item.draw % len(lexicon.VAGUE)]
        see_also = [
            (self._href(section.host, other), anchor)
            for other in self.onward(item)
            for anchor in [vague if other.section != section.number else other.label]
        ]
        more = [
            (self.addresses.item(other), other.label) for other in self.elsewhere(item)
        ]
        return "\n".join(
            f'<h3>{heading}</h3>\n<ul class="{name}">\n{items_of(links)}\n</ul>'
            for heading, name, links in (
                ("See also", "see-also", see_also),
                ("More from this site", "more", more),
            )
            if links
        )

    def _href(self, host: int, item: Item) -> str:
        """A link to an item, relative if it stays on the host."""
        here = self.sections.all[item.section].host == host
        return self.addresses.item(item) if here else self.addresses.item_url(item)

    def _entries(self, items: Iterable[Item], *, table: bool) -> str:
        """Items as rows of a table or entries of a list: names and dates, no text."""
        rows: list[tuple[str, str, str]] = []
        for item in items:
            section = self.sections.all[item.section]
            day = section.published(item.index).isoformat()
            label = item.label
            if item.telling:
                label += f": {self.vocabulary.title(item.topic, item.draw)}"
            noun = list(lexicon.NOUNS)[item.draw % len(lexicon.NOUNS)]
            rows.append((link(self.addresses.item(item), label), day, noun))
            if item.withdrawn:
                rows.append(
                    (link(self.addresses.withdrawn(item), "appendix"), day, noun)
                )
        if table:
            cells = "\n".join(
                f'<tr class="row"><td class="day">{day}</td><td>{name}</td>'
                f'<td class="note">{noun}</td></tr>'
                for name, day, noun in rows
            )
            return f'<table class="items">\n{cells}\n</table>'
        entries = "\n".join(
            f'<li class="entry">{name} <span class="day">{day}</span></li>'
            for name, day, _ in rows
        )
        return f'<ul class="entries">\n{entries}\n</ul>'

    def _sections(self, host: int) -> str:
        """All sections of a host, as a list of links."""
        entries = "\n".join(
            f'<li class="section">{link(self.addresses.list(each), each.name)} '
            f'<span class="count">{each.size} entries</span></li>'
            for each in self.sections.of_host[host]
        )
        return f'<ul class="sections">\n{entries}\n</ul>'

    def _trail(self, section: ListSection) -> str:
        """The breadcrumbs of a page: home, all sections, its section."""
        steps = [("/", "Home"), ("/browse/", "Browse")]
        steps.append((self.addresses.list(section), section.name))
        crumbs = " › ".join(link(path, name) for path, name in steps)
        return f'<p class="breadcrumb">{crumbs}</p>'

    def _neutral(self, number: int, purpose: int, count: int) -> str:
        rng = random.Random(self.sections.draw(number, purpose))
        return " ".join(self.vocabulary.sentences(NEUTRAL, count, rng))

    def _page(self, host: int, title: str, content: str) -> bytes:
        top, bottom = self._frame(host)
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{title} – {self.sections.hosts[host]}</title>\n{top}\n"
            f'<main class="content">\n{content}\n</main>\n{bottom}'
        ).encode()

    def _make_frame(self, host: int) -> tuple[str, str]:
        """The header and footer of every page of a host."""
        name, own = self.sections.hosts[host], self.sections.of_host[host]
        menu = [("/", "Home"), ("/browse/", "Browse"), ("/archive/", "Archive")]
        menu += [(self.addresses.list(each), each.name) for each in own[:SHOWN]]
        newest = [self.sections.item(each.start) for each in own[-SHOWN:]]
        latest = [(self.addresses.item(item), item.label) for item in newest]
        small = [(f"/{each}.html", each.capitalize()) for each in SMALL_PAGES]
        top = (
            '<meta name="viewport" content="width=device-width">\n</head>\n<body>\n'
            f'<header class="top"><a class="logo" href="/">{name}</a>\n'
            f'<nav class="menu">\n<ul>\n{items_of(menu)}\n</ul>\n</nav>\n</header>'
        )
        bottom = (
            '<aside class="latest">\n<h3>Latest</h3>\n'
            f"<ul>\n{items_of(latest)}\n</ul>\n</aside>\n"
            f'<footer class="bottom">\n<p>© 2026 {name}.</p>\n'
            f"<ul>\n{items_of(small)}\n</ul>\n</footer>\n</body>\n</html>\n"
        )
        return top, bottom


def link(url: str, anchor: object) -> str:
    """A link in HTML."""
    return f'<a href="{url}">{anchor}</a>'


def items_of(links: Sequence[tuple[str, str]]) -> str:
    """Links as entries of a list."""
    return "\n".join(f"<li>{link(path, name)}</li>" for path, name in links)


def pager(paths: dict[int, str], page: int) -> str:
    """Links to the previous and the next page of a list, and some pages by number."""
    parts = []
    if page > 1:
        parts.append(link(paths[page - 1], "« Previous"))
    near = range(page - AROUND, page + AROUND + 1)
    for number in sorted({1, len(paths), *near} & set(paths)):
        here = number == page
        parts.append(f"<b>{page}</b>" if here else link(paths[number], number))
    if page < len(paths):
        parts.append(link(paths[page + 1], "Next »"))
    return "\n".join(parts)
