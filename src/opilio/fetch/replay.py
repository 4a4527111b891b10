"""Replays WARC files: a Fetch that answers from archives instead of the network."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecordType

from opilio.errors import BadInput, Unusable
from opilio.fetch.answers import refuse_unusable
from opilio.records import METHOD_FIELD, Fingerprint, Headers, Response
from opilio.settings import DOCUMENTS, DocumentSettings
from opilio.storage import caches, warc_reading
from opilio.text import urls

FORMAT = "2"  # of the index; raise it when the canonical form of a URL changes
CACHED_NAMES = r"[0-9a-f]{32}\.\w+"  # of index files and files beside them


class RecordPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where the record of a URL is, in one WARC file."""

    url: Fingerprint  # of the canonical form
    offset: int
    same_as: Fingerprint = 0  # the URL whose body this one repeats (a revisit)
    rendered: int = 0  # offset of the record of the rendered page; 0: it was not


class ReplayFetch:
    """Answers from archives as the web would have answered then.

    A URL in several records is answered by the last one. Archives do not change, so
    every failure is Unusable and nothing is retried.
    """

    def __init__(
        self,
        warcs: Sequence[Path],
        cache: Path | None = None,
        documents: DocumentSettings = DOCUMENTS,
    ) -> None:
        self.paths = list(warcs)
        self.documents = documents
        self.places: dict[Fingerprint, tuple[int, RecordPlace]] = {
            place.url: (number, place)
            for number, path in enumerate(self.paths)
            for place in index_of(path, cache)
            if place.same_as != place.url  # else a revisit without changes
        }
        self.files = [path.open("rb") for path in self.paths]

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """The archived response of a URL, also a redirect; validators are ignored."""
        try:
            key = urls.fingerprint(urls.canonical(url))
        except ValueError as error:
            raise Unusable("bad_url", str(error), contacted=False) from None
        found = self.places.get(key)
        if found is None:
            message = f"{url} is not in the WARC files that are replayed"
            raise Unusable("not_archived", message, contacted=False)
        number, place = found
        if place.same_as:
            number, place = self.places.get(place.same_as, found)
        response = msgspec.structs.replace(self.read(number, place.offset), url=url)
        if place.rendered:
            markup = self.read_rendered(number, place.rendered)
            response = msgspec.structs.replace(response, rendered=markup)
        refuse_unusable(response, self.documents)
        return response

    def holds(self, url: str) -> bool:
        """Whether there is a record for a URL."""
        try:
            return self.has(urls.fingerprint(urls.canonical(url)))
        except ValueError:
            return False

    def has(self, key: Fingerprint) -> bool:
        """Whether there is a record for the URL of this fingerprint."""
        return key in self.places

    def url_at(self, key: Fingerprint) -> str:
        """The canonical URL that has this fingerprint and a record."""
        number, place = self.places[key]
        return urls.canonical(self.read(number, place.offset).url)

    def note(self, path: Path, url: str, offset: int) -> None:
        """Know of a record that was appended to one of the files since."""
        key = urls.fingerprint(urls.canonical(url))
        self.places[key] = self.paths.index(path), RecordPlace(key, offset)

    def read(self, number: int, offset: int) -> Response:
        """The response at a place."""
        file = self.files[number]
        file.seek(offset)
        return next(warc_reading.responses(file))

    def read_rendered(self, number: int, offset: int) -> bytes:
        """The rendered page at a place."""
        file = self.files[number]
        file.seek(offset)
        return warc_reading.rendered_in(file)

    async def close(self) -> None:
        """Close the files."""
        for file in self.files:
            file.close()


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn errors of reading a WARC file into BadInput with its name."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"{path} cannot be read as a WARC file: {reason}") from None


def check_archive(path: Path) -> None:
    """Raise BadInput for a file that is not a WARC file, by its first response."""
    if path.is_dir():
        raise BadInput(
            f"{path} is a folder; give each WARC file in it with --replay FILE"
        )
    if not path.is_file():
        raise BadInput(f"{path} is not a WARC file: it does not exist")
    with named(path):
        next(scan(path), None)


def additions_to(path: Path) -> Path:
    """The file for what `--online` adds to an archive: beside it, since the archive
    itself is never written to."""
    name = path.name.removesuffix(".gz").removesuffix(".warc")
    return path.with_name(f"{name}.added.warc.gz")


def with_additions(paths: Sequence[Path]) -> list[Path]:
    """The archives, each followed by what was added to it."""
    found = [each for path in paths for each in (path, additions_to(path))]
    return [path for path in dict.fromkeys(found) if path in paths or path.is_file()]


def index_of(path: Path, cache: Path | None) -> list[RecordPlace]:
    """Where each URL of a WARC file is; cached in the folder `cache`."""
    with named(path):
        if cache is None:
            return list(scan(path))
        facts = path.stat()
        key = f"{FORMAT} {path.absolute()} {facts.st_size} {facts.st_mtime_ns}"
        name = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        index = cache / f"{name}.index"
        return recalled(index) or kept(index, list(scan(path)))


def recalled(index: Path) -> list[RecordPlace]:
    """A cached index; empty if there is none or it is damaged."""
    with suppress(OSError, msgspec.DecodeError):
        places = msgspec.msgpack.decode(index.read_bytes(), type=list[RecordPlace])
        caches.note_use(index)
        return places
    return []


def kept(index: Path, places: list[RecordPlace]) -> list[RecordPlace]:
    """The places, after writing them to the cache if that is possible."""
    with suppress(OSError):
        index.parent.mkdir(parents=True, exist_ok=True)
        draft = index.with_suffix(f".{os.getpid()}")
        draft.write_bytes(msgspec.msgpack.encode(places))
        draft.replace(index)
        caches.prune(index.parent, CACHED_NAMES)
    return places


def scan(path: Path) -> Iterator[RecordPlace]:
    """Read a WARC file from end to end for the places of its responses."""
    last: RecordPlace | None = None
    kinds = warc_reading.KINDS | WarcRecordType.conversion
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=kinds, parse_http=False):
            with suppress(ValueError):  # an invalid URL cannot be requested
                url = known_as(record.headers.get("WARC-Target-URI"))
                if record.record_type == WarcRecordType.conversion:
                    if last and last.url == url and warc_reading.is_rendered(record):
                        last = msgspec.structs.replace(last, rendered=record.stream_pos)
                elif record.is_http and not record.headers.get(METHOD_FIELD):
                    if last:
                        yield last
                    same_as = record.headers.get("WARC-Refers-To-Target-URI", "")
                    last = RecordPlace(url, record.stream_pos, known_as(same_as))
    if last:
        yield last


def known_as(uri: str | None) -> Fingerprint:
    """The fingerprint of a URL as records name it; 0 for none."""
    return urls.fingerprint(urls.canonical(uri.strip("<>"))) if uri else 0
