"""What a reader process does: a response in; its page and WARC records out."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from opilio.read.html import PageReader
from opilio.store.warc import pack
from opilio.types import ReaderSetup, Reading, Response
from opilio.words import Vocabulary


def make_job(setup: bytes) -> Callable[[Response], Reading]:
    """The function that a reader process runs for each response."""
    told = msgspec.msgpack.decode(setup, type=ReaderSetup)
    vocabulary = Vocabulary(told.terms, told.language)
    reader = PageReader(vocabulary, context=told.context)

    def job(response: Response) -> Reading:
        return Reading(reader.read(response), pack(response))

    return job
