"""The dials of a synthetic web of lists, as one frozen record."""

from __future__ import annotations

from opilio.errors import BadInput
from opilio.settings import Section

SMALLEST = 12  # items of a section


class ListDials(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set about a web of lists; shares lie in [0, 1].

    Lists, archives and the pages of a host itself come on top of `pages`.
    """

    seed: int = 0
    pages: int = 6_000  # items
    hosts: int = 30
    topics: int = 16

    host_exponent: float = 0.6  # the host of rank h has h^-x of the first's sections
    section_pages: float = 32.0  # mean number of items in a section
    section_spread: float = 0.7  # of the logarithm of that number: a long tail
    list_least: int = 20  # items on a page of a list, in the section with fewest
    list_most: int = 100
    purity: float = 0.92  # share of a section's items that are about its subject
    telling: float = 0.06  # share of anchors and section names that tell the subject
    neighbours: float = 0.08  # share of sections whose items link to the next item
    related: float = 0.1  # mean number of links between items of a section
    elsewhere: int = 8  # links from an item to any items of its host
    abroad: float = 0.03  # share of items with a link to one of another host
    dead_links: float = 0.02  # share of list entries beside which a link is dead
    word_noise: float = 0.4  # share of sentences about something else
    sentences: float = 16.0  # mean number of sentences of an item

    def __post_init__(self) -> None:
        for name in SHARES:
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise BadInput(f"dial {name} is {share}; a share lies in [0, 1]")
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value < least:
                raise BadInput(f"dial {name} is {value}; it must be {least} or more")
        if self.list_most < self.list_least:
            raise BadInput(
                f"dial list_most is {self.list_most}, below list_least "
                f"({self.list_least}); raise it"
            )
        if self.pages < self.hosts * SMALLEST:
            raise BadInput(
                f"{self.pages} pages cannot fill {self.hosts} hosts of lists, which "
                f"have {SMALLEST} each at least; raise the dial pages or lower hosts"
            )


SHARES = ("purity", "telling", "neighbours", "abroad", "dead_links", "word_noise")
LEAST = {
    "seed": 0,
    "pages": 1,
    "hosts": 1,
    "topics": 1,
    "host_exponent": 0,
    "section_pages": SMALLEST,
    "section_spread": 0,
    "list_least": 2,
    "related": 0,
    "elsewhere": 0,
    "sentences": 4,
}
