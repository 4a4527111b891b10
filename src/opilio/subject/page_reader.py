"""The job of a reader process: makes the page and the WARC records of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from opilio.records import ReaderSetup, Reading, Response
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
        return Reading(self.reader.read(response), pack_response(response))


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
