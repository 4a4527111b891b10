"""Divides a web of lists into hosts, sections and items, by arithmetic.

A host has sections. A section is a list of items, newest first, nearly all about one
subject. Only sections are kept in memory; an item is computed from its number.
"""

from __future__ import annotations

import random
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate

import msgspec
import xxhash

from opilio.lab.synthetic import lexicon
from opilio.lab.synthetic.lists.dials import SMALLEST, ListDials
from opilio.lab.synthetic.vocabulary import TopicWords

NEWEST = date(2026, 6, 30)
GAPS = (3, 20)  # days between two items of a section, from and to
NAMES = ("series", "collection", "department", "category", "register", "volume")
MEMO = 16_384  # items remembered
NEUTRAL = -1  # the topic of text about nothing in particular


class Style(StrEnum):
    """What the items of a section are called."""

    DATED = "dated"
    VERSIONS = "versions"
    NUMBERS = "numbers"
    TITLES = "titles"


class ListSection(msgspec.Struct, frozen=True):
    """A list of items on a host."""

    number: int
    host: int
    topic: int
    start: int  # its first item
    size: int
    name: str
    slug: str  # in its URLs
    style: Style
    per_list: int  # items on a page of its list
    gap: int  # days between two items
    table: bool  # rows of a table, not entries of a list
    query: bool  # ?page=2, not /page/2/
    neighbours: bool  # items link to the next and the previous one

    @property
    def lists(self) -> int:
        """How many pages its list has."""
        return -(-self.size // self.per_list)

    def published(self, index: int) -> date:
        """The date of an item."""
        return NEWEST - timedelta(days=self.number % 7 + index * self.gap)


class Item(msgspec.Struct, frozen=True):
    """An item of a section."""

    number: int
    section: int
    index: int  # 0 is the newest
    topic: int
    draw: int  # 64 random bits of its own
    label: str  # what lists call it
    telling: bool  # lists add a title that tells its subject
    withdrawn: bool  # lists have a dead link beside it


class Sections:
    """The hosts, sections and items of a web of lists."""

    def __init__(self, dials: ListDials, vocabulary: TopicWords) -> None:
        self.dials = dials
        self.vocabulary = vocabulary
        self.hosts = host_names(dials)
        self.all = make_sections(dials, vocabulary.topics)
        self.of_host: list[list[ListSection]] = [[] for _ in self.hosts]
        for section in self.all:
            self.of_host[section.host].append(section)
        self.of_topic: dict[int, list[ListSection]] = {}
        for section in self.all:
            self.of_topic.setdefault(section.topic, []).append(section)
        self.by_slug = {(each.host, each.slug): each for each in self.all}
        self._starts = array("q", [section.start for section in self.all])
        self.item = lru_cache(MEMO)(self._item)

    def draw(self, number: int, purpose: int) -> int:
        """64 bits that depend on the web's seed, the number and the purpose only."""
        seed = self.dials.seed * 64 + purpose & 0xFFFF_FFFF_FFFF_FFFF
        return xxhash.xxh3_64_intdigest(number.to_bytes(8, "little"), seed)

    def chance(self, number: int, purpose: int) -> float:
        """The same as a number in [0, 1)."""
        return (self.draw(number, purpose) >> 11) / 2**53

    def items(
        self, section: ListSection, start: int = 0, end: int | None = None
    ) -> Iterator[Item]:
        """The items of a section from one index to another, newest first."""
        last = section.size if end is None else min(end, section.size)
        return (self.item(section.start + index) for index in range(start, last))

    def items_of_year(self, host: int, year: int) -> list[Item]:
        """What all sections of a host published in a year, newest first."""
        found = [
            (section.published(item.index), item.number, item)
            for section in self.of_host[host]
            for item in self.items(section, *indices_of(section, year))
        ]
        return [item for *_, item in sorted(found, key=lambda one: (one[0], -one[1]))][
            ::-1
        ]

    def years(self, host: int) -> list[int]:
        """The years of which a host has items, newest first."""
        oldest = min(
            section.published(section.size - 1) for section in self.of_host[host]
        )
        return list(range(NEWEST.year, oldest.year - 1, -1))

    def _item(self, number: int) -> Item:
        section = self.all[bisect_right(self._starts, number) - 1]
        index = number - section.start
        topic = section.topic
        if self.chance(number, 1) >= self.dials.purity:
            topic = self.draw(number, 2) % len(self.vocabulary.topics)
        draw = self.draw(number, 3)
        return Item(
            number=number,
            section=section.number,
            index=index,
            topic=topic,
            draw=draw,
            label=self._label(section, index, draw),
            telling=self.chance(number, 4) < self.dials.telling,
            withdrawn=self.chance(number, 5) < self.dials.dead_links,
        )

    def _label(self, section: ListSection, index: int, draw: int) -> str:
        match section.style:
            case Style.DATED:
                day = section.published(index)
                return f"{day.day} {day:%B %Y}"
            case Style.VERSIONS:
                return f"Release {version(section.size - 1 - index)}"
            case Style.NUMBERS:
                return f"No. {section.size + 99 - index}"
            case Style.TITLES:
                return self.vocabulary.title(NEUTRAL, draw)


def version(number: int) -> str:
    """The version of this number: 0 is 1.0.0.

    >>> version(75)
    '2.1.5'
    """
    return f"{number // 60 + 1}.{number // 10 % 6}.{number % 10}"


def indices_of(section: ListSection, year: int) -> tuple[int, int]:
    """The items of a section that were published in a year, from and to."""
    newest = section.published(0)
    later = (newest - date(year, 12, 31)).days
    before = (newest - date(year - 1, 12, 31)).days
    return max(0, -(-later // section.gap)), max(0, -(-before // section.gap))


def make_sections(dials: ListDials, topics: tuple[str, ...]) -> list[ListSection]:
    """All sections: sizes with a long tail, subjects in turn, hosts by a power law."""
    rng = random.Random(f"{dials.seed} sections")
    sizes = section_sizes(dials, rng)
    hosts = [*range(dials.hosts)]
    weights = [(rank + 1) ** -dials.host_exponent for rank in hosts]
    hosts += rng.choices(hosts, weights, k=len(sizes) - len(hosts))
    rounds = -(-len(sizes) // len(topics))
    subjects = [
        topic
        for _ in range(rounds)
        for topic in rng.sample(range(len(topics)), len(topics))
    ]
    found: list[ListSection] = []
    for number, (size, start) in enumerate(
        zip(sizes, accumulate(sizes, initial=0), strict=False)
    ):
        topic = subjects[number]
        name = f"{rng.choice(NAMES)} {number + 1}"
        if rng.random() < dials.telling:
            name = f"{topics[topic]} {number + 1}"
        found.append(
            ListSection(
                number=number,
                host=hosts[number],
                topic=topic,
                start=start,
                size=size,
                name=name.capitalize(),
                slug=name.replace(" ", "-"),
                style=rng.choice(list(Style)),
                per_list=rng.randint(dials.list_least, dials.list_most),
                gap=rng.randint(*GAPS),
                table=rng.random() < 0.5,
                query=rng.random() < 0.3,
                neighbours=rng.random() < dials.neighbours,
            )
        )
    return found


def section_sizes(dials: ListDials, rng: random.Random) -> list[int]:
    """Enough sections that every host has one and every item is in one."""
    spread = dials.section_spread
    sizes: list[int] = []
    left = dials.pages
    while left:
        # The mean of a lognormal is exp(µ + σ²/2).
        wish = dials.section_pages * 2.718281828 ** rng.gauss(-(spread**2) / 2, spread)
        # Enough must be left for the hosts that have no section yet.
        others = max(0, dials.hosts - len(sizes) - 1) * SMALLEST
        size = min(max(SMALLEST, round(wish)), left - others)
        if left - size < SMALLEST:
            size = left
        sizes.append(size)
        left -= size
    return sizes


def host_names(dials: ListDials) -> tuple[str, ...]:
    """Names that do not tell what a host is about."""
    rng = random.Random(f"{dials.seed} list hosts")
    syllable = (lexicon.ONSETS.split(), lexicon.VOWELS.split())
    return tuple(
        f"www.{''.join(map(rng.choice, syllable * 2))}{number}.test"
        for number in range(dials.hosts)
    )
