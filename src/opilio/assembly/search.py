"""Opens the search index of a crawl, and indexes pages that are missing from it.

Pages that were crawled without an index (by an older version, or with
`index = false`) are read again from the WARC files first.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from opilio.assembly.plan import Plan, load_plan
from opilio.assembly.reader_process import ReaderProcess
from opilio.assembly.reader_setup import rereading
from opilio.errors import BadInput, OpilioError
from opilio.records import MainText, Page, ReaderSetup
from opilio.search.concepts import Concepts
from opilio.search.index import Index, catch_up
from opilio.search.log_query import log_query
from opilio.search.query import parse_query
from opilio.search.searcher import Searcher, TextsOf
from opilio.search.snippet import PageText
from opilio.storage.database import Database, open_database
from opilio.store.extractions import load_extraction
from opilio.store.folder import CrawlFolder
from opilio.store.index_entries import save_entry
from opilio.store.stored_responses import StoredResponses
from opilio.subject.current import current_subject
from opilio.subject.page_reader import make_reader
from opilio.subject.stored_subject import load_subject

if TYPE_CHECKING:
    from opilio.read.page_texts import PageTexts

AT_ONCE = 500  # pages between two commits
MISSING = """
    SELECT id, warc, warc_offset, warc_length FROM page JOIN link USING (id)
    WHERE score IS NOT NULL AND copy_of IS NULL AND NOT noindex AND warc IS NOT NULL
      AND (relevant OR ?) AND state IN ('kept', 'irrelevant')
      AND id NOT IN (SELECT page FROM indexed)
    ORDER BY number
"""

SILENT = Page("", "", "", "", 0, {}, 0.0, 0, ())  # entry of pages that crash readers

Missing = tuple[int, str, int, int]
"""A page that is not indexed, and where its records are."""

log = logging.getLogger(__name__)


@contextmanager
def open_search(folder: CrawlFolder) -> Iterator[Searcher]:
    """A search over all that a crawl has committed; logs slow steps.

    Several threads may use it in turn.
    """
    folder.require()
    plan, subject = load_plan(folder), load_subject(folder.subject)
    records = StoredResponses(folder.warcs)
    index_missing(folder, plan, records)
    concepts = Concepts(subject.named_concepts, plan.search.mode)
    from opilio.read.page_texts import PageTexts  # slow to import

    with (
        closing(open_database(folder.database, read_only=True, any_thread=True)) as db,
        closing(PageTexts()) as texts,
    ):
        index = open_index(db, folder, concepts)
        found = texts_in(db, records, texts)
        yield Searcher(index, concepts, subject.language, found)
    if records.trouble:
        log.warning("%s", records.trouble)


def open_index(
    db: sqlite3.Connection, folder: CrawlFolder, concepts: Concepts
) -> Index:
    """The index; if its folder is read-only, what is missing comes from crawl.db."""
    index: Index | None = None
    try:
        catch_up(db, folder.index, concepts.kept)
        index = Index(db, folder.index, concepts.kept)
        if index.is_damaged:
            log.warning("%s is damaged; rebuilding it from crawl.db", folder.index)
            catch_up(db, folder.index, concepts.kept, thorough=True)
    except OSError as error:
        log.warning("the index cannot be written (%s); searching without it", error)
    return index or Index(db, folder.index, concepts.kept)


def index_missing(folder: CrawlFolder, plan: Plan, records: StoredResponses) -> int:
    """Index every page that is missing; returns how many were.

    Pages whose records cannot be read are skipped; they are indexed once their WARC
    file is restored from a copy.
    """
    everything = plan.search.pages == "all"
    with closing(open_database(folder.database, read_only=True)) as db:
        if db.execute(f"{MISSING} LIMIT 1", (everything,)).fetchone() is None:
            return 0
        subject = current_subject(plan.topic, folder, db)
    not_found = "Pages that were crawled without an index are not found"
    try:
        setup = rereading(plan, subject, sequence=True)
    except OpilioError as error:  # the strategy's file may be gone
        log.warning("%s: %s", not_found, error)
        return 0
    try:
        folder.lock()
    except BadInput:
        log.warning("%s while the crawl runs", not_found)
        return 0
    except OSError as error:
        log.warning("%s: %s", not_found, error)
        return 0
    try:
        with closing(open_database(folder.database)) as db:
            missing = db.execute(MISSING, (everything,)).fetchall()
            pages = "page that was" if len(missing) == 1 else "pages that were"
            log.info(
                "Indexing %s %s crawled without an index", f"{len(missing):,}", pages
            )
            add_entries(db, records, setup, missing)
    finally:
        folder.unlock()
    return len(missing)


def add_entries(
    db: Database,
    records: StoredResponses,
    setup: ReaderSetup,
    missing: Sequence[Missing],
) -> None:
    """Index pages by their stored main texts; read the others again, and index those
    that can be read."""
    others = add_main_texts(db, setup, missing)
    kept = (
        (id, response)
        for id, name, offset, length in others
        if (response := records.response(name, offset, length))
    )
    with closing(ReaderProcess(setup)) as reader:
        pages = reader.pages(kept)
        for _ in range(0, len(others), AT_ONCE):
            db.begin()
            for id, _, page in islice(pages, AT_ONCE):
                save_entry(db, id, page or SILENT)
            db.commit()


def add_main_texts(
    db: Database, setup: ReaderSetup, missing: Sequence[Missing]
) -> list[Missing]:
    """Index pages by their stored main texts; returns those that have none."""
    reader, others = make_reader(setup), []
    for start in range(0, len(missing), AT_ONCE):
        db.begin()
        for one in missing[start : start + AT_ONCE]:
            found = load_extraction(db, one[0])
            words, terms = reader.main_words(found, "") if found else (b"", {})
            if words:
                save_entry(db, one[0], MainText(b"", words, terms))
            else:
                others.append(one)
        db.commit()
    return others


def texts_in(
    db: sqlite3.Connection, records: StoredResponses, texts: PageTexts
) -> TextsOf:
    """A function that yields the main text of a page, and then all of its text."""

    def texts_of(page: int, name: str, offset: int, length: int) -> Iterator[PageText]:
        if extraction := load_extraction(db, page):
            yield PageText(extraction.text)
        if response := records.response(name, offset, length):
            yield PageText(*texts.visible(response))

    return texts_of


def log_of(folder: CrawlFolder, plan: Plan) -> Path:
    """The query log that the crawl follows: the topic's, or else one in the folder."""
    log = plan.topic.asked
    return Path(log.file) if log else folder.queries


def logs_searches(folder: CrawlFolder) -> bool:
    """Whether the topic asks the crawl to follow searches."""
    log = load_plan(folder.require()).topic.query_log
    return log is not None and log.searches


def remember_query(folder: CrawlFolder, query: str, suggestion: str = "") -> None:
    """Add a query to the crawl's query log, without conditions such as site: and
    without words that the suggestion spells differently."""
    meant = parse_query(suggestion or query).words
    words = [word for word in parse_query(query).words if word in meant]
    log_query(log_of(folder, load_plan(folder)), " ".join(words))
