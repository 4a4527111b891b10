"""Drafts a topic file from the sources given to `opilio topic build`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from opilio.errors import BadInput
from opilio.read.page_texts import PageTexts
from opilio.records import Response
from opilio.subject.class_rules import check_classes
from opilio.subject.compile import Ontological, consult
from opilio.subject.examples import read_examples
from opilio.subject.followed_queries import FollowedLog
from opilio.text import content
from opilio.text.words import Vocabulary
from opilio.topic import OntologyFiles, QueryLog, Topic
from opilio.topic.draft import Draft
from opilio.topic.file import Classes
from opilio.topic.keywords import keywords
from opilio.topic.query_log import QueryLogFile as Log
from opilio.topic.weight_table import count_queries

ENDINGS = ("*.html", "*.htm", "*.xhtml")
FAR = 2  # folders up


class TopicSources(msgspec.Struct, frozen=True, kw_only=True):
    """What `opilio topic build` was given."""

    name: str = ""
    languages: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    queries: Path | None = None
    phrases: tuple[str, ...] = ()
    mode: str = "fixed"
    ontology: tuple[Path, ...] = ()
    concepts: tuple[str, ...] = ()
    relevant: tuple[Path, ...] = ()
    irrelevant: tuple[Path, ...] = ()
    classes: Path | None = None
    target: str = ""
    top: int = 20
    searched: str = ""  # what search engines were asked
    found: tuple[Response, ...] = ()  # the pages that they found

    @property
    def title(self) -> str:
        """The name of the topic, given or derived from the sources."""
        files = (*([self.queries] if self.queries else []), *self.relevant)
        return (
            self.name
            or next(iter((*self.concepts, *self.words)), "")
            or self.searched
            or next((path.stem for path in files if path.stem), "topic")
        )


def draft_of(sources: TopicSources, home: Path) -> Draft:
    """The draft of a topic file from the sources, for the folder `home`."""
    topic = Topic(name=sources.title, languages=sources.languages)
    found: dict[str, dict[str, float]] = {}
    if sources.words:
        found["given"] = dict.fromkeys(sources.words, 1.0)
    near = Ontological()
    if sources.ontology and (sources.concepts or sources.words):
        near = near_concepts(sources, topic)
        found[f"of the ontology, by their importance for {', '.join(near.named)}"] = (
            most_important(near, sources.top, topic.language)
        )
    if sources.searched:
        found["asked of search engines"] = {sources.searched: 1.0}
        found[f"of {len(sources.found)} pages that they found"] = from_found(
            sources, topic.language
        )
    if sources.relevant:
        told, pages = from_examples(sources, topic.language)
        found[f"of {pages} example pages"] = told
    log, asked = from_log(sources, topic.language, near.importance)
    return Draft(
        name=sources.title,
        languages=sources.languages,
        keywords=found,
        asked=asked,
        seeds=sources.seeds,
        query_log=located(log, home, "file"),
        ontology=located(
            {"files": sources.ontology, "concepts": near.named}, home, "files"
        ),
        examples=located(
            {
                "relevant": patterns(sources.relevant),
                "irrelevant": patterns(sources.irrelevant),
            },
            home,
            "relevant",
            "irrelevant",
        ),
        classes=located(
            {"folder": sources.classes, "target": sources.target}, home, "folder"
        ),
    )


def check_sources(sources: TopicSources) -> None:
    """Raise BadInput for options that do not fit together."""
    given = sources.words or sources.queries or sources.ontology or sources.relevant
    if not (given or sources.searched):
        raise BadInput(
            "a topic needs a source: give one of --keywords, --search, --queries, "
            "--ontology or --examples"
        )
    if sources.concepts and not sources.ontology:
        raise BadInput("--concept needs an ontology; give --ontology FILE")
    if sources.phrases and not sources.queries:
        raise BadInput("--phrase needs queries; give --queries FILE")
    counts = sources.queries or sources.searched
    if sources.mode != TopicSources().mode and not counts:
        raise BadInput(
            "--mode says how queries or found pages are counted; give --queries FILE "
            "or --search QUERY"
        )
    if sources.irrelevant and not sources.relevant:
        raise BadInput("--irrelevant needs relevant pages; give --examples")
    if sources.ontology and not (sources.concepts or sources.words or sources.queries):
        raise BadInput("--ontology needs a concept; give --concept NAME")
    for path in sources.ontology:
        if not path.exists():
            raise BadInput(f"{path} does not exist; check the name of the ontology")
    if bool(sources.classes) != bool(sources.target):
        raise BadInput("--classes DIR and --target NAME must be given together")
    if sources.classes:
        check_classes(Classes(folder=str(sources.classes), target=sources.target))


def near_concepts(sources: TopicSources, topic: Topic) -> Ontological:
    """The terms of the ontologies for the concepts, or for the keywords that name some.

    They are in the topic's language, unless the ontologies have no words in it.
    """
    ontology = OntologyFiles(
        files=tuple(map(str, sources.ontology)), concepts=sources.concepts
    )
    asked = msgspec.structs.replace(
        topic, ontology=ontology, languages=(topic.language,)
    )
    return consult(asked, sources.words)


def most_important(found: Ontological, top: int, language: str) -> dict[str, float]:
    """The greatest of the importance table, with the concepts' names first."""
    key = Vocabulary((), language).key
    meant = set(map(key, (*found.named, *found.targets)))
    terms = sorted(found.importance, key=lambda term: key(term) not in meant)
    return {term: found.importance[term] for term in terms[:top]}


def from_examples(sources: TopicSources, language: str) -> tuple[dict[str, float], int]:
    """The words typical of the example pages, and how many pages there are."""
    relevant = pages_in(sources.relevant)
    main_text = PageTexts().main
    found = keywords(
        map(main_text, relevant),
        map(main_text, pages_in(sources.irrelevant)),
        language=language,
        top=sources.top,
    )
    if not found:
        names = ", ".join(map(str, sources.relevant))
        raise BadInput(f"{names}: no words can be read from these pages; give others")
    return found, len(relevant)


def from_found(sources: TopicSources, language: str) -> dict[str, float]:
    """The words that tell the pages that search engines found; in mode paper by the
    product of the thesis, tf·df."""
    told = keywords(
        map(PageTexts().main, sources.found),
        language=language,
        top=sources.top,
        mode=sources.mode,
    )
    if not told:
        raise BadInput(
            f"no words can be read from the pages found for {sources.searched!r}; ask "
            "for something else"
        )
    return told


def pages_in(paths: Sequence[Path]) -> list[Response]:
    """The example pages in folders and files; BadInput for other files."""
    pages = []
    for pattern in patterns(paths):
        for page in read_examples([pattern]):
            if content.looks_binary(page.body):
                name = page.url.rpartition("/")[2]
                raise BadInput(f"{pattern}: {name} is not a web page; remove it")
            pages.append(page)
    return pages


def patterns(paths: Sequence[Path]) -> tuple[str, ...]:
    """What to write under [examples]: the files, and the pages of the folders."""
    return tuple(pattern for path in paths for pattern in patterns_of(path))


def patterns_of(path: Path) -> Iterator[str]:
    """The file itself, or a pattern for each kind of page in a folder."""
    if not path.is_dir():
        if not path.exists():
            raise BadInput(f"{path} does not exist; name a saved page or a folder")
        yield str(path)
        return
    kinds = [ending for ending in ENDINGS if any(path.glob(ending))]
    if not kinds:
        raise BadInput(f"{path} has no pages in it; save some there (*.html)")
    for ending in kinds:
        yield f"{glob.escape(str(path))}/{ending}"


def from_log(
    sources: TopicSources, language: str, near: Iterable[str]
) -> tuple[dict[str, Any], dict[str, float]]:
    """The table [query_log], and the weights that it gives at present."""
    if sources.queries is None:
        return {}, {}
    log = Log(sources.queries).require()
    terms = [term for term in near if " " in term]
    asked, forms, _ = count_queries(log.new(), language, terms)
    key = Vocabulary((), language).key
    known = {key(term) for term in terms}
    phrases = (*sources.phrases, *(forms[each] for each in asked if each in known))
    settings: dict[str, Any] = {"file": sources.queries}
    if phrases:
        settings["phrases"] = tuple(dict.fromkeys(phrases))
    if sources.mode != "fixed":
        settings["mode"] = sources.mode
    section = msgspec.convert(
        {**settings, "file": str(sources.queries)}, QueryLog, strict=True
    )
    return settings, FollowedLog(section, language).build()


def located(table: dict[str, Any], home: Path, *keys: str) -> dict[str, Any]:
    """A table without empty values, with paths relative to `home`.

    Files that are not near get absolute paths.
    """

    def name(path: Any) -> str:
        whole = Path(path).absolute()
        near = Path(os.path.relpath(whole, home.absolute()))
        far = near.parts[:FAR] == ("..",) * FAR
        return (whole if far else near).as_posix()

    found = {key: value for key, value in table.items() if value}
    for key in keys:
        if key in found:
            value = found[key]
            several = isinstance(value, tuple)
            found[key] = tuple(map(name, value)) if several else name(value)
    return found
