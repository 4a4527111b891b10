"""A query in; the pages that answer it out, best first, a page of results at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

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
from opilio.text.word_sequence import unpack, word
from opilio.text.words import stem, tokens

SPARE = 50  # results that are looked up beyond those asked for: some are folded
LOOKED_AT = 2000  # pages at least, if so many are copies or may not be shown
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

TextOf = Callable[[str, int, int], PageText | None]
"""A WARC file, an offset and a length -> the text of the page there; None: lost."""


class Hit(msgspec.Struct, frozen=True):
    """A page that answers a query."""

    url: str
    title: str
    score: float  # of this query
    relevance: float  # the verdict of the crawl
    language: str
    fetched_at: float
    copies: list[str]  # other URLs with the same, or nearly
    snippet: list[Piece]


class Answer(msgspec.Struct, frozen=True):
    """What a query found."""

    query: str
    total: int  # pages, as far as can be told without looking at each
    page: int
    hits: list[Hit]
    concepts: dict[str, float]  # that were taken to be meant
    suggestion: str  # the query as it may have been meant to be spelt; "" if well


class Searcher:
    """Answers queries about one crawl; `refresh` takes up what is new."""

    def __init__(
        self,
        index: Index,
        concepts: Concepts | None = None,
        language: str = "en",
        text_of: TextOf | None = None,
    ) -> None:
        self.index = index
        self.db: sqlite3.Connection = index.db
        self.concepts = concepts or Concepts()
        self.language = language
        self.text_of = text_of

    def refresh(self) -> None:
        """Take up pages that were kept since."""
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
        """The entries of the pages that answer best, with their scores, best first; and
        how many answer at all."""
        found, scores = [], []
        hosts = self.hosts(query.sites)
        for segment in self.index.segments:
            value = score(segment, sought.wanted, self.index.mean_length)
            mask = candidates(segment, query, sought, hosts)
            mask &= value > 0
            found.append(segment.pages["entry"][mask])
            scores.append(value[mask])
        entries, values = np.concatenate(found), np.concatenate(scores)
        total = len(entries)
        if total > most:
            best = np.argpartition(values, total - most)[total - most :]
            entries, values = entries[best], values[best]
        order = np.lexsort((entries, -values))
        return entries[order], values[order], total

    def hosts(self, sites: Sequence[str]) -> npt.NDArray[np.int64] | None:
        """The hosts that are named and those below them; None: any will do."""
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
        """So many rows of the best pages that may be shown, copies folded."""
        rows: list[dict[str, Any]] = []
        for start in range(0, len(entries), wanted + SPARE):
            part = entries[start : start + wanted + SPARE].tolist()
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
        """Tell each row its copies that the crawl knows of."""
        by_id = {row["id"]: row for row in rows}
        ids = msgspec.json.encode(list(by_id)).decode()
        for original, url in self.db.execute(COPIES, (ids,)):
            by_id[original]["copies"].append(url)

    def hit(self, row: dict[str, Any], sought: SoughtTerms) -> Hit:
        """A row as it is shown."""
        passage: list[Piece] = []
        if self.text_of and row["warc"]:
            text = self.text_of(row["warc"], row["warc_offset"], row["warc_length"])
            if text is not None:
                passage = snippet(text, sought.stems, self.first, sought.quoted)
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
        """The query with words that no page has respelt; "" if nothing is to change."""
        changed = query.text
        for one in dict.fromkeys(query.words):
            if one in query.beginnings:
                continue
            known = any(self.frequencies([one]))
            if not known and (other := respelt(one, self.frequencies)):
                changed = replace_word(changed, one, other)
        return "" if changed == query.text else changed

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """How many pages have each word, in any form; or a feature that is spelt so."""
        terms = np.array(list(map(word, stem(words, self.language))), np.uint32)
        found = self.index.frequencies("words", terms)
        found += self.index.frequencies("features", terms)
        return list(map(int, found))


def check_page(page: int, size: int) -> None:
    """BadInput for a page of results that there cannot be."""
    if size < 1:
        raise BadInput(f"{size} results on a page are too few; 1 is the least")
    if page < 1:
        raise BadInput(f"there is no page {page} of results; pages count from 1")
    if page * size > MOST_RESULTS:
        raise BadInput(
            f"page {page} of {size} results each: the last result that can be shown is "
            f"number {MOST_RESULTS:,}"
        )


def is_folded(rows: list[dict[str, Any]], row: dict[str, Any]) -> bool:
    """Does a page repeat one of the rows? Then that names it."""
    for other in rows:
        if repeats(row, other):
            other["copies"].append(row["url"])
            return True
    return False


def what_copies_share(row: dict[str, Any]) -> bytes:
    """The words of a page without its title; of a short one, which has no SimHash, with
    it: what little it says may be its site's."""
    said: bytes = row["said"]
    return unpack(said).text.tobytes() if row["simhash"] else said


def repeats(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Do two pages say the same; or nearly, by SimHashes, in which titles are too?"""
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
