"""The topic of a crawl: keywords and their history, ontology, class rules, words of
dictionaries; with proposals to accept or reject."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec
import tomli_w

from opilio.assembly.ontology_loop import Loop
from opilio.assembly.plan import without_none
from opilio.assembly.topic_update import proposals_for
from opilio.cli.topic_tables import by_terms
from opilio.errors import OpilioError
from opilio.serve.ontology_tree import ConceptNode, concept_trees
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import View
from opilio.store.lifecycle import owner_of
from opilio.subject.class_rules import RULES
from opilio.subject.improved_ontology import with_improved
from opilio.subject.topic_updates import decisions, with_updates
from opilio.text.words import Vocabulary
from opilio.topic.ontology import Proposal
from opilio.topic.rules import load_rules

TERMS = 60  # of a table
WORDS = 40  # of a dictionary


class TopicRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to look for proposals, which takes some seconds."""

    propose: bool = False


class TermWeight(msgspec.Struct, frozen=True):
    """A term of the weight table."""

    term: str
    weight: float


class KeywordStep(msgspec.Struct, frozen=True):
    """A change of the keywords that was decided, or is proposed."""

    term: str
    kind: str  # add, drop, raise or lower
    before: float
    after: float
    pages: int  # relevant pages that have it
    when: str = ""  # "": it is proposed
    action: str = ""  # accepted, automatic or rejected


class OntologyProposal(msgspec.Struct, frozen=True):
    """Something that the ontology may lack."""

    number: int
    statement: str
    pages: int
    sentence: str


class RuleMatrix(msgspec.Struct, frozen=True):
    """How likely a page of a class (row) links to one of another (column)."""

    classes: list[str]
    target: str
    rows: list[list[float]]


class DictionaryWords(msgspec.Struct, frozen=True):
    """Words of another language that mean terms of the topic."""

    language: str
    words: int  # in the dictionary
    used: list[str]  # "word: meaning"


class TopicTables(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about a topic."""

    name: str
    keywords: list[TermWeight]
    weights: list[TermWeight]  # the table that is used now, with followed queries
    history: list[KeywordStep]
    proposals: list[KeywordStep]
    ontology: list[ConceptNode]
    ontology_proposals: list[OntologyProposal]
    has_ontology: bool
    rules: RuleMatrix | None
    dictionaries: list[DictionaryWords]
    seeds: list[str]
    file: str  # the topic as a file
    running: bool
    trouble: str = ""  # why nothing could be proposed


def show_topic(crawl: ServedCrawl, asked: TopicRequest) -> TopicTables:
    """The tables of the topic."""
    topic = with_updates(crawl.plan.topic, crawl.folder)
    with crawl.reading() as db:
        subject = crawl.subject(db)
        hits = concept_hits(db)
    proposals, lacking, trouble = proposed(crawl, asked.propose)
    better = with_improved(topic, crawl.folder)
    files = better.ontology.files if better.ontology else ()
    return TopicTables(
        name=topic.name,
        keywords=[TermWeight(*pair) for pair in topic.weights().items()],
        weights=[TermWeight(*p) for p in by_terms(subject, subject.weights).items()][
            :TERMS
        ],
        history=[
            KeywordStep(
                one.change.term,
                one.change.kind,
                one.change.before,
                one.change.after,
                one.change.pages,
                one.when,
                one.action,
            )
            for one in reversed(decisions(crawl.folder))
        ],
        proposals=proposals,
        ontology=concept_trees([Path(file) for file in files], hits),
        ontology_proposals=lacking,
        has_ontology=bool(files),
        rules=rule_matrix(crawl),
        dictionaries=[
            DictionaryWords(language, len(words), translated(words, subject.weights))
            for language, words in subject.dictionaries.items()
        ],
        seeds=list(topic.sources.urls),
        file=tomli_w.dumps(without_none(msgspec.to_builtins(topic))),
        running=bool(owner_of(crawl.folder)),
        trouble=trouble,
    )


def proposed(
    crawl: ServedCrawl, wanted: bool
) -> tuple[list[KeywordStep], list[OntologyProposal], str]:
    """What the kept pages suggest to change, and what the ontology lacks by them."""
    if not wanted:
        return [], [], ""
    keywords = [
        KeywordStep(one.term, one.kind, one.before, one.after, one.pages)
        for one in proposals_for(crawl.folder)
    ]
    trouble = "" if keywords else "The kept pages suggest no change of the keywords."
    if crawl.plan.topic.ontology is None:
        return keywords, [], trouble
    try:
        found = Loop(crawl.folder).propose(most=15)
    except OpilioError as error:
        return keywords, [], str(error)
    return (
        keywords,
        [
            OntologyProposal(
                number,
                f"{one.term} {relation_in_words(one)} {one.concept}",
                one.pages,
                one.support[0].sentence if one.support else "",
            )
            for number, one in enumerate(found, 1)
        ],
        trouble,
    )


def relation_in_words(one: Proposal) -> str:
    """How a proposed term is related to a concept."""
    return "is another name of" if one.kind == "label" else one.relation


def concept_hits(db: sqlite3.Connection) -> Counter[str]:
    """On how many relevant pages each concept is a main concept."""
    hits: Counter[str] = Counter()
    for (concepts,) in db.execute("SELECT concepts FROM site"):
        hits.update(msgspec.json.decode(concepts, type=dict[str, int]))
    return hits


def rule_matrix(crawl: ServedCrawl) -> RuleMatrix | None:
    """The rules between classes, if the crawl has learnt any."""
    file = crawl.folder.models / RULES
    classes = crawl.plan.topic.classes
    if classes is None or not file.is_file():
        return None
    rules = load_rules(file.read_bytes(), str(file))
    return RuleMatrix(
        list(rules.classes),
        classes.target,
        [[rules.probability(a, b) for b in rules.classes] for a in rules.classes],
    )


def translated(
    words: Mapping[str, tuple[str, ...]], weights: Mapping[str, float]
) -> list[str]:
    """The words of a dictionary whose meanings are terms of the topic."""
    key = Vocabulary(()).key
    found = []
    for word, meanings in words.items():
        known = [meaning for meaning in meanings if key(meaning) in weights]
        if known:
            found.append(f"{word}: {', '.join(known)}")
        if len(found) >= WORDS:
            break
    return found


TOPIC = View(
    name="topic",
    path="topic",
    title="Topic",
    help="Keywords, weights, ontology, rules and dictionaries; and proposals.",
    parameters=TopicRequest,
    result=TopicTables,
    show=show_topic,
)
