"""The job of a reader process: makes the page and the WARC records of a response."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING

import msgspec

from opilio.errors import Unusable
from opilio.records import MainText, Page, ReaderSetup, Reading, Response
from opilio.store.warc_records import pack_response

if TYPE_CHECKING:
    from opilio.read.html import PageReader


def make_job(setup: bytes) -> PageJob:
    """The function that a reader process runs for each response."""
    return PageJob(make_reader(msgspec.msgpack.decode(setup, type=ReaderSetup)))


class PageJob:
    """Makes the page of a response, and its WARC records."""

    def __init__(self, reader: PageReader) -> None:
        self.reader = reader
        self.settle = reader.settled.learn

    def __call__(self, response: Response) -> Reading:
        try:
            return Reading(self.reader.read(response), pack_response(response))
        except Unusable as error:
            return Reading(None, reason=error.reason)

    def extract(self, response: Response) -> Reading:
        """The main text of a response, packed, with its words for the search index."""
        # Not in the process of the crawl, which imports this file, too.
        from opilio.read.main_content.extract import extract_content
        from opilio.storage.packed import pack_extraction

        try:
            found = extract_content(response)
            packed = pack_extraction(found)
            words = self.reader.main_words(found, response.url)
            return Reading(None, extraction=MainText(packed, *words))
        except Exception:  # MemoryError, or whatever a young parser may raise
            return Reading(None, reason="parse_crashed")


def make_plain_job(setup: bytes) -> Callable[[Response], Reading]:
    """A job that returns pages without WARC records."""
    reader = make_reader(msgspec.msgpack.decode(setup, type=ReaderSetup))

    def job(response: Response) -> Reading:
        try:
            return Reading(reader.read(response))
        except Unusable as error:
            return Reading(None, reason=error.reason)

    return job


ExampleReader = Callable[
    [ReaderSetup], AbstractContextManager[Callable[[Response], Page]]
]
"""Opens a function that reads one page after another."""


@contextmanager
def limited_reader(setup: ReaderSetup) -> Iterator[Callable[[Response], Page]]:
    """A function that reads one page after another in a process with limits; it raises
    Unusable for a page that exceeds them."""
    from opilio.read.limited import LimitedReader

    def read(response: Response) -> Page:
        reading = reader.read(response)
        if reading.page is None:
            raise Unusable(
                reading.reason,
                f"{response.url} cannot be read: the file is encrypted or broken, or "
                f"takes more memory or CPU than allowed ({reading.reason})",
            )
        return reading.page

    job = f"{__name__}:make_plain_job"
    with closing(LimitedReader(job, msgspec.msgpack.encode(setup))) as reader:
        yield read


def make_reader(setup: ReaderSetup) -> PageReader:
    """A reader that knows the set-up's terms and dictionaries."""
    # Imported here: many import this file, and few of them read in the end.
    from opilio.read.html import PageReader

    vectors = None
    if setup.vectors:
        from opilio.vectors.words import DIMENSIONS, load_vectors

        dimensions = setup.dimensions or DIMENSIONS
        vectors = load_vectors(setup.vectors, setup.language, dimensions)
    if not setup.dictionaries:
        return PageReader(setup, vectors=vectors)
    # With the topics comes much that other readers do not need.
    from opilio.topic.transcriptor import Transcriptor

    transcriptor = Transcriptor(setup.dictionaries, setup.language)
    return PageReader(setup, transcriptor, vectors=vectors)
