"""Search: results with snippets, and facets by site, language, type and concept."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from opilio.search.candidates import seek
from opilio.search.query import parse_query
from opilio.search.searcher import Searcher
from opilio.serve.facets import (
    VALUES,
    DetailsMemory,
    EntryDetails,
    FacetValue,
    facets_of,
)
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import PageNumber, View
from opilio.store.lifecycle import owner_of
from opilio.store.message_log import messages_of, pages_for
from opilio.text import urls

SIZE = 10  # results of a page
COUNTED = 1_000  # of the best pages, for types and concepts

FETCHED_SINCE = "SELECT url FROM page JOIN link USING (id) WHERE number > ? LIMIT 500"
SINCE = "since-"  # and a number: the key of pages that were fetched after that one
IN_WORDS = {"waiting": "waiting for the crawl", "serving": "fetching"}

QueryText: TypeAlias = Annotated[str, Meta(max_length=2_000)]
Choice: TypeAlias = Annotated[str, Meta(max_length=300)]


class SearchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A query, and what was chosen among its facets."""

    q: QueryText = ""
    page: PageNumber = 1
    site: Choice = ""
    language: Choice = ""
    type: Choice = ""
    concept: Choice = ""
    asked: Choice = ""  # the key of a message by which more pages are fetched


class SnippetPiece(msgspec.Struct, frozen=True):
    """A part of a snippet; a hit is a word of the query."""

    text: str
    hit: bool


class SearchHit(msgspec.Struct, frozen=True):
    """A page that answers a query."""

    id: int
    url: str
    title: str
    site: str
    language: str
    relevance: float  # by the judge of the crawl
    snippet: list[SnippetPiece]
    copies: int
    is_new: bool  # it was fetched for this query a moment ago


class FetchProgress(msgspec.Struct, frozen=True):
    """How far a request for more pages has come."""

    key: str
    state: str  # waiting, serving, done or refused
    words: str
    pages: int


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the results of a query."""

    query: SearchRequest
    total: int
    hits: list[SearchHit]
    facets: dict[str, list[FacetValue]]  # site, language, type, concept
    concepts: list[str]  # that the query means
    suggestion: str
    last_page: int
    progress: FetchProgress | None = None


def show_search(crawl: ServedCrawl, asked: SearchRequest) -> SearchResult:
    """The results of a query; none for an empty one."""
    progress, new = progress_of(crawl, asked.asked)
    if not asked.q.strip():
        return SearchResult(
            query=asked,
            total=0,
            hits=[],
            facets={},
            concepts=[],
            suggestion="",
            last_page=1,
            progress=progress,
        )
    return crawl.search(
        lambda searcher: results(searcher, crawl.details, asked, progress, new)
    )


def results(
    searcher: Searcher,
    memory: DetailsMemory,
    asked: SearchRequest,
    progress: FetchProgress | None,
    new: set[str],
) -> SearchResult:
    """The results of a query that has words."""
    query = parse_query(conditions(asked))
    sought = seek(searcher.index, searcher.concepts, query, searcher.language)
    matches = searcher.matches(query, sought)
    entries, scores = matches.best(COUNTED)
    total = len(matches.entries)
    details = memory.of_entries(searcher.db, entries.tolist())
    places = [place for place, one in enumerate(details) if fits(one, asked)]
    if asked.type or asked.concept:
        total = len(places)
        details = [details[place] for place in places]
    shown = asked.page * SIZE
    found = searcher.look_up(entries[places], scores[places], shown)[shown - SIZE :]
    hits = [(row["id"], searcher.hit(row, sought)) for row in found]
    return SearchResult(
        query=asked,
        total=total,
        hits=[
            SearchHit(
                id=id,
                url=hit.url,
                title=hit.title,
                site=urls.host(hit.url),
                language=hit.language,
                relevance=hit.relevance,
                snippet=[SnippetPiece(*piece) for piece in hit.snippet],
                copies=len(hit.copies),
                is_new=hit.url in new,
            )
            for id, hit in hits
        ],
        facets=facets_of(searcher.db, matches, details),
        concepts=sorted(sought.meant, key=lambda one: -sought.meant[one])[:VALUES],
        suggestion=searcher.suggest(query),
        last_page=max(1, min(1_000, -(-min(len(places), total) // SIZE))),
        progress=progress,
    )


def conditions(asked: SearchRequest) -> str:
    """The query with the site and language that were chosen."""
    site = f" site:{asked.site}" if asked.site else ""
    language = f" lang:{asked.language}" if asked.language else ""
    return f"{asked.q}{site}{language}"


def fits(page: EntryDetails, asked: SearchRequest) -> bool:
    """Whether a page has the type and the concept that were chosen."""
    if asked.type and page.mime != asked.type:
        return False
    return not asked.concept or asked.concept in page.concepts


def progress_of(crawl: ServedCrawl, key: str) -> tuple[FetchProgress | None, set[str]]:
    """How far a request for more pages is, and the URLs that it brought."""
    since = key.removeprefix(SINCE)
    if not key or (since != key and not since.isdecimal()):
        return None, set()
    with crawl.reading() as db:
        if since != key:
            rows = db.execute(FETCHED_SINCE, (min(int(since), 2**62),))
            found = {url for (url,) in rows}
            state = "serving" if owner_of(crawl.folder) else "done"
            words = "fetching" if state == "serving" else "done"
            return FetchProgress(key, state, words, len(found)), found
        told = [one for one in messages_of(crawl.folder, db) if one.key == key]
        found = {page["url"] for page in pages_for(db, key)}
    if not told:
        return None, set()
    one = told[0]
    words = IN_WORDS.get(one.state, one.outcome)
    return FetchProgress(key, one.state, words, len(found)), found


SEARCH = View(
    name="search",
    path="search",
    title="Search",
    help="Search the pages of the crawl; with facets.",
    parameters=SearchRequest,
    result=SearchResult,
    show=show_search,
)
