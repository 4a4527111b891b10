"""What a reader process does: a response in; its page and WARC records out."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from opilio.read.html import PageReader
from opilio.store.warc import pack
from opilio.types import Reading, Response
from opilio.words import Vocabulary


class Setup(msgspec.Struct, frozen=True):
    """What a reader must know of the topic and the strategy."""

    terms: tuple[str, ...]
    language: str
    context: bool = False  # does the strategy read the words around links?

    def encode(self) -> bytes:
        """As bytes for another process."""
        return msgspec.msgpack.encode(self)


def make_job(setup: bytes) -> Callable[[Response], Reading]:
    """The function that a reader process runs for each response."""
    plan = msgspec.msgpack.decode(setup, type=Setup)
    vocabulary = Vocabulary(plan.terms, plan.language)
    reader = PageReader(vocabulary, context=plan.context)

    def job(response: Response) -> Reading:
        return Reading(reader.read(response), pack(response))

    return job
