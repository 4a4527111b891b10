"""Searches the pages of a crawl and returns results page by page, best first."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput
from opilio.search.candidates import SoughtTerms, candidates, seek
from opilio.search.concepts import Concepts
from opilio.search.index import Index
from opilio.search.query import Query, parse_query
from opilio.search.rank import score
from opilio.search.snippet import PageText, Piece, snippet
from opilio.search.spelling import respelt
from opilio.text.word_sequence import unpack_words, word
from opilio.text.words import stem, tokens

SPARE = 50  # additional results to look up, since copies are folded
FOLDED = 10  # of these that are looked up at once: few results are copies
LOOKED_AT = 2000  # pages at least, if many are copies or noindex
MOST_RESULTS = 10_000
BITS = 2**64 - 1
NO_PATTERN = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})
NEAR = 3  # bits in which the SimHashes of near copies may differ
FOUND = """
    SELECT entry, link.id, url, title, language, score, fetched_at, simhash,
           warc, warc_offset, warc_length, indexed.words AS said
    FROM indexed JOIN page ON page.id = indexed.page JOIN link USING (id)
    WHERE entry IN (SELECT value FROM json_each(?)) AND NOT noindex
      AND copy_of IS NULL AND state IN ('kept', 'irrelevant')
"""
COPIES = """
    SELECT copy_of, url FROM page JOIN link USING (id)
    WHERE copy_of IN (SELECT value FROM json_each(?)) AND reason IS NOT 'redirect'
    ORDER BY copy_of, number
"""

TextsOf = Callable[[int, str, int, int], Iterator[PageText]]
"""The id of a page, its WARC file, offset and length -> its texts: the main text, and
all of it for hits that are not in that."""


class Matches(NamedTuple):
    """All pages that match a query, in no order."""

    entries: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    hosts: npt.NDArray[np.int64]
    languages: npt.NDArray[np.int64]  # see language_code

    def best(self, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """The entries with the highest scores, best first, and the scores."""
        entries, values = self.entries, self.scores
        if len(entries) > most:
            best = np.argpartition(values, len(entries) - most)[-most:]
            entries, values = entries[best], values[best]
        order = np.lexsort((entries, -values))
        return entries[order], values[order]


class Hit(msgspec.Struct, frozen=True):
    """A page that answers a query."""

    url: str
    title: str
    score: float  # of this query
    relevance: float  # the verdict of the crawl
    language: str
    fetched_at: float
    copies: list[str]  # other URLs with the same or nearly the same content
    snippet: list[Piece]


class Answer(msgspec.Struct, frozen=True):
    """The results of a query."""

    query: str
    total: int  # pages, estimated without looking at each
    page: int
    hits: list[Hit]
    concepts: dict[str, float]  # that the query means
    suggestion: str  # the query in another spelling; "" if there is none


class Searcher:
    """Searches one crawl; `refresh` loads new pages."""

    def __init__(
        self,
        index: Index,
        concepts: Concepts | None = None,
        language: str = "en",
        texts_of: TextsOf | None = None,
    ) -> None:
        self.index = index
        self.db: sqlite3.Connection = index.db
        self.concepts = concepts or Concepts()
        self.language = language
        self.texts_of = texts_of

    def refresh(self) -> None:
        """Load pages that were stored since."""
        self.index.refresh()

    def search(self, text: str, page: int = 1, size: int = 10) -> Answer:
        """The pages that answer a query; BadInput for one that cannot be answered."""
        check_page(page, size)
        query = parse_query(text)
        sought = seek(self.index, self.concepts, query, self.language)
        looked_at = max(LOOKED_AT, 2 * (page * size + SPARE))
        entries, scores, total = self.rank(query, sought, looked_at)
        rows = self.look_up(entries, scores, page * size)
        shown = rows[(page - 1) * size : page * size]
        return Answer(
            query=query.text,
            total=total,
            page=page,
            hits=[self.hit(row, sought) for row in shown],
            concepts=sought.meant,
            suggestion=self.suggest(query),
        )

    def rank(
        self, query: Query, sought: SoughtTerms, most: int = MOST_RESULTS
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], int]:
        """The entries of the best pages with their scores, and how many pages match."""
        found = self.matches(query, sought)
        return *found.best(most), len(found.entries)

    def matches(self, query: Query, sought: SoughtTerms) -> Matches:
        """All pages that match a query."""
        found: list[tuple[npt.NDArray[Any], ...]] = []
        hosts = self.hosts(query.sites)
        for segment in self.index.segments:
            value = score(segment, sought.wanted, self.index.mean_length)
            mask = candidates(segment, query, sought, hosts)
            mask &= value > 0
            places, pages = np.flatnonzero(mask), segment.pages
            columns = (pages[name][places] for name in ("entry", "host", "language"))
            found.append((value[places], *columns))
        scores, entries, *others = map(np.concatenate, zip(*found, strict=True))
        return Matches(entries, scores, *others)

    def hosts(self, sites: Sequence[str]) -> npt.NDArray[np.int64] | None:
        """The ids of the named hosts and those below them; None: any host."""
        if not sites:
            return None
        known = [
            number
            for site in sites
            for (number,) in self.db.execute(
                "SELECT id FROM host WHERE name = ? OR name GLOB ?",
                (site, f"*.{site.translate(NO_PATTERN)}"),
            )
        ]
        return np.array(known, np.int64)

    def look_up(
        self,
        entries: npt.NDArray[np.int64],
        scores: npt.NDArray[np.float32],
        wanted: int,
    ) -> list[dict[str, Any]]:
        """The rows of the best pages that may be shown, with copies folded."""
        rows: list[dict[str, Any]] = []
        step = wanted + FOLDED
        for start in range(0, len(entries), step):
            part = entries[start : start + step].tolist()
            cursor = self.db.execute(FOUND, (msgspec.json.encode(part).decode(),))
            names = [column[0] for column in cursor.description]
            found = {row[0]: dict(zip(names, row, strict=True)) for row in cursor}
            for place, entry in enumerate(part, start):
                if entry in found:
                    row = found[entry] | {"value": float(scores[place])}
                    row["same"] = what_copies_share(row)
                    if not is_folded(rows, row) and len(rows) < wanted:
                        rows.append(row | {"copies": []})
            if len(rows) >= wanted:
                break
        self.add_copies(rows)
        return rows

    def add_copies(self, rows: list[dict[str, Any]]) -> None:
        """Add the known copies of each page to its row."""
        by_id = {row["id"]: row for row in rows}
        ids = msgspec.json.encode(list(by_id)).decode()
        for original, url in self.db.execute(COPIES, (ids,)):
            by_id[original]["copies"].append(url)

    def hit(self, row: dict[str, Any], sought: SoughtTerms) -> Hit:
        """The result of a row."""
        passage: list[Piece] = []
        if self.texts_of and row["warc"]:
            place = row["warc"], row["warc_offset"], row["warc_length"]
            for text in self.texts_of(row["id"], *place):
                found = snippet(text, sought.stems, self.first, sought.quoted)
                passage = passage or found
                if any(piece.hit for piece in found):
                    passage = found
                    break
        return Hit(
            url=row["url"],
            title=row["title"] or "",
            score=row["value"],
            relevance=row["score"] or 0.0,
            language=row["language"] or "",
            fetched_at=row["fetched_at"],
            copies=row["copies"],
            snippet=passage,
        )

    def first(self, text: str) -> tuple[str, int]:
        """The stem of the first word of a text, and how long that word is."""
        words = tokens(text)[:1]
        return (stem(words, self.language)[0], len(words[0])) if words else ("", 0)

    def suggest(self, query: Query) -> str:
        """The query with unknown words respelt; "" if nothing changes."""
        changed = query.text
        for one in dict.fromkeys(query.words):
            if one in query.beginnings:
                continue
            known = any(self.frequencies([one]))
            if not known and (other := respelt(one, self.frequencies)):
                changed = replace_word(changed, one, other)
        return "" if changed == query.text else changed

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """How many pages have each word in any form, or a feature of that spelling."""
        terms = np.array(list(map(word, stem(words, self.language))), np.uint32)
        found = self.index.frequencies("words", terms)
        found += self.index.frequencies("features", terms)
        return list(map(int, found))


def check_page(page: int, size: int) -> None:
    """BadInput for a page of results that there cannot be."""
    if size < 1:
        raise BadInput(f"{size} results per page are too few; ask for at least 1")
    if page < 1:
        raise BadInput(f"there is no page {page} of results; pages count from 1")
    if page * size > MOST_RESULTS:
        raise BadInput(
            f"page {page} of {size} results each is beyond the last result that can be "
            f"shown, number {MOST_RESULTS:,}"
        )


def is_folded(rows: list[dict[str, Any]], row: dict[str, Any]) -> bool:
    """Whether a page repeats one of the rows, to which its URL is then added."""
    for other in rows:
        if repeats(row, other):
            other["copies"].append(row["url"])
            return True
    return False


def what_copies_share(row: dict[str, Any]) -> bytes:
    """The words of a page without its title; for a short page, which has no SimHash,
    with the title, because its few words may be those of its site."""
    said: bytes = row["said"]
    return unpack_words(said).text.tobytes() if row["simhash"] else said


def repeats(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two pages are the same, or nearly by their SimHashes, which include
    titles."""
    if row["simhash"] and other["simhash"]:
        differing: int = (row["simhash"] ^ other["simhash"]) & BITS
        if differing.bit_count() <= NEAR:
            return True
    return bool(row["same"]) and row["same"] == other["same"]


def replace_word(text: str, old: str, new: str) -> str:
    """A query with one of its words replaced."""
    return " ".join(
        piece.lower().replace(old, new) if old in tokens(piece) else piece
        for piece in text.split()
    )
