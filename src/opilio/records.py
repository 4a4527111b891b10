"""The records that the stages of a crawl exchange.

No record can be part of a reference cycle, so `gc=False` keeps millions of them out of
the garbage collector's rounds. This module imports no other module of Opilio.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Literal

import msgspec

Clock = Callable[[], float]
"""Returns seconds; only differences mean anything (`time.monotonic`, or a test's)."""

Fingerprint = int
"""64 bits as a signed integer, so that SQLite and numpy hold it as it is."""

Mode = Literal["fixed", "paper"]
"""Which reading of a paper: its evident intent (fixed), or its letter (paper)."""

Purpose = Literal["search", "ai-input", "ai-train", "research"]
"""What pages are collected for; sites may reserve them against it."""

Parts = Mapping[str, float]
"""The parts of a score or promise, named by the symbols of the paper's equation."""

PartsText = str
"""The same in JSON, as they are stored; a strategy that writes it saves time."""

CONTEXT_LENGTH = 200  # characters on each side of a link (papers.md, A.7-9)

TIER = "tier: "
"""Prefix of the names of parts that only say which group of links this one is in."""

Revision = tuple[Fingerprint, float] | tuple[Fingerprint, float, Parts | PartsText]
"""A waiting link, its new promise and, optionally, the parts of that."""

Headers = Sequence[tuple[str, str]]
"""Header lines in the order received or sent; names in lower case."""

BEYOND_ASCII = re.compile("[\x80-\xff]")


class State(StrEnum):
    """The state of a link."""

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
    path: str = ""  # its tags from <body> down, joined by slashes
    terms: LinkTerms | None = None  # None: there is no topic term in any part
    words: bytes = b""
    """A little-endian uint32 per word: its LinkPart in the upper 3 bits, then 29 bits
    of the hash of its stem; empty unless asked for."""
    vector: bytes = b""
    """The unit vector of its anchor, surroundings and heading, times 127, as an int8
    per dimension; zeros if no word is known, empty unless asked for."""


class LinkPart(IntEnum):
    """Where a word of a link stands."""

    ANCHOR = 0
    URL = 1
    BEFORE = 2
    AFTER = 3
    HEADING = 4  # of its block, if blocks are asked for too
    TITLE = 5  # of the page


class BlockKind(StrEnum):
    """The role of a block on its page."""

    TEXT = "text"
    NAVIGATION = "navigation"
    FOOTER = "footer"
    ADVERTISING = "advertising"


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a page: the content under one heading, or a part outside of it.

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
    """A page as the reader extracted it from a response."""

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
    degraded: str = ""  # why the page could only be read in part, if so
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
    is_seed: bool = False  # a person chose it as a seed
    settled: bytes = b""
    """Fingerprints, as little-endian int64, of further links of which a strategy said
    that it need not see them again; they are not among `links`."""
    settled_ids: bytes = b""  # of these, in the same form
    opinion: float | None = None  # of an Adviser, in its own unit; None: not asked


class Extraction(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The main text of a page and what the page says about itself; "": not said."""

    version: int = 0  # of the extractor
    text: str = ""  # one line per paragraph, item and row
    markdown: str = ""  # with links
    title: str = ""  # without the name of the site
    authors: Sequence[str] = ()
    published: str = ""  # YYYY-MM-DD
    modified: str = ""
    description: str = ""
    site: str = ""  # its name
    image: str = ""  # URL of the picture that stands for the page
    canonical: str = ""  # also on other sites
    licences: Sequence[str] = ()  # URLs
    types: Sequence[str] = ()  # of JSON-LD: Article, Product, …
    usage: Mapping[str, str] = {}  # signals of the page: text/usage_signals.py
    pages: int = 0  # of a PDF file


class MainText(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The Extraction of a page, packed, and what the search index needs of it."""

    packed: bytes  # see storage/packed.py
    sequence: bytes = b""  # its words: see word_sequence; b"": it has none
    terms: Mapping[str, int] = {}  # topic term -> number of occurrences


class ReaderSetup(msgspec.Struct, frozen=True):
    """What a reader process needs to know about topic, judge and strategy."""

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
    agent: str = "opilio"  # our name in robots meta tags and X-Robots-Tag
    vectors: str = ""
    """The source of the word vectors for Link.vector and Page.vectors: a path,
    "english" or "wordllama"; "": no vectors. With them comes the context."""
    text: bool = False  # Page.text
    context_length: int = CONTEXT_LENGTH
    dimensions: int = 0  # of the vectors; 0: as many as there are


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
    """A compiled topic: all that readers, judges, strategies and searches know about
    what is sought. Tables contain terms by key."""

    threshold: float | None = None  # None: the judge's own
    weights: Mapping[str, float] = {}  # the weight table
    importance: Mapping[str, float] = {}  # the importance table of the ontology
    concepts: Mapping[str, tuple[str, float]] = {}
    """Term -> the concept it names, and how near that is to what is sought (1:
    same)."""
    classes: Mapping[str, ClassFeatures] = {}
    targets: Sequence[str] = ()  # of these classes, those that are sought
    relevant: Sequence[Page] = ()  # example pages, with their vectors
    irrelevant: Sequence[Page] = ()
    vectors: Mapping[str, bytes] = {}
    """Term -> its unit vector in float32, in the dimensions of Link.vector; only some
    terms if there are thousands, empty without word vectors."""
    rarity: Mapping[str, float] = {}
    """Term -> how rare its words are in ordinary texts: 0 common, 1 rare."""
    common: bytes = b""
    """Words that are common in ordinary texts: for each the upper 32 bits of the hash
    of its stem as <u4, and how rare it is as <f4; all others are rare."""
    trained: str = ""  # a file of trained weights; "": the one in the package
    terms: Sequence[str] = ()  # that readers count, as the topic writes them
    language: str = "en"  # of these terms
    dictionaries: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Language -> word or phrase -> its meanings in the subject's language."""
    named_concepts: Mapping[str, ConceptWords] = {}
    """Concepts that a search may mean, by label."""
    word_vectors: str = ""  # where they come from: a path or a name; "": none


class Reading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a reader process returns for one response."""

    page: Page | None
    record: bytes = b""
    """The exchange as finished WARC records, to be appended."""
    reason: str = ""  # why there is no page: parse_crashed, pdf_encrypted …
    seconds: float = 0.0  # of CPU, if it took unusually many
    extraction: MainText | None = None  # if it was asked for, or needed already


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """How relevant a page is, and why."""

    score: float  # in [0, 1]
    relevant: bool
    parts: Parts = {}


SEED_PROMISE = 1e6  # of seeds that a person chose: above all promises of strategies


class Ranked(msgspec.Struct, frozen=True, gc=False):
    """A link with its promise, by which the frontier sorts, and the reasons for it."""

    link: Link
    promise: float
    parts: Parts | PartsText = {}
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
    is_doubted: bool = False  # pages of its domain repeat each other, as those of traps

    def level_after(self, verdict: Verdict) -> int:
        """The level of the page's links: 0 if it is relevant, else one more."""
        return 0 if verdict.relevant else self.level + 1


METHOD_FIELD = "X-Opilio-Method"
"""Tells in WARC records which answers were not to GET, and so are no pages."""


class Response(msgspec.Struct, frozen=True, gc=False):
    """The HTTP response for one URL."""

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
    replayed: bool = False  # from an archive, while others come from the web
    rendered: bytes = b""  # the HTML after scripts ran, in UTF-8, if they did
    posted: bytes = b""  # what a script of a page has sent

    @property
    def content(self) -> bytes:
        """What two copies have in common: the rendered page, or else the body."""
        return self.rendered or self.body

    def header(self, name: str) -> str:
        """The value of a header, repeated lines joined by commas."""
        return ", ".join(value for key, value in self.headers if key == name)

    @property
    def location(self) -> str:
        """The target in the first Location header; "" if there is none.

        Each character of a header line stands for one byte. Bytes beyond ASCII are
        percent-encoded unchanged, as browsers do, so UTF-8 stays UTF-8.
        """
        told = (value for key, value in self.headers if key == "location" and value)
        return BEYOND_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", next(told, ""))


class RobotsRecord(msgspec.Struct, frozen=True):
    """The robots.txt of an origin as last seen; a row of the table `robots`."""

    origin: str  # scheme://host[:port]
    status: str  # rules, unavailable or unreachable
    fetched_at: float  # seconds since 1970; of the first failure while unreachable
    expires_at: float  # ask again then
    body: bytes = b""  # the last one received, also while unreachable
    failures: int = 0  # in a row, while unreachable


class TdmRecord(msgspec.Struct, frozen=True):
    """The tdmrep.json of an origin as last seen; a row of the table `tdmrep`."""

    origin: str  # scheme://host[:port]
    status: str  # rules, none, forbidden or failed
    fetched_at: float  # seconds since 1970
    expires_at: float  # ask again then
    body: bytes = b""  # the rules, see fetch/tdm_rules.py


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
    transcribe: bool = True  # translate words that the topic's dictionaries have
    look_ahead: bool = False  # Knowledge.look_ahead, if the topic has classes
    context_length: int = CONTEXT_LENGTH


class ExampleLink(msgspec.Struct, frozen=True):
    """A link of an example page, and whether it leads to a page of the class sought."""

    page: Page
    place: int  # among the links of the page
    leads_there: bool


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What a strategy gets to know when it is constructed."""

    subject: Subject = Subject()
    seed: int = 0  # of all random choices
    look_ahead: Callable[[Page, int, bool], float] | None = None
    """P(class of the page → class sought) by so many links at most, by the class rules
    of the topic, if it has classes and the strategy's Reads ask for it."""
    class_links: Sequence[ExampleLink] = ()
    """The links that these rules were learnt from; none when a crawl is resumed."""
