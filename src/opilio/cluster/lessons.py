"""What workers tell each other of the pages that they read.

A lesson has a page without its links, and its verdict. Its links are told only to the
owners of their shards, who rank them. A lesson without a page is a redirect to another
shard.

Models need not see every page: they are learnt from samples. So the more workers there
are, the smaller the share of the others' lessons that a worker learns from, besides
those that have to do with its shards: about as many as `FULL` workers tell. Of the
rest, it only takes note that there is such a page.

Of a lesson that a published model has learnt from (`trainer.py`) only an outline is
kept: page and verdict without the words of the page. It and the links tell the owners
of these links what they know of them; all else is in the model.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from isal import isal_zlib

from opilio.cluster.elsewhere import SeenElsewhere
from opilio.cluster.shards import LostShards
from opilio.records import Fingerprint, Lease, Link, Page, Verdict

if TYPE_CHECKING:
    import psycopg

LEVEL = 1  # of compression
AT_ONCE = 500  # lessons that are fetched together
MOST = 2**27  # bytes of one, unpacked
FULL = 3  # other workers from whose lessons all is learnt; of more, a share


class SharedLesson(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page that another worker has read, or a redirect that it met."""

    lease: Lease  # its ids mean nothing elsewhere
    page: Page | None = None  # without links
    verdict: Verdict | None = None
    content: Fingerprint = 0  # of its body
    fetched_at: float = 0.0
    label: bool | None = None  # what a user has said of the page
    # What links taught that were visited before this and not told yet.
    experiences: Sequence[tuple[Fingerprint, bytes]] = ()


class ToldLesson(NamedTuple):
    """A lesson with those of its links that belong to this worker."""

    lesson: SharedLesson | None  # None: nothing is to be learnt from it
    links: Sequence[Link]
    seen: SeenElsewhere | None  # the page, if it has one that counts


_encode = msgspec.msgpack.Encoder().encode
_lesson = msgspec.msgpack.Decoder(SharedLesson).decode
_links = msgspec.msgpack.Decoder(list[Link]).decode
_seen = msgspec.msgpack.Decoder(SeenElsewhere).decode


def pack(told: SharedLesson | Sequence[Link]) -> bytes:
    """A lesson or links in compressed form."""
    return isal_zlib.compress(_encode(told), LEVEL)


def pack_seen(lesson: SharedLesson) -> bytes | None:
    """What those need who do not learn from a lesson; None: everybody learns from it,
    since a user has said something."""
    return None if lesson.label is not None else _encode(seen_of(lesson))


def seen_of(lesson: SharedLesson) -> SeenElsewhere:
    """The page of a lesson."""
    simhash = lesson.page.simhash if lesson.page else 0
    return SeenElsewhere(lesson.lease.url, lesson.content, simhash, lesson.fetched_at)


def outline_of(lesson: SharedLesson) -> SharedLesson:
    """What is kept of a lesson when models have learnt from it."""
    page, verdict = lesson.page, lesson.verdict
    if page is not None:
        page = msgspec.structs.replace(
            page, stems=b"", counts=b"", vectors=b"", blocks=(), headings=(), text=""
        )
    if verdict is not None:
        verdict = Verdict(verdict.score, verdict.relevant)
    return msgspec.structs.replace(lesson, page=page, verdict=verdict, experiences=())


def packed_forms(lesson: SharedLesson) -> tuple[bytes, bytes | None, bytes | None]:
    """The outline of a lesson, what those need who do not learn from it, and the whole
    of it, if that is more than the outline."""
    if lesson.page is None:
        return pack(lesson), pack_seen(lesson), None
    return pack(outline_of(lesson)), pack_seen(lesson), pack(lesson)


def one_of(live: int) -> int:
    """Of how many lessons of others a worker learns from one, among so many workers.

    >>> [one_of(live) for live in (1, 2, 4, 5, 50)]
    [1, 1, 1, 2, 17]
    """
    return max(1, -(-(live - 1) // FULL))


def unpacked(packed: bytes) -> bytes:
    """What was packed."""
    found: bytes = isal_zlib.decompressobj().decompress(packed, MOST)
    return found


def page_alone(page: Page) -> Page:
    """What others learn from a page: its words and counts, not its links and text."""
    return msgspec.structs.replace(
        page, links=(), settled=b"", settled_ids=b"", sequence=b"", alternates={}
    )


# What is new is sorted once, without its contents: after a restart it is everything.
_KEYS = """
    SELECT lesson.worker, lesson.number
    FROM lesson JOIN unnest(%(workers)s::bigint[], %(numbers)s::bigint[],
            %(lasts)s::bigint[]) AS news (worker, heard, last)
        ON lesson.worker = news.worker AND lesson.number > news.heard
        AND lesson.number <= news.last
    ORDER BY lesson.at, lesson.worker, lesson.number
"""
_LESSONS = """
    SELECT lesson.worker, lesson.number, links, seen, is_wanted,
        CASE WHEN NOT is_wanted THEN NULL
            WHEN is_whole OR %(outlines)s THEN lesson.packed
            ELSE (SELECT packed FROM lesson_page AS page
                WHERE page.worker = lesson.worker AND page.number = lesson.number)
        END
    FROM unnest(%(workers)s::bigint[], %(numbers)s::bigint[])
        WITH ORDINALITY AS wanted (worker, number, place)
    JOIN lesson USING (worker, number)
    CROSS JOIN LATERAL (SELECT array(
        SELECT told.packed FROM told_link AS told WHERE told.worker = lesson.worker
            AND told.number = lesson.number AND told.shard = ANY(%(shards)s))
    ) AS told (links)
    CROSS JOIN LATERAL (SELECT lesson.shard = ANY(%(shards)s) OR links <> '{}'
        OR seen IS NULL OR lesson.number %% %(one_of)s = lesson.worker %% %(one_of)s
    ) AS choice (is_wanted) ORDER BY place
"""


# Lessons about our pages and links that a model has learnt from.
_OUTLINES = """
    SELECT lesson.worker, lesson.number FROM (
        SELECT worker, number FROM lesson WHERE shard = ANY(%(shards)s)
        UNION SELECT worker, number FROM told_link WHERE shard = ANY(%(shards)s)
    ) AS mine JOIN lesson USING (worker, number)
    JOIN unnest(%(workers)s::bigint[], %(lasts)s::bigint[]) AS known (worker, last)
        ON lesson.worker = known.worker AND lesson.number <= known.last
    ORDER BY lesson.at, lesson.worker, lesson.number
"""
_SEEN = """
    SELECT seen FROM lesson WHERE worker = %s AND number > %s AND number <= %s
        AND seen IS NOT NULL AND NOT shard = ANY(%s)
"""


def pages_seen(
    worker: int, numbers: tuple[int, int], ours: Sequence[int], db: psycopg.Connection
) -> list[SeenElsewhere]:
    """The pages of lessons of a worker after the first of these numbers, up to the
    second, that are of other shards than ours."""
    asked = worker, *numbers, list(ours)
    return [_seen(seen) for (seen,) in db.execute(_SEEN, asked)]


class Hearing:
    """How far a worker has heard what each worker has told."""

    def __init__(self, worker: int, shards: Iterable[int]) -> None:
        self.worker = worker
        self.shards = list(shards)
        self.heard: dict[int, int] = {}  # worker -> number of its last lesson
        self.count = 0  # lessons that were learnt from, our own included
        self.is_live = False  # our own lessons are no news, once the earlier are heard
        self.until: Mapping[int, int] | None = None  # hear no more than these
        self.one_of = 1  # of so many lessons of others, one is learnt from
        self.outlines = False  # of lessons about our links; a model has learnt the rest
        self._next = array("q")  # lessons to fetch: worker, number, worker ...
        self._place = 0  # in it

    @property
    def last_told(self) -> int:
        """The number of the last lesson that this worker has recorded."""
        return self.heard.get(self.worker, 0)

    def told(self, number: int) -> None:
        """Our own lessons up to this number are recorded."""
        self.count += number - self.last_told
        self.heard[self.worker] = number

    def fetch(self, db: psycopg.Connection) -> list[ToldLesson]:
        """Lessons that were not heard yet, in about the order in which they were told.

        Every worker records its own lessons in order, so none can come late.
        """
        if self._place == len(self._next) and not self.outlines:
            self._plan(db)
        keys = self._next[self._place : self._place + 2 * AT_ONCE]
        if not keys:
            return []
        wanted = {"workers": list(keys[::2]), "numbers": list(keys[1::2])}
        asked = {"shards": self.shards, "one_of": self.one_of, **wanted}
        asked["outlines"] = self.outlines
        rows = db.execute(_LESSONS, asked).fetchall()
        self._place += len(keys)
        news = []
        for worker, number, links, seen, is_wanted, packed in rows:
            if number != self.heard.get(worker, 0) + 1 and not self.outlines:
                continue  # the server's clock was set back: it comes again
            if is_wanted and not packed:
                raise LostShards("lessons that were not heard are deleted by now")
            self.heard[worker] = number
            mine = [link for some in links for link in _links(unpacked(some))]
            lesson = _lesson(unpacked(packed)) if packed else None
            news.append(ToldLesson(lesson, mine, _seen(seen) if seen else None))
        return news

    def begin_outlines(self, heads: Mapping[int, int], db: psycopg.Connection) -> None:
        """Hear next only the outlines of lessons up to these, and only of those that
        have to do with our shards."""
        self.outlines = True
        asked = {"workers": list(heads), "lasts": list(heads.values())}
        self._next, self._place = array("q"), 0
        with db.cursor() as cursor:
            for key in cursor.execute(_OUTLINES, {**asked, "shards": self.shards}):
                self._next.extend(key)

    def end_outlines(self, heads: Mapping[int, int]) -> None:
        """Go on with the lessons after these."""
        self.outlines = False
        self.heard, self.count = dict(heads), sum(heads.values())

    def _plan(self, db: psycopg.Connection) -> None:
        """Find out what is new; raises LostShards if the server has lost lessons."""
        before = dict(self.heard)  # our own lessons are recorded meanwhile
        lasts: dict[int, int] = dict(
            db.execute("SELECT worker, lessons FROM progress").fetchall()
        )
        if self.until is not None:
            lasts = dict(self.until)
        heard = {worker: before.get(worker, 0) for worker in lasts}
        if any(last < heard[worker] for worker, last in lasts.items()):
            raise LostShards("the server has lost lessons that were heard")
        if self.is_live:
            lasts.pop(self.worker, None)  # what is being recorded now
        news = [worker for worker, last in lasts.items() if last > heard[worker]]
        self._next, self._place = array("q"), 0
        if not news:
            return
        asked = {
            "workers": news,
            "numbers": [heard[worker] for worker in news],
            "lasts": [lasts[worker] for worker in news],
        }
        with db.cursor() as cursor:
            for key in cursor.execute(_KEYS, asked):
                self._next.extend(key)
