"""From a subject in words to a new crawl: the form, and what is done with it."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec
import tomli_w
from msgspec import Meta

from opilio.cli.topic import file_name
from opilio.errors import BadInput
from opilio.limits.contact import require_contact
from opilio.serve.library import Library
from opilio.serve.processes import start_opilio
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import LibraryView
from opilio.settings import FetchSettings, build_section
from opilio.store.lifecycle import owner_of
from opilio.text.words import DEFAULT_LANGUAGE, stop_words
from opilio.topic import Topic, check_topic, where_to
from opilio.topic.draft import Draft, write

PREVIEWED = 20  # pages that are fetched before the user decides, and links shown then
MOST_SEEDS = 200
Text: TypeAlias = Annotated[str, Meta(max_length=2_000)]
Name: TypeAlias = Annotated[str, Meta(max_length=80)]


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
    again: Name = ""  # a crawl whose first pages could not be fetched, to replace it


class FormRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the form for a new crawl is to have in it."""

    again: Name = ""
    """A crawl that failed: the form has what was written for it."""


class StartForm(msgspec.Struct, frozen=True):
    """What the form for a new crawl needs to know."""

    may_start: bool
    names: list[str]  # that are taken
    folder: str  # where crawls are kept
    given: NewCrawl | None  # what is in the form


class StartedCrawl(msgspec.Struct, frozen=True):
    """A crawl that was started."""

    name: str
    process: int


def show_form(library: Library, asked: FormRequest) -> StartForm:
    """What the form needs to know."""
    crawls = library.crawls()
    crawl = None if library.is_single else crawls.get(asked.again)
    given = given_for(crawl) if crawl else None
    return StartForm(not library.is_single, list(crawls), str(library.root), given)


def given_for(crawl: ServedCrawl) -> NewCrawl:
    """What was written into the form for a crawl."""
    topic, plan = crawl.plan.topic, crawl.plan
    given = NewCrawl(
        subject=topic.name,
        seeds="\n".join(topic.sources.urls),
        contact=plan.fetch.contact,
        language=topic.languages[0] if topic.languages else "",
        proxy=plan.fetch.proxy,
        allow_network=plan.fetch.allow_networks[0] if plan.fetch.allow_networks else "",
        delay=plan.politeness.delay,
        again=crawl.name,
    )
    if topic.weights() == keywords_of(given):  # none were written
        return given
    return msgspec.structs.replace(given, keywords=", ".join(topic.weights()))


def start_crawl(library: Library, asked: NewCrawl) -> StartedCrawl:
    """Write the topic file, and fetch the first pages in a process of its own."""
    name = file_name(asked.subject)
    name = re.sub(r"[^a-z0-9-]+", "", name).strip("-")[:50] or "crawl"
    seeds = seeds_in(asked.seeds)
    text = topic_text(asked, seeds)
    topic = build_section(tomllib.loads(text), Topic, "the topic")
    check_topic(topic, "the topic")
    check_fetching(asked, topic)
    if asked.again:
        remove_failed(library, asked.again)
    folder = library.new_folder(name)
    name = folder.name
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


def remove_failed(library: Library, name: str) -> None:
    """Remove a crawl that was started here and has fetched nothing."""
    crawl = library.find(name)
    file = topic_file(library, name)
    if library.is_single or crawl is None or not file.is_file():
        return  # it never came to a folder, or is gone
    if crawl.figures().pages or owner_of(crawl.folder):
        raise BadInput(f"{name!r} has pages already, so it cannot be started again")
    shutil.rmtree(crawl.folder.path)
    file.unlink()
    library.log_of(crawl.folder.path).unlink(missing_ok=True)
    library.forget()


def check_fetching(asked: NewCrawl, topic: Topic) -> None:
    """BadInput if servers could not reach the user, or a password would be seen."""
    fetch = FetchSettings(contact=asked.contact.strip(), proxy=asked.proxy.strip())
    try:
        require_contact(fetch, where_to(topic))
    except BadInput:  # it speaks of the command line
        raise BadInput(
            "give your e-mail or web address as the contact, like me@example.org: the "
            "owners of the servers that you visit must be able to reach you"
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
    table = {"search": ["ddgs"], "query": draft.name, "limit": 20}
    return "\n".join([*lines, "", tomli_w.dumps({"seeds": table})])


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


START = LibraryView(
    name="start",
    path="start",
    title="New crawl",
    help="Whether new crawls can be started here, and the names that are taken.",
    parameters=FormRequest,
    result=StartForm,
    show=show_form,
)
