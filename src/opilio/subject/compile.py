"""Compiles a topic into a Subject, reading all files that it names.

The files are read once, when the crawl begins; the subject is stored in the crawl's
folder, which does not need them any more. Only the query log is followed further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np

from opilio.errors import BadInput
from opilio.records import (
    ClassFeatures,
    ConceptWords,
    Page,
    ReaderSetup,
    Reads,
    Response,
    Subject,
)
from opilio.text.meaning import dimensions
from opilio.text.words import Vocabulary, hash_all, stem_all, stop_words
from opilio.topic import OntologyFiles, Topic

if TYPE_CHECKING:
    from opilio.subject.page_reader import ExampleReader
    from opilio.topic.ontology.repository import Sought
from opilio.vectors.files import NONE, resolve

MOST_MEANINGS = 4096  # terms of a topic that have vectors
FROM_EXAMPLES = 20  # keywords, if the topic has none of its own
NOTHING_MORE = Reads()
PARTS = sorted(  # of pages, that are either read or not
    {*Reads.__struct_fields__}
    & {*ReaderSetup.__struct_fields__} - {"vectors", "context_length"}
)

V = TypeVar("V")
Dictionaries = Mapping[str, Mapping[str, tuple[str, ...]]]


def setup_for(
    subject: Subject, reads: Reads = NOTHING_MORE, agent: str = "opilio"
) -> ReaderSetup:
    """The setup of a reader process that extracts these parts of pages."""
    return ReaderSetup(
        tuple(subject.terms),
        subject.language,
        overlapping=not reads.longest,
        dictionaries=subject.dictionaries if reads.transcribe else {},
        agent=agent,
        vectors=resolve(subject.word_vectors) if reads.vectors else "",
        context_length=reads.context_length,
        dimensions=dimensions(subject) if reads.vectors else 0,
        **{part: getattr(reads, part) for part in PARTS},
    )


def written_terms(subject: Subject) -> dict[str, str]:
    """Each key of a term -> the term as the topic writes it."""
    keys = Vocabulary(subject.terms, subject.language).keys
    return {key: term for term, key in reversed(keys.items())}


def with_weights(subject: Subject, weights: Mapping[str, float]) -> Subject:
    """The subject with a weight table that has changed."""
    table = by_key(Vocabulary((), subject.language), weights)
    changed = with_meanings(
        msgspec.structs.replace(subject, weights=table), tuple(weights)
    )
    terms = tuple(dict.fromkeys((*subject.terms, *weights)))
    return msgspec.structs.replace(changed, terms=terms)


def with_more(subject: Subject, weights: Mapping[str, float]) -> Subject:
    """The subject with further terms that people ask for."""
    more = with_weights(subject, weights)
    table = dict(subject.weights)
    for key, weight in more.weights.items():
        table[key] = max(weight, table.get(key, 0.0))
    return msgspec.structs.replace(more, weights=table)


def example_pages(patterns: Sequence[str]) -> list[Response]:
    """The pages in the files that a topic names as examples."""
    if not patterns:
        return []
    from opilio.subject.examples import read_examples  # few topics need it

    return read_examples(patterns)


class Ontological(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of the ontologies for a topic, by surface term."""

    importance: Mapping[str, float] = {}
    concepts: Mapping[str, tuple[str, float]] = {}
    classes: Mapping[str, ClassFeatures] = {}
    targets: tuple[str, ...] = ()
    named: tuple[str, ...] = ()  # the words that the targets were found by
    dictionaries: Dictionaries = {}
    near: Mapping[str, ConceptWords] = {}  # by keys of terms, not by terms

    def terms(self) -> Iterable[str]:
        """Every term of any table."""
        yield from self.importance
        yield from self.concepts
        for features in self.classes.values():
            yield from features.representative
            yield from features.related


def compile_topic(
    topic: Topic,
    asked: Mapping[str, float] | None = None,
    vectors: str = NONE,
    weights: str = "",
    example_reader: ExampleReader | None = None,
) -> Subject:
    """Read all that a topic names; `asked` is the weight table of its query log,
    `vectors` and `weights` are the settings of these names."""
    language = topic.language
    examples = topic.examples
    relevant = example_pages(examples.relevant if examples else ())
    irrelevant = example_pages(examples.irrelevant if examples else ())
    table = weights_of(topic, asked or {})
    ontology = consult(topic, list(table))
    if not table and ontology.importance:
        table = dict(ontology.importance)
    if not table:
        table = keywords_of(relevant, irrelevant, language)
    terms = tuple(dict.fromkeys((*table, *ontology.terms())))
    vocabulary = Vocabulary(terms, language)
    subject = Subject(
        terms=terms,
        language=language,
        dictionaries=read_dictionaries(topic, ontology.dictionaries),
        named_concepts=ontology.near,
        word_vectors=resolve(vectors, language),
    )
    pages = as_examples([*relevant, *irrelevant], subject, example_reader)
    subject = msgspec.structs.replace(
        subject,
        threshold=topic.threshold,
        weights=by_key(vocabulary, table),
        importance=by_key(vocabulary, ontology.importance),
        concepts=by_key(vocabulary, ontology.concepts),
        classes={
            name: ClassFeatures(
                [vocabulary.key(term) for term in features.representative],
                by_key(vocabulary, features.related),
            )
            for name, features in ontology.classes.items()
        },
        targets=ontology.targets,
        relevant=pages[: len(relevant)],
        irrelevant=pages[len(relevant) :],
    )
    subject = with_meanings(subject, terms)
    return msgspec.structs.replace(
        subject, common=common_words(language, subject.word_vectors), trained=weights
    )


def read_dictionaries(topic: Topic, labels: Dictionaries) -> Dictionaries:
    """The dictionaries of a topic, with the labels of its ontology."""
    if not topic.dictionary:
        return {}
    from opilio.topic.dictionary import merge, read_dictionary  # few topics need it

    return {
        source: merge(read_dictionary(Path(name)), labels[source])
        for source, name in topic.dictionary.items()
    }


@cache
def common_words(language: str, word_vectors: str) -> bytes:
    """Subject.common: the words in a list of common ones, with their rarity."""
    if word_vectors:
        from opilio.vectors.words import load_vectors

        rarity = load_vectors(resolve(word_vectors), language).common()
    else:
        from opilio.topic.common_words import ORDINARY, ordinary

        rarity = dict.fromkeys(ordinary(language), ORDINARY)
    stems = stem_all(list(rarity), language)
    found = dict(zip(hash_all(stems), rarity.values(), strict=True))
    found |= dict.fromkeys(
        hash_all(stem_all(list(stop_words(language)), language)), 0.1
    )
    table = np.zeros(len(found), [("place", "<u4"), ("rarity", "<f4")])
    table["place"] = np.fromiter(found, np.uint64) >> np.uint64(32)
    table["rarity"] = list(found.values())
    return table.tobytes()


def with_meanings(subject: Subject, terms: Sequence[str]) -> Subject:
    """The subject with the vectors of terms, if there are word vectors, and with
    how rare their words are; those that are known stay."""
    language = subject.language
    keys = Vocabulary(terms[:MOST_MEANINGS], language).keys
    new = {key: term for term, key in reversed(keys.items()) if key}
    new = {key: term for key, term in new.items() if key not in subject.rarity}
    if not new:
        return subject
    if not subject.word_vectors:
        from opilio.topic.common_words import rarity_of

        rarity = {key: rarity_of(term, language) for key, term in new.items()}
        return msgspec.structs.replace(subject, rarity={**subject.rarity, **rarity})
    from opilio.vectors.words import DIMENSIONS, load_vectors

    size = dimensions(subject) or DIMENSIONS
    known = load_vectors(resolve(subject.word_vectors), language, size)
    return msgspec.structs.replace(
        subject,
        vectors={**subject.vectors, **known.by_key(new)},
        rarity={
            **subject.rarity,
            **{key: known.rarity(term) for key, term in new.items()},
        },
    )


def keywords_of(
    relevant: Sequence[Response], irrelevant: Sequence[Response], language: str
) -> dict[str, float]:
    """The words that tell the first pages from the others, with their weights."""
    from opilio.read.page_texts import PageTexts  # its libraries take their time
    from opilio.topic.keywords import keywords

    main_text = PageTexts().main
    found = keywords(
        map(main_text, relevant),
        map(main_text, irrelevant),
        language=language,
        top=FROM_EXAMPLES,
    )
    if relevant and not found:
        raise BadInput("[examples]: no words can be read from these pages; give others")
    return found


def weights_of(topic: Topic, asked: Mapping[str, float]) -> dict[str, float]:
    """The keywords and the terms of the query log; of two weights the greater counts.

    So the most frequent term of the log counts as much as a keyword.
    """
    weights = topic.weights()
    if not weights or not asked:
        return weights or dict(asked)
    from opilio.topic.weight_table import normalised  # few crawls need it

    for term, weight in normalised(asked).items():
        weights[term] = max(weight, weights.get(term, 0.0))
    return weights


def by_key(vocabulary: Vocabulary, table: Mapping[str, V]) -> dict[str, V]:
    """A table by the keys of its terms; of two forms of a term the first counts."""
    found: dict[str, V] = {}
    for term, value in table.items():
        if key := vocabulary.key(term):
            found.setdefault(key, value)
    return found


def seek_concepts(files: OntologyFiles, weighted: Sequence[str]) -> Sought:
    """The concepts that a topic names, or else those that its keywords mean."""
    from opilio.topic import ontology as about  # rdflib takes its time

    repository = about.load_repository(files.files)
    named = files.concepts
    if not named and not weighted:
        raise BadInput(
            "the topic has an ontology but neither keywords nor concepts; add "
            "concepts = ['the name of a concept'] to [ontology]"
        )
    return repository.extract(named or weighted, lenient=not named)


def consult(topic: Topic, weighted: Sequence[str]) -> Ontological:
    """Ask the ontologies of a topic about its concepts, or else its keywords."""
    empty: Dictionaries = {language: {} for language in topic.dictionary}
    if topic.ontology is None:
        return Ontological(dictionaries=empty)
    from opilio.topic import ontology as about
    from opilio.topic.dictionary import merge

    sought = seek_concepts(topic.ontology, weighted)
    codes = [code.lower().partition("-")[0] for code in topic.languages]
    languages = sought.spoken(codes)
    concepts = about.association(sought, languages=languages)
    key = Vocabulary((), topic.language).key
    return Ontological(
        importance=about.importance_table(sought, languages=languages),
        concepts=concepts,
        near=about.concept_words(
            sought.ontology, key, languages=languages, known=set(map(key, concepts))
        ),
        classes=about.features(
            sought.ontology, about.classes_around(sought), languages=languages
        ),
        targets=tuple(sought.labels),
        named=sought.named,
        dictionaries={
            source: merge(
                *(
                    about.dictionary(ontology, source, topic.language)
                    for ontology in sought.repository.ontologies
                )
            )
            for source in topic.dictionary
        },
    )


def as_examples(
    responses: Sequence[Response], subject: Subject, reader: ExampleReader | None
) -> list[Page]:
    """Saved pages as examples: only what they say."""
    if not responses:
        return []  # to make a reader takes its time
    if reader is None:
        from opilio.subject.page_reader import limited_reader

        reader = limited_reader
    setup = setup_for(subject, Reads(vector=True, vectors=True))
    with reader(setup) as read:
        return [msgspec.structs.replace(read(one), links=()) for one in responses]
