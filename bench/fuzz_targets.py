"""What is fuzzed: a function for each kind of input, which raises if it goes wrong.

Errors that users are meant to see (`BadInput`) are not wrong. Wherever there are two
ways to the same result, both are taken and compared.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from opilio.errors import BadInput, OpilioError
from opilio.fetch import robots_rules
from opilio.fetch.replay import ReplayFetch
from opilio.read import kernels, plain_kernels, plain_tidy, plain_walk
from opilio.read.document import parse_document
from opilio.read.html import PageReader
from opilio.read.main_content.extract import extract_markup
from opilio.records import Page, ReaderSetup, Response
from opilio.seeds.feeds import feed_links
from opilio.seeds.sitemap_parsing import read_sitemap
from opilio.settings import read_toml
from opilio.store.warc_files import read_record
from opilio.store.warc_members import members
from opilio.text import content, urls
from opilio.text.link_joiner import Joiner
from opilio.topic.dictionary import read_dictionary
from opilio.topic.file import load_topic
from opilio.topic.ontology.load import read_ontology

Target = Callable[[bytes], None]
BASE = "http://a.test/b/c?d"
PLAIN = vars(plain_kernels) | vars(plain_tidy) | vars(plain_walk)
COMPILED = {name: getattr(kernels, name) for name in kernels.__all__}
EVERYTHING = ReaderSetup(
    ("honey bee", "hive"),
    "en",
    context=True,
    blocks=True,
    vector=True,
    overlapping=True,
    words=True,
    headings=True,
    sequence=True,
)
# The names of files say what is in them.
ONTOLOGIES = ("x.ttl", "x.obo", "x.csv", "x.rdf", "x.jsonld", "x.nt", "x.trig", "x")
DICTIONARIES = ("x.tsv", "x.tei", "x.ifo", "x.index")


def check_urls(data: bytes) -> None:
    """URLs: canonical forms are stable, and both ways to them are the same."""
    text = data.decode("utf-8", "surrogateescape")
    found = urls.join(BASE, text)
    if len(text) < urls.MAX_LENGTH // 4:
        assert Joiner(BASE)[text] == (found, urls.fingerprint(found) * bool(found))
    for url in filter(None, (found, urls.page(text))):
        assert url.startswith(("http://", "https://"))
        assert url.isascii() and url.isprintable() and " " not in url
        assert urls.page(url) == url, "canonical forms are stable"
        assert urls.host(url) and urls.domain(urls.host(url))
        assert "@" not in url.split("/")[2], "no credentials"
        urls.template(url)
        urls.redact(url)


def check_robots(data: bytes) -> None:
    """robots.txt: a file means the same when it was reduced."""
    rules = robots_rules.read_rules(data, "opilio")
    reduced = robots_rules.reduce_file(data, "opilio")
    again = robots_rules.read_rules(reduced, "opilio")
    assert again.delay == rules.delay
    lines = data.decode("utf-8", "replace").split("\n")[:20]
    for line in ("/", *lines):
        url = urls.join(BASE, "/" + line.partition(":")[2].strip()) or BASE
        assert rules.allows(url) == again.allows(url)
        robots_rules.usage_in(data, "opilio", url)


def check_html(data: bytes) -> None:
    """Pages: compiled and plain readers, tidied and parsed markup give the same."""
    response = Response(BASE, 200, [("content-type", "text/html")], data, 0.0)
    page = read_with(COMPILED, response)
    assert not page.degraded, page.degraded
    assert rounded(page) == rounded(read_with(PLAIN, response))
    markup, _ = content.utf_8(data, "text/html")
    tidied = kernels.tidied(markup)
    if tidied is not None:
        parsed = parse_document(markup.decode("utf-8", "replace")).html
        assert kernels.walk(tidied) == kernels.walk(parsed)


def rounded(page: Page) -> Any:
    """All of a page; sums in another order differ in their last digits."""

    def near(value: Any) -> Any:
        match value:
            case float():
                return float(f"{value:.9g}")
            case dict():
                return {key: near(one) for key, one in value.items()}
            case list() | tuple():
                return [near(one) for one in value]
        return value

    return near(msgspec.to_builtins(page))


def read_with(kind: dict[str, object], response: Response) -> Page:
    """The page as some kernels read it."""
    for name in set(kernels.__all__) - {"COMPILED"}:
        setattr(kernels, name, kind[name])
    try:
        return PageReader(EVERYTHING).read(response)
    finally:
        for name, kernel in COMPILED.items():
            setattr(kernels, name, kernel)


def check_main_text(data: bytes) -> None:
    """The main text of pages."""
    markup, _ = content.utf_8(data, "text/html")
    found = extract_markup(markup.decode("utf-8", "replace"), BASE, date(2026, 1, 1))
    for text in (found.text, found.markdown, found.title or ""):
        assert not any(ord(sign) < 32 and sign not in "\n\t" for sign in text), text


def check_warc(data: bytes) -> None:
    """WARC files, as they are replayed and repaired."""
    with written(data, "x.warc.gz") as path:
        with suppress(OpilioError):
            archive = ReplayFetch([path])
            try:
                for number, place in archive.places.values():
                    with suppress(OpilioError):
                        archive.read(number, place.offset)
            finally:
                for file in archive.files:
                    file.close()
        for member in members(path):
            assert member.offset + member.length <= len(data)
            with suppress(BadInput):
                read_record(path.parent, path.name, member.offset, member.length)


def check_topic(data: bytes) -> None:
    """Topic files, and settings."""
    with written(data, "x.toml") as path:
        for read in (load_topic, read_toml):
            with suppress(BadInput):
                read(path)


def check_ontology(data: bytes) -> None:
    """Ontologies, in the format that the first byte chooses."""
    name = ONTOLOGIES[data[0] % len(ONTOLOGIES)] if data else "x"
    with suppress(BadInput):
        read_ontology(data[1:], name)


def check_dictionary(data: bytes) -> None:
    """Dictionaries, in the format that the first byte chooses; parts that are files of
    their own are separated by a line."""
    name = DICTIONARIES[data[0] % len(DICTIONARIES)] if data else "x"
    first, *others = data[1:].split(b"\n====\n")
    with written(first, name) as path, suppress(BadInput):
        for suffix, part in zip((".idx", ".dict", ".syn"), others, strict=False):
            path.with_suffix(suffix).write_bytes(part)
        read_dictionary(path)


def check_feeds(data: bytes) -> None:
    """Sitemaps and feeds."""
    for kind in ("text/xml", "application/json", "text/plain"):
        response = Response(BASE, 200, [("content-type", kind)], data, 0.0)
        for read in (read_sitemap, feed_links):
            with suppress(OpilioError):
                read(response)


@contextmanager
def written(data: bytes, name: str) -> Iterator[Path]:
    """A file with this content."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        yield path


FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None

TARGETS: dict[str, Target] = {
    "urls": check_urls,
    "robots": check_robots,
    "html": check_html,
    "main-text": check_main_text,
    "warc": check_warc,
    "topic": check_topic,
    "ontology": check_ontology,
    "dictionary": check_dictionary,
    "feeds": check_feeds,
}
