"""The records that the stages share; imports nothing of ours.

Records hold no references to each other's holders, so none of them can be part of a
cycle: `gc=False` keeps millions of them out of the garbage collector's rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Literal

import msgspec

Clock = Callable[[], float]
"""Seconds; only differences mean anything (`time.monotonic`, or a test's own)."""

Fingerprint = int
"""64 bits as a signed integer, so that SQLite and numpy hold it as it is."""

Mode = Literal["fixed", "paper"]
"""Which reading of a paper: its evident intent, or its letter, made to terminate."""

Parts = Mapping[str, float]
"""What a number is made of, by the symbols of the paper that the equation is from."""

CONTEXT_LENGTH = 200  # characters on each side of a link (papers.md, A.7-9)

TIER = "tier: "
"""Begins the name of a part that only says among which links this one stands."""

Revision = tuple[Fingerprint, float] | tuple[Fingerprint, float, Parts]
"""A link that waits, its new promise, and what that is made of, if it is told."""

Headers = Sequence[tuple[str, str]]
"""Header lines in the order of the wire; names in lower case."""

BEYOND_ASCII = re.compile("[\x80-\xff]")


class State(StrEnum):
    """Where a link is in its life; always exactly one of these."""

    WAITING = "waiting"
    LEASED = "leased"
    KEPT = "kept"
    IRRELEVANT = "irrelevant"
    COPY = "copy"
    UNUSABLE = "unusable"
    PARKED = "parked"


class Counted(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The topic terms in a piece of text, counted."""

    terms: Mapping[str, int] = {}  # term's key -> times it occurs
    norm: float = 0.0  # √Σ(1+ln tf)² over all its stems; 0 if it has no topic term


NOTHING = Counted()


class LinkTerms(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The topic terms in each part of a link."""

    anchor: Counted = NOTHING
    around: Counted = NOTHING  # before and after it, without the anchor
    url: Counted = NOTHING


class Link(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """A link as it stands on a page."""

    url: str  # absolute, in canonical form
    fingerprint: Fingerprint  # of that form
    anchor: str = ""
    before: str = ""  # the words before it, cut at word boundaries
    after: str = ""
    rel: str = ""
    block: int = 0  # number of the block it stands in
    path: str = ""  # its tags from body on, joined by slashes
    terms: LinkTerms | None = None  # None: there is no topic term in any part
    words: bytes = b""
    """Of each of its words a little-endian uint32: the part it stands in (LinkPart) in
    the upper 3 bits, then 29 bits of the hash of its stem; empty unless asked for."""
    vector: bytes = b""
    """The unit vector of its anchor, surroundings and heading: for each dimension an
    int8, 127 times the number; zeros if no word is known, empty unless asked for."""


class LinkPart(IntEnum):
    """Where a word of a link stands."""

    ANCHOR = 0
    URL = 1
    BEFORE = 2
    AFTER = 3
    HEADING = 4  # of its block, if blocks are asked for too
    TITLE = 5  # of the page


class BlockKind(StrEnum):
    """What a block is there for."""

    TEXT = "text"
    NAVIGATION = "navigation"
    FOOTER = "footer"
    ADVERTISING = "advertising"


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a page: what stands under one heading, or a part that is none of it.

    Blocks are numbered from 0 in document order. Block 0 has no heading: it holds the
    title and what stands before the first heading.
    """

    heading: str = ""
    level: int = 0  # of the heading, 1 to 6; 0: it has none
    parent: int = -1  # number of the block under whose heading this one's stands
    kind: BlockKind = BlockKind.TEXT
    words: int = 0
    terms: Mapping[str, int] = {}  # in heading and text
    norm: float = 0.0  # √Σ(1+ln tf)² over all its stems
    most: int = 0  # times its most frequent stem occurs
    heading_terms: Counted = NOTHING  # in its own heading


class Page(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the reader made of a response."""

    url: str  # the canonical form of the URL that answered
    title: str
    language: str  # BCP 47 primary tag in lower case, "" when unknown
    charset: str  # the encoding that was used, WHATWG name
    words: int  # tokens of the visible text
    terms: Mapping[str, int]  # topic term -> times it occurs on the page
    norm: float  # length of the page's vector over all its terms: √Σ(1+ln tf)²
    simhash: Fingerprint  # of text and title; 0 when it is too short to compare
    links: Sequence[Link]  # http and https only, each URL once, in document order
    canonical: str = ""  # <link rel=canonical>, if it names the same site
    refresh: str = ""  # the target of an immediate <meta http-equiv=refresh>
    noindex: bool = False  # meta robots or X-Robots-Tag
    nofollow: bool = False
    degraded: str = ""  # why the page could not be read as a whole, if so
    title_terms: Counted = NOTHING
    url_terms: Counted = NOTHING
    blocks: Sequence[Block] = ()  # empty unless the reader was asked for them
    stems: bytes = b""  # hashes of all its stems, ascending, as little-endian uint64
    counts: bytes = b""  # how often each of these occurs, as little-endian uint16
    alternates: Mapping[str, str] = {}  # hreflang -> URL
    headings: Sequence[str] = ()  # texts, h1 first; empty unless asked for
    sequence: bytes = b""  # its words for the search index: see word_sequence
    vectors: bytes = b""
    """Three unit vectors as in Link.vector, one after another: of its title, its first
    60 words and its first 400 words; empty unless asked for."""
    text: str = ""  # the main text, without menus and footers; empty unless asked for
    is_seed: bool = False  # somebody chose it to start from
    settled: bytes = b""
    """Fingerprints, as little-endian int64, of further links of which a strategy said
    that it need not see them again; they are not among `links`."""
    settled_ids: bytes = b""  # of these, in the same form


class ReaderSetup(msgspec.Struct, frozen=True):
    """What a reader process must know of the topic, the judge and the strategy."""

    terms: tuple[str, ...]
    language: str
    context: bool = False  # the words around links, and the terms in them
    blocks: bool = False
    vector: bool = False  # Page.stems and Page.counts
    overlapping: bool = False  # count terms inside longer terms too
    words: bool = False  # Link.words; with them comes the context
    headings: bool = False
    sequence: bool = False  # Page.sequence; with it come the headings
    dictionaries: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Language -> word or phrase -> its meanings in the topic's language."""
    agent: str = "opilio"  # the name that pages call us by in what they ask of robots
    vectors: str = ""
    """Where the word vectors come from that Link.vector and Page.vectors are made of: a
    path, or "wordllama"; "": none are made. With them comes the context."""
    text: bool = False  # Page.text
    context_length: int = CONTEXT_LENGTH


class ClassFeatures(msgspec.Struct, frozen=True, gc=False):
    """What a page about a class of the ontology may say (Yang, figure 3)."""

    representative: Sequence[str] = ()  # keys of terms that stand for this class alone
    related: Mapping[str, int] = {}  # key -> level: how far the shared feature is


class ConceptWords(msgspec.Struct, frozen=True, gc=False):
    """A concept of the ontology as queries meet it: by name."""

    features: Sequence[str] = ()  # keys of the terms that name it
    levels: Mapping[str, int] = {}  # concept -> relations between it and this one
    near: Mapping[str, float] = {}  # concept -> how much a page about it is about this
    kinds: Sequence[str] = ()  # concepts that are kinds of it
    broader: Sequence[str] = ()  # concepts that it is a kind of


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A topic, compiled: all that readers, judges, strategies and searches are told of
    what is sought. Tables have their terms by key."""

    threshold: float | None = None  # None: the judge's own
    weights: Mapping[str, float] = {}  # the weight table
    importance: Mapping[str, float] = {}  # the importance table of the ontology
    concepts: Mapping[str, tuple[str, float]] = {}
    """Term -> the concept it names, and how near that is to what is sought (1: it)."""
    classes: Mapping[str, ClassFeatures] = {}
    targets: Sequence[str] = ()  # of these classes, those that are sought
    relevant: Sequence[Page] = ()  # example pages, with their vectors
    irrelevant: Sequence[Page] = ()
    vectors: Mapping[str, bytes] = {}
    """Term -> its unit vector in float32, in the dimensions of Link.vector; not of all
    terms, if there are thousands, and empty without word vectors."""
    rarity: Mapping[str, float] = {}
    """Term -> how rare its words are in ordinary texts: 0 common, 1 rare."""
    common: bytes = b""
    """Words that are common in ordinary texts: of each the upper 32 bits of the hash of
    its stem as <u4, and how rare it is as <f4; all others are rare."""
    trained: str = ""  # a file of trained weights; "": the one in the package
    terms: Sequence[str] = ()  # that readers count, as the topic writes them
    language: str = "en"  # of these terms
    dictionaries: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Language -> word or phrase -> its meanings in the subject's language."""
    named_concepts: Mapping[str, ConceptWords] = {}
    """Concepts that a search may mean, by label."""
    word_vectors: str = ""  # where they come from: a path, or wordllama; "": none


class Reading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a reader process hands back for one response."""

    page: Page | None
    record: bytes = b""  # the exchange as finished WARC records, to be appended
    reason: str = ""  # why there is no page: not_html, parse_crashed, parse_timeout


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How relevant a page is, and why."""

    score: float  # in [0, 1]
    relevant: bool
    parts: Parts = {}


SEED_PROMISE = 1e6  # of seeds that somebody chose: before any that a strategy ranks


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A link with its promise, the frontier's only sort key, and why."""

    link: Link
    promise: float
    parts: Parts = {}
    level: int = 0  # irrelevant pages in a row on the way here: depth in a tunnel
    reason: str = ""  # why it is not wanted; empty: it is


class Lease(msgspec.Struct, frozen=True, gc=False):
    """The right to visit one link, until it expires."""

    id: int  # of the link, in the catalogue
    url: str
    fingerprint: Fingerprint
    host: str
    promise: float
    depth: int = 0  # links followed from a seed
    level: int = 0  # irrelevant pages in a row on the way here
    redirects: int = 0  # hops since the last real link
    attempts: int = 0  # how often it was tried before
    found_on: int = 0  # id of the page it was found on; 0: a seed
    template: Fingerprint = 0  # of its URL without numbers and values; 0: it has none

    def level_after(self, verdict: Verdict) -> int:
        """The level of the links of its page: one more than its own, unless that is
        relevant."""
        return 0 if verdict.relevant else self.level + 1


class Response(msgspec.Struct, frozen=True, gc=False):
    """What came over the wire for one URL."""

    url: str
    status: int
    headers: Headers
    body: bytes  # content codings removed
    fetched_at: float  # seconds since 1970
    wire: bytes | None = None  # the body before that, if it differs
    ip: str = ""  # the address actually connected to; "" behind a proxy
    protocol: str = "http/1.1"
    truncated: str = ""  # why the body is not whole: "length", "time", "disconnect"
    request: Headers = ()  # the header lines we sent

    def header(self, name: str) -> str:
        """The value of a header, repeated lines joined by commas."""
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def location(self) -> str:
        """Where a redirect leads, as it says first; "" if it does not.

        Header lines are bytes, one a character here. Those beyond ASCII are escaped as
        they came, as browsers do: what is UTF-8 stays that.
        """
        told = (value for key, value in self.headers if key == "location" and value)
        return BEYOND_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", next(told, ""))


class RobotsRecord(msgspec.Struct, frozen=True):
    """The robots.txt of an origin as last seen; a row of the table `robots`."""

    origin: str  # scheme://host[:port]
    status: str  # rules, unavailable or unreachable
    fetched_at: float  # seconds since 1970; of the first failure while unreachable
    expires_at: float  # ask again then
    body: bytes = b""  # the last one that was had, also while unreachable
    failures: int = 0  # in a row, while unreachable


class Reads(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a page that a strategy, a judge or the index needs; readers leave
    out the rest.

    A part that is read or not has the same name here and in ReaderSetup, and so finds
    its way to the readers by itself. `longest`, `transcribe`, `look_ahead` and
    `context_length` are for strategies alone.
    """

    text: bool = False  # Page.text
    context: bool = False  # Link.before, after, path, block and terms
    blocks: bool = False  # Page.blocks
    vector: bool = False  # Page.stems and Page.counts
    words: bool = False  # Link.words
    vectors: bool = False  # Link.vector and Page.vectors, if there are word vectors
    headings: bool = False  # Page.headings
    sequence: bool = False  # Page.sequence
    longest: bool = False  # terms inside longer terms do not count
    transcribe: bool = True  # words that the topic's dictionaries know, by meaning
    look_ahead: bool = False  # Knowledge.look_ahead, if the topic has classes
    context_length: int = CONTEXT_LENGTH


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What a strategy is told when it is made."""

    subject: Subject = Subject()
    seed: int = 0  # of all chance
    look_ahead: Callable[[Page, int], float] | None = None
    """P(class of the page → class sought) by so many links at most, by the class rules
    of the topic, if it has classes and the strategy's Reads ask for it."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """How many relevant pages are still to be found, as a strategy estimates it."""

    found: float  # so far: the scores of the pages kept, added up
    left: float  # by the chances of the links that wait
    low: float  # it is rarely fewer than this,
    high: float  # or more than this
    recapture: float  # what is left by capture and recapture
    next: float  # expected of the 100 best links that wait

    @property
    def share(self) -> float:
        """The share of the relevant pages that was found."""
        return self.found / (self.found + self.left)


class BusyServer(msgspec.Struct, frozen=True):
    """A server with requests under way (Kumar & Vig's Busy Server Queue, III.C)."""

    host: str
    requests: int
    links: int  # that wait for it, about


class Counts(msgspec.Struct, frozen=True):
    """How a frontier stands."""

    waiting: int
    leased: int
    hosts: int
    ready: int  # hosts that may be visited now and have something to visit
    resting: int  # hosts that asked for rest, or have it since a visit failed
    ended: Mapping[tuple[State, str], int]  # all other links, by state and reason
    awaited: str = ""  # the host to be visited next, if links wait and none may be now
    awaited_for: float = 0.0  # seconds until it may be
    held: int = 0  # ready hosts that are not visited because better links wait
    paused: bool = False  # nothing is leased until somebody says so
    busy: Sequence[BusyServer] = ()  # some of them, those with most requests and links

    @property
    def reasons(self) -> Mapping[str, int]:
        """The unusable links, by reason."""
        return {
            reason: count
            for (state, reason), count in self.ended.items()
            if state is State.UNUSABLE
        }
