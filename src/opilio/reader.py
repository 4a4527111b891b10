"""What a reader process does: a response in; its page and WARC records out."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from opilio.read.html import PageReader
from opilio.store.warc import pack
from opilio.types import ReaderSetup, Reading, Response


def make_job(setup: bytes) -> Callable[[Response], Reading]:
    """The function that a reader process runs for each response."""
    reader = make_reader(msgspec.msgpack.decode(setup, type=ReaderSetup))

    def job(response: Response) -> Reading:
        return Reading(reader.read(response), pack(response))

    return job


def make_reader(setup: ReaderSetup) -> PageReader:
    """A reader that knows the set-up's terms and dictionaries."""
    if not setup.dictionaries:
        return PageReader(setup)
    # Imported here: with the topics comes much that other readers do not need.
    from opilio.topic.transcriptor import Transcriptor

    return PageReader(setup, Transcriptor(setup.dictionaries, setup.language))
