"""From a subject in words to a running crawl: the form, and how far a new crawl is.

A new crawl first fetches a few pages only. The page shows those that are relevant, the
topic file that was written, the next links by promise, and keywords that the pages
suggest; the user changes what is wrong and continues the crawl.
"""

from __future__ import annotations

import re
import sqlite3
import tomllib
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from opilio.assembly.topic_update import proposals_for
from opilio.cli.topic import file_name
from opilio.errors import BadInput, OpilioError
from opilio.limits.contact import require_contact
from opilio.serve.figures import CrawlFigures
from opilio.serve.library import Library
from opilio.serve.processes import last_lines, start_opilio
from opilio.serve.view import LibraryView, NoParameters
from opilio.serve.views.links import LinksRequest, ListedLink, show_links
from opilio.serve.views.topic import KeywordStep
from opilio.settings import FetchSettings, build_section
from opilio.text.words import DEFAULT_LANGUAGE, stop_words
from opilio.topic import Topic, check_topic, where_to
from opilio.topic.draft import Draft, write

PREVIEWED = 20  # pages that are fetched before the user decides, and links shown then
FIRST_PAGES = 8  # of those that are shown
MOST_SEEDS = 200
Text: TypeAlias = Annotated[str, Meta(max_length=2_000)]


class StartForm(msgspec.Struct, frozen=True):
    """What the form for a new crawl needs to know."""

    may_start: bool
    names: list[str]  # that are taken
    folder: str  # where crawls are kept


class NewCrawl(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject to crawl for."""

    subject: Annotated[str, Meta(min_length=1, max_length=500)]
    keywords: Text = ""  # with commas between them; by default the subject
    seeds: Annotated[str, Meta(max_length=100_000)] = ""  # URLs, one per line
    contact: Annotated[str, Meta(max_length=300)] = ""
    language: Annotated[str, Meta(max_length=20)] = ""
    proxy: Text = ""
    allow_network: Text = ""  # a private network that may be crawled
    delay: Annotated[float, Meta(ge=0, le=3600)] = 1.0


class StartedCrawl(msgspec.Struct, frozen=True):
    """A crawl that was started."""

    name: str
    process: int


class PreviewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A crawl that was started a moment ago."""

    name: Annotated[str, Meta(max_length=80)] = ""


class CrawlPreview(msgspec.Struct, frozen=True, kw_only=True):
    """How far a new crawl is, and what it would visit first."""

    name: str
    topic: str
    state: str  # starting, fetching, ready or failed
    topic_file: str
    log: list[str]
    figures: CrawlFigures | None = None
    pages: list[ListedLink] = []  # the best of those that were fetched
    links: list[ListedLink] = []  # those to be visited next
    proposals: list[KeywordStep] = []


def show_form(library: Library, _: NoParameters) -> StartForm:
    """What the form needs to know."""
    names = list(library.crawls())
    return StartForm(not library.is_single, names, str(library.root))


def start_crawl(library: Library, asked: NewCrawl) -> StartedCrawl:
    """Write the topic file, and fetch the first pages in a process of its own."""
    name = file_name(asked.subject)
    name = re.sub(r"[^a-z0-9-]+", "", name).strip("-")[:50] or "crawl"
    folder = library.new_folder(name)
    name = folder.name
    seeds = seeds_in(asked.seeds)
    text = topic_text(asked, seeds)
    topic = build_section(tomllib.loads(text), Topic, "the topic")
    check_topic(topic, "the topic")
    check_fetching(asked, topic)
    file = topic_file(library, name)
    file.write_text(text, encoding="utf-8")
    words = ["crawl", str(file), "-o", str(folder), "--delay", str(asked.delay)]
    words += ["--max-pages", str(max(len(seeds), PREVIEWED))]
    for option, value in (
        ("--contact", asked.contact.strip()),
        ("--proxy", asked.proxy.strip()),
        ("--allow-network", asked.allow_network.strip()),
    ):
        words += [f"{option}={value}"] if value else []
    log = library.log_of(folder)
    log.write_text("", encoding="utf-8")
    process = start_opilio(words, log)
    library.forget()
    return StartedCrawl(name, process)


def check_fetching(asked: NewCrawl, topic: Topic) -> None:
    """BadInput if servers could not reach the user, or a password would be seen."""
    fetch = FetchSettings(contact=asked.contact.strip(), proxy=asked.proxy.strip())
    try:
        require_contact(fetch, where_to(topic))
    except BadInput:  # it speaks of the command line
        raise BadInput(
            "give your e-mail or web address: the owners of the servers that you visit "
            "must be able to reach you (contact; e.g. me@example.org)"
        ) from None
    if "@" in fetch.proxy:  # other users of the machine can see the words of commands
        raise BadInput(
            "a proxy with a password cannot be given here, because crawls do not keep "
            "passwords; start the crawl with `opilio crawl --proxy` in a terminal"
        )


def topic_file(library: Library, name: str) -> Path:
    """Where the topic file of a new crawl is written: beside its folder."""
    return library.root / f"{name}.toml"


def seeds_in(text: str) -> list[str]:
    """The URLs of a text, separated by blanks or lines."""
    seeds = list(dict.fromkeys(text.split()))
    if len(seeds) > MOST_SEEDS:
        raise BadInput(f"{len(seeds)} seeds are too many for the form; at most 200")
    for one in seeds:
        if "://" not in one and "." not in one and not one.startswith("localhost"):
            raise BadInput(
                f"{one[:80]!r} is not an address to start from; write it like "
                "https://example.org/page, one per line"
            )
    return [one if "://" in one else f"https://{one}" for one in seeds]


def topic_text(asked: NewCrawl, seeds: list[str]) -> str:
    """The topic file for a subject; without seeds, search engines find some."""
    draft = Draft(
        name=" ".join(asked.subject.split()),
        languages=(asked.language.strip(),) if asked.language.strip() else (),
        keywords={"given": keywords_of(asked)},
        seeds=tuple(seeds),
    )
    text = write(draft)
    if seeds:
        return text
    lines = [line for line in text.splitlines() if not line.startswith("# seeds")]
    return "\n".join([*lines, "", "[seeds]", 'search = ["ddgs"]', "limit = 20"]) + "\n"


def keywords_of(asked: NewCrawl) -> dict[str, float]:
    """The keywords that were given with their weights; without any, the subject and,
    with half its weight, each word of it that is not too common."""
    given = [" ".join(one.split()) for one in asked.keywords.split(",")]
    if any(given):
        return dict.fromkeys(filter(None, given), 1.0)
    subject = " ".join(asked.subject.split())
    common = stop_words(asked.language.strip() or DEFAULT_LANGUAGE)
    words = [one for one in re.findall(r"\w\w+", subject.lower()) if one not in common]
    several = words if len(words) > 1 or words != [subject.lower()] else []
    return {subject: 1.0} | dict.fromkeys(several, 0.5)


def show_preview(library: Library, asked: PreviewRequest) -> CrawlPreview:
    """How far a new crawl is."""
    file = topic_file(library, asked.name)
    known = re.fullmatch(r"[a-z0-9-]{1,60}", asked.name)
    if library.is_single or not known or not file.is_file():
        raise BadInput("no crawl of this name was started here")
    library.forget()
    text = file.read_text(encoding="utf-8", errors="replace")
    log = last_lines(library.log_of(library.root / asked.name))
    has_failed = any("opilio: " in line for line in log)
    starting = CrawlPreview(
        name=asked.name,
        topic=name_in(text) or asked.name,
        state="failed" if has_failed else "starting",
        topic_file=text,
        log=log,
    )
    crawl = library.find(asked.name)
    if crawl is None:
        return starting
    try:
        figures = crawl.figures()
        links = show_links(crawl, LinksRequest()).links[:PREVIEWED]
        pages = show_links(crawl, LinksRequest("kept")).links[:FIRST_PAGES]
    except (OpilioError, sqlite3.Error):
        return starting
    starting = msgspec.structs.replace(starting, figures=figures, pages=pages)
    nothing = not figures.pages and not links
    if figures.state == "new" and has_failed:
        return starting
    if figures.state in ("new", "running") or (nothing and not log):
        return msgspec.structs.replace(starting, state="fetching")
    if nothing:
        return msgspec.structs.replace(starting, state="failed")
    changes = [
        KeywordStep(one.term, one.kind, one.before, one.after, one.pages)
        for one in proposals_for(crawl.folder)
    ]
    return msgspec.structs.replace(
        starting, state="ready", links=links, proposals=changes
    )


def name_in(topic_file: str) -> str:
    """The name of a topic in its file; "" if that cannot be read."""
    try:
        return str(tomllib.loads(topic_file).get("name", ""))
    except tomllib.TOMLDecodeError:
        return ""


START = LibraryView(
    name="start",
    path="start",
    title="New crawl",
    help="Whether new crawls can be started here, and the names that are taken.",
    parameters=NoParameters,
    result=StartForm,
    show=show_form,
)
PREVIEW = LibraryView(
    name="preview",
    path="preview",
    title="Preview",
    help="How far a new crawl is, its topic file, and the links it would visit first.",
    parameters=PreviewRequest,
    result=CrawlPreview,
    show=show_preview,
)
