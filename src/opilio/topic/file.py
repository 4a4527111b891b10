"""Reads and checks topic files: what is sought, where to start and the scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from opilio.errors import BadInput
from opilio.extensions import located
from opilio.records import Mode, Purpose
from opilio.settings import ScopeSettings, Seconds, Section, Strings, load_toml
from opilio.text import urls

SEARCHED = "https://duckduckgo.com/"  # for engines that are given by name only

Share = Annotated[float, msgspec.Meta(gt=0, le=1)]


TREE_LEVEL_LIMIT = 8  # links from the homepage of a site
Level = Annotated[int, msgspec.Meta(ge=0)]


class Keyword(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word or phrase of the topic, and how much it counts."""

    term: str
    weight: float = 1.0


if TYPE_CHECKING:  # a program may give any sequence; it becomes a tuple when checked
    Keywords = Sequence[str | Keyword]
else:
    Keywords = tuple[str | Keyword, ...]


class SearchService(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[seeds.engines.NAME]`: a search service, and how it is asked and read."""

    url: str  # with {query}, and {page} or {start}, {limit}, {language} where wanted
    links: str = ""  # where they are in its JSON: results[].url; empty: Atom or RSS


class Sources(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[seeds]`: sources of seeds besides a plain list of URLs."""

    urls: Strings = ()
    search: Strings = ()  # ddgs, ddgs:brave, searxng:http://…, or a name of `engines`
    engines: Mapping[str, SearchService] = {}
    sources: Strings = ()  # of other packages by name, or file.py:Class
    query: str = ""  # for the engines; empty: the topic's keywords
    limit: Annotated[int, msgspec.Meta(ge=1, le=499)] = 50  # from all engines together
    common: bool = False  # only URLs that all engines found (if none, most)
    sitemaps: bool = False  # also the URLs in the sitemaps of the given URLs' sites
    feeds: bool = False  # also the URLs in the feeds of the given pages


class QueryLog(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[query_log]`: the weight table follows what people ask for (Meenu et al.)."""

    file: str = ""  # one query per line; empty: queries.txt of the crawl
    searches: bool = False  # `opilio search` adds its queries to the log
    alpha: Annotated[float, msgspec.Meta(gt=0, le=0.5)] = 0.5  # share of the old weight
    threshold: float | None = None  # terms below it are left out; None: the mode's own
    phrases: Strings = ()  # words that belong together: "lok sabha"
    every: Seconds = 600.0  # between two checks of the log while crawling; 0: never
    mode: Mode = "fixed"  # paper: counts, not shares of queries


class OntologyFiles(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[ontology]`: SKOS, OWL, RDFS or OBO; several files make a repository."""

    files: Strings
    concepts: Strings = ()  # what is sought; empty: found from the keywords


class Examples(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[examples]`: pages that are relevant, and pages that are not."""

    relevant: Strings = ()  # files and shell patterns: examples/good/*.html
    irrelevant: Strings = ()


class Classes(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[classes]`: a folder of example pages per class (Kumar & Vig's train-0)."""

    folder: str
    target: str  # the class that is sought


class SiteSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[sites]`: how deep `opilio evolve` walks websites (Yang's Tree_Level_Limit)."""

    tree_level_limit: Level = TREE_LEVEL_LIMIT
    limits: Mapping[str, Level] = {}  # of hosts that differ, and of those below them

    def limit_of(self, host: str) -> int:
        """How many links from its homepage a site is walked.

        >>> SiteSettings(limits={"bees.test": 3}).limit_of("www.bees.test:8080")
        3
        """
        name = urls.without_port(host)
        while name not in self.limits:
            name = name.partition(".")[2]
            if not name:
                return self.tree_level_limit
        return self.limits[name]


class Evaluation(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table for the lab only; the crawler ignores it."""

    relevant_labels: Strings = ()


class Topic(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sought."""

    name: str
    keywords: Keywords = ()
    seeds: Strings | Sources = ()
    languages: Strings = ()  # of the pages wanted; empty: any
    update: Literal["ask", "auto"] = "ask"  # whether a crawl may change the keywords
    threshold: Share | None = None  # relevant from this score on; None: the judge's
    purpose: Purpose | None = None  # exports omit pages that are reserved against it
    scope: ScopeSettings = ScopeSettings()
    query_log: QueryLog | None = None
    ontology: OntologyFiles | None = None
    examples: Examples | None = None
    classes: Classes | None = None
    dictionary: Mapping[str, str] = {}  # language -> bilingual dictionary file
    sites: SiteSettings = SiteSettings()
    evaluation: Evaluation = Evaluation()

    @property
    def language(self) -> str:
        """The language of the topic's own words."""
        return self.languages[0].lower().partition("-")[0] if self.languages else "en"

    @property
    def sources(self) -> Sources:
        """The sources of seeds, in whatever form they were written."""
        seeds = self.seeds
        return seeds if isinstance(seeds, Sources) else Sources(urls=seeds)

    @property
    def asked(self) -> QueryLog | None:
        """The query log, if the topic names a file."""
        return self.query_log if self.query_log and self.query_log.file else None

    def weights(self) -> dict[str, float]:
        """Each keyword with its weight."""
        return {
            word: 1.0 if isinstance(entry, str) else entry.weight
            for entry in self.keywords
            for word in [entry if isinstance(entry, str) else entry.term]
        }


def load_topic(path: Path) -> Topic:
    """Read and check a topic file; file names in it are relative to its folder."""
    topic = with_absolute_paths(load_toml(path, Topic), path.parent)
    check_topic(topic, str(path))
    return topic


def with_absolute_paths(topic: Topic, folder: Path) -> Topic:
    """The topic with absolute paths of its files."""

    def absolute(name: str) -> str:
        return str(folder.absolute() / Path(name).expanduser())

    replace = msgspec.structs.replace
    log, ontology, classes = topic.query_log, topic.ontology, topic.classes
    examples = topic.examples
    seeds = topic.seeds
    if isinstance(seeds, Sources):
        named = tuple(located(name, folder) for name in seeds.sources)
        seeds = replace(seeds, sources=named)
    return replace(
        topic,
        seeds=seeds,
        query_log=replace(log, file=absolute(log.file)) if topic.asked and log else log,
        ontology=ontology
        and replace(ontology, files=tuple(map(absolute, ontology.files))),
        examples=examples
        and replace(
            examples,
            relevant=tuple(map(absolute, examples.relevant)),
            irrelevant=tuple(map(absolute, examples.irrelevant)),
        ),
        classes=classes and replace(classes, folder=absolute(classes.folder)),
        dictionary={key: absolute(name) for key, name in topic.dictionary.items()},
    )


def with_sources(topic: Topic, named: Sequence[str]) -> Topic:
    """The topic with more seed sources; files are relative to the current folder."""
    if not named:
        return topic
    given = topic.sources
    sources = (*given.sources, *map(located, named))
    return msgspec.structs.replace(
        topic, seeds=msgspec.structs.replace(given, sources=sources)
    )


def check_topic(topic: Topic, source: str) -> None:
    """Raise BadInput for what the types alone cannot see."""
    from opilio.text.words import tokens  # its stemmers take their time

    examples = topic.examples and topic.examples.relevant
    if topic.query_log and not (topic.asked or topic.query_log.searches):
        raise BadInput(
            f"{source}: [query_log] names no log; add file = 'queries.txt', or "
            "searches = true to follow the searches in the crawl"
        )
    if not (topic.keywords or topic.asked or topic.ontology or examples):
        raise BadInput(
            f"{source}: a topic needs one of keywords, [query_log], [ontology] or "
            "[examples]; add: keywords = ['a word', 'a phrase']"
        )
    for term, weight in topic.weights().items():
        if not term.strip():
            raise BadInput(f"{source}: keywords: an empty term; remove it")
        if not tokens(term):
            raise BadInput(
                f"{source}: keywords: {term!r} has no letter or digit, and only these "
                "are indexed; remove it"
            )
        if not 0 < weight <= 1000:
            raise BadInput(
                f"{source}: keywords: the weight of {term!r} is {weight:g}; "
                "it must be above 0 and at most 1000"
            )
    refuse_bad_languages(topic.languages, source)
    refuse_bad_addresses(topic.sources.urls, source)


def refuse_bad_languages(languages: Sequence[str], source: str) -> None:
    """Raise BadInput for the first that is not a language code."""
    for language in languages:
        from opilio.topic.language_codes import is_language  # few topics name any

        if not is_language(language):
            raise BadInput(
                f"{source}: languages: {language!r} is not a language code; write a "
                "code of ISO 639, like 'en', 'de' or 'tlh'"
            )


def refuse_bad_addresses(seeds: Sequence[str], source: str) -> None:
    """Raise BadInput for the first seed that is not a URL."""
    for seed in seeds:
        if not urls.join("", seed):
            raise BadInput(
                f"{source}: seeds: {seed!r} is not a URL; write http://… or https://…"
            )


def where_to(topic: Topic, more: Sequence[str] = ()) -> list[str]:
    """The URLs that a crawl starts with, including search engines."""
    sources = topic.sources
    places = [
        sources.engines[engine].url
        if engine in sources.engines
        else engine.partition(":")[2]
        for engine in sources.search
    ]
    engines = [place if "://" in place else SEARCHED for place in places]
    return [*sources.urls, *more, *engines]
