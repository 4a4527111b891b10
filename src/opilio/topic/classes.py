"""Learns a page classifier and the rules between classes from example pages.

Kumar & Vig, *Multilingual Context Ontology Rule Enhanced Focused Web Crawler*, III.G:
train-0 is the example pages of each class, train-1 the pages that these link to. A
classifier learnt from train-0 finds the class of each page of train-1; the rules count
which class links to which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.records import Response
from opilio.stage_protocols import Fetch
from opilio.text import content, urls
from opilio.topic.class_model import ClassModel, learn_classes
from opilio.topic.linked_pages import (
    LIMIT,
    NOWHERE,
    FollowedLink,
    Pace,
    Read,
    train_one,
)
from opilio.topic.rules import ClassRules, learn_rules

ENDINGS = frozenset((".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx"))
LISTS = ("urls.tsv", "urls.txt")
MAX_BYTES = 8 * 2**20  # of an example page
HEAD = 2**16  # characters in which the URL of a saved page is looked for

_SAVED = re.compile(r"saved from url=\(\d{1,4}\)\s*(\S+)")


class Example(msgspec.Struct, frozen=True):
    """An example page of a class, as it was saved."""

    name: str  # of the class
    path: str
    url: str  # where it was saved from; "" if that is not known
    body: bytes

    def response(self) -> Response:
        """The page as if it had just been fetched."""
        headers = (("content-type", "text/html"),)
        return Response(self.url or NOWHERE, 200, headers, self.body, 0.0)


async def learn(
    folder: Path,
    fetch: Fetch,
    read: Read,
    *,
    limit_per_class: int = LIMIT,
    pace: Pace | None = None,
) -> tuple[ClassModel, ClassRules]:
    """The classifier of a folder's classes, and the rules between them."""
    model, rules, _ = await learn_from_links(
        folder, fetch, read, limit_per_class=limit_per_class, pace=pace
    )
    return model, rules


async def learn_from_links(
    folder: Path,
    fetch: Fetch,
    read: Read,
    *,
    limit_per_class: int = LIMIT,
    pace: Pace | None = None,
) -> tuple[ClassModel, ClassRules, list[FollowedLink]]:
    """The same, and the links that the rules were learnt from.

    `read` must give pages with their vectors. `pace` lets hosts rest between requests;
    a replay needs none.
    """
    train_zero = [
        (example.name, read(example.response()))
        for example in read_class_examples(folder)
    ]
    model = learn_classes(train_zero)
    followed = await train_one(
        train_zero, fetch, read, limit_per_class=limit_per_class, pace=pace
    )
    links = [(link.source, model.classify(link.page)) for link in followed]
    return model, learn_rules(links, model.classes), followed


def read_class_examples(folder: Path) -> list[Example]:
    """The pages of train-0: a sub-folder per class, named after it."""
    try:
        classes = sorted(path for path in folder.iterdir() if is_class(path))
        found = [example for path in classes for example in examples_of(path)]
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    with_pages = {example.name for example in found}
    for path in classes:
        if path.name not in with_pages:
            raise BadInput(f"{path}: no example page (.html) in it; add some")
    if len(with_pages) < 2:
        raise BadInput(
            f"{folder}: {len(with_pages)} classes, but at least two are needed; make a "
            "sub-folder of example pages for each"
        )
    return found


def is_class(path: Path) -> bool:
    """Whether this is the folder of a class; x_files, as saved by browsers, is not."""
    hidden = path.name.startswith((".", "_")) or path.name.endswith("_files")
    return path.is_dir() and not hidden


def examples_of(folder: Path) -> Iterator[Example]:
    """The pages of one class, by name."""
    listed = listed_urls(folder)
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        with path.open("rb") as file:
            body = file.read(MAX_BYTES)
        url = listed.get(path.name) or own_url(content.text(body, "text/html")[0])
        yield Example(folder.name, str(path), url, body)


def listed_urls(folder: Path) -> dict[str, str]:
    """The URL of each file, from urls.tsv or urls.txt: name<TAB>url."""
    found: dict[str, str] = {}
    for name in LISTS:
        path = folder / name
        if not path.is_file():
            continue
        lines = path.read_text("utf-8", "replace").splitlines()
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            page, _, url = (part.strip() for part in line.partition("\t"))
            if not urls.join("", url):
                raise BadInput(f"{path}, line {number}: write name<TAB>http://…")
            found[page] = url
    return found


def own_url(markup: str) -> str:
    """The URL that a saved page was saved from; "" if it is not in the page.

    The browser's own note comes first, then <link rel=canonical>, then <base>, which
    may name a folder only.
    """
    notes = ClassNotes()
    notes.feed(markup[:HEAD])
    found = (notes.saved_from, notes.canonical, notes.base)
    return next(filter(None, (urls.join("", url) for url in found if url)), "")


class ClassNotes(HTMLParser):
    """Collects the notes in a page about its own URL."""

    def __init__(self) -> None:
        super().__init__()
        self.saved_from = self.canonical = self.base = ""

    def handle_comment(self, data: str) -> None:
        if not self.saved_from and (match := _SAVED.search(data)):
            self.saved_from = match[1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        href = named.get("href") or ""
        if tag == "base":
            self.base = self.base or href
        elif tag == "link" and "canonical" in (named.get("rel") or "").lower().split():
            self.canonical = self.canonical or href
