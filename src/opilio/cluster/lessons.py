"""What workers tell each other of the pages that they read.

A lesson has a page without its links, and its verdict: every worker learns from it. Its
links are told only to the owners of their shards, who rank them. A lesson without a
page is a redirect to another shard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from isal import isal_zlib

from opilio.records import Fingerprint, Lease, Link, Page, Verdict

if TYPE_CHECKING:
    import psycopg

LEVEL = 1  # of compression
AT_ONCE = 500  # lessons that are fetched together
MOST = 2**27  # bytes of one, unpacked


class SharedLesson(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that another worker has read, or a redirect that it met."""

    lease: Lease  # its ids mean nothing elsewhere
    page: Page | None = None  # without links
    verdict: Verdict | None = None
    content: Fingerprint = 0  # of its body
    fetched_at: float = 0.0


class ToldLesson(NamedTuple):
    """A lesson with those of its links that belong to this worker."""

    lesson: SharedLesson
    links: Sequence[Link]


_encode = msgspec.msgpack.Encoder().encode
_lesson = msgspec.msgpack.Decoder(SharedLesson).decode
_links = msgspec.msgpack.Decoder(list[Link]).decode


def pack(told: SharedLesson | Sequence[Link]) -> bytes:
    """A lesson or links in compressed form."""
    return isal_zlib.compress(_encode(told), LEVEL)


def unpacked(packed: bytes) -> bytes:
    """What was packed."""
    found: bytes = isal_zlib.decompressobj().decompress(packed, MOST)
    return found


def page_alone(page: Page) -> Page:
    """What others learn from a page: its words and counts, not its links and text."""
    return msgspec.structs.replace(
        page, links=(), settled=b"", settled_ids=b"", sequence=b"", alternates={}
    )


_NEWS = """
    SELECT lesson.worker, lesson.number, lesson.packed, array(
        SELECT told.packed FROM told_link AS told WHERE told.worker = lesson.worker
            AND told.number = lesson.number AND told.shard = ANY(%(shards)s))
    FROM lesson JOIN unnest(%(workers)s::bigint[], %(numbers)s::bigint[])
        AS heard (worker, number) ON lesson.worker = heard.worker
        AND lesson.number > heard.number
    ORDER BY lesson.at, lesson.worker, lesson.number LIMIT %(most)s
"""


class Hearing:
    """How far a worker has heard what each worker has told."""

    def __init__(self, worker: int, shards: Iterable[int]) -> None:
        self.worker = worker
        self.shards = list(shards)
        self.heard: dict[int, int] = {}  # worker -> number of its last lesson

    @property
    def count(self) -> int:
        """The lessons heard so far."""
        return sum(self.heard.values())

    def fetch(self, db: psycopg.Connection) -> list[ToldLesson]:
        """Lessons that were not heard yet, in about the order in which they were told.

        Every worker records its own lessons in order, so none can come late.
        """
        for worker, last in db.execute("SELECT id, lessons FROM worker").fetchall():
            if last:
                self.heard.setdefault(worker, 0)
        rows = db.execute(
            _NEWS,
            {
                "shards": self.shards,
                "workers": list(self.heard),
                "numbers": list(self.heard.values()),
                "most": AT_ONCE,
            },
        ).fetchall()
        news = []
        for worker, number, packed, links in rows:
            if number != self.heard[worker] + 1:  # the server's clock was set back
                continue
            self.heard[worker] = number
            mine = [link for some in links for link in _links(unpacked(some))]
            news.append(ToldLesson(_lesson(unpacked(packed)), mine))
        return news
