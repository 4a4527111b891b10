"""A topic in; its brief out: all that readers and judges are told of it.

The files that a topic names are read once, when the crawl begins; the brief lies in
the crawl's folder, which so needs none of them any more. Only the query log is
followed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from opilio.errors import BadInput
from opilio.reader import make_reader
from opilio.topic import Topic
from opilio.topic.dictionary import merge, read_dictionary
from opilio.topic.keywords import keywords
from opilio.topic.ordinary import ORDINARY, ordinary, rarity_of
from opilio.topic.weight_table import normalised
from opilio.types import (
    ClassFeatures,
    ConceptWords,
    Page,
    ReaderSetup,
    Response,
    Subject,
)
from opilio.vectors.files import NONE, resolve
from opilio.words import Vocabulary, hash_all, stem_all, stop_words

MOST_EXAMPLES = 1000
MOST_BYTES = 10 * 2**20  # of one example
MOST_MEANINGS = 4096  # terms of a topic that have vectors
FROM_EXAMPLES = 20  # keywords, if the topic has none of its own

V = TypeVar("V")
Dictionaries = Mapping[str, Mapping[str, tuple[str, ...]]]


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What is sought, and what readers must count to find it."""

    subject: Subject
    terms: tuple[str, ...]
    language: str
    dictionaries: Dictionaries = {}
    concepts: Mapping[str, ConceptWords] = {}  # that a search may mean, by label
    vectors: str = ""  # where word vectors come from: a path, or wordllama; "": none

    def setup(
        self,
        *,
        context: bool = False,
        blocks: bool = False,
        vector: bool = False,
        words: bool = False,
        headings: bool = False,
        sequence: bool = False,
        overlapping: bool = True,
        transcribe: bool = True,
        vectors: bool = False,
        text: bool = False,
        agent: str = "opilio",
    ) -> ReaderSetup:
        """What a reader process is told; the dictionaries, unless it shall not
        transcribe."""
        return ReaderSetup(
            self.terms,
            self.language,
            context=context,
            blocks=blocks,
            vector=vector,
            overlapping=overlapping,
            words=words,
            headings=headings,
            sequence=sequence,
            dictionaries=self.dictionaries if transcribe else {},
            agent=agent,
            vectors=resolve(self.vectors) if vectors else "",
            text=text,
        )

    def written(self) -> dict[str, str]:
        """Each key of a term -> the term as the topic writes it."""
        keys = Vocabulary(self.terms, self.language).keys
        return {key: term for term, key in reversed(keys.items())}

    def with_weights(self, weights: Mapping[str, float]) -> Brief:
        """The brief with a weight table that has changed."""
        vocabulary = Vocabulary((), self.language)
        subject = msgspec.structs.replace(
            self.subject, weights=by_key(vocabulary, weights)
        )
        subject = with_meanings(subject, tuple(weights), self)
        terms = tuple(dict.fromkeys((*self.terms, *weights)))
        return msgspec.structs.replace(self, subject=subject, terms=terms)

    def with_more(self, weights: Mapping[str, float]) -> Brief:
        """The brief with terms that people ask for beside those it has."""
        brief = self.with_weights(weights)
        table = dict(self.subject.weights)
        for key, weight in brief.subject.weights.items():
            table[key] = max(weight, table.get(key, 0.0))
        subject = msgspec.structs.replace(brief.subject, weights=table)
        return msgspec.structs.replace(brief, subject=subject)


class Ontological(msgspec.Struct, frozen=True, kw_only=True):
    """What the ontologies say about the topic, by surface term."""

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


def make_brief(
    topic: Topic,
    asked: Mapping[str, float] | None = None,
    vectors: str = NONE,
    weights: str = "",
) -> Brief:
    """Read all that a topic names; `asked` is the weight table of its query log,
    `vectors` and `weights` are the settings of these names."""
    language = topic.language
    examples = topic.examples
    relevant = read_examples(examples.relevant if examples else ())
    irrelevant = read_examples(examples.irrelevant if examples else ())
    table = weights_of(topic, asked or {})
    ontology = consult(topic, list(table))
    if not table and ontology.importance:
        table = dict(ontology.importance)
    if not table:
        table = keywords_of(relevant, irrelevant, language)
    terms = tuple(dict.fromkeys((*table, *ontology.terms())))
    dictionaries = {
        source: merge(read_dictionary(Path(name)), ontology.dictionaries[source])
        for source, name in topic.dictionary.items()
    }
    vocabulary = Vocabulary(terms, language)
    brief = Brief(
        subject=Subject(),
        terms=terms,
        language=language,
        dictionaries=dictionaries,
        concepts=ontology.near,
        vectors=resolve(vectors),
    )
    pages = as_examples([*relevant, *irrelevant], brief)
    subject = Subject(
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
    subject = with_meanings(subject, terms, brief)
    subject = msgspec.structs.replace(
        subject, common=common_words(brief), trained=weights
    )
    return msgspec.structs.replace(brief, subject=subject)


def common_words(brief: Brief) -> bytes:
    """Subject.common: how rare the words are that a list of common ones has."""
    language = brief.language
    if brief.vectors:
        from opilio.vectors import load_vectors

        rarity = load_vectors(resolve(brief.vectors), language).common()
    else:
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


def with_meanings(subject: Subject, terms: Sequence[str], brief: Brief) -> Subject:
    """The subject with the vectors of terms, if the brief has word vectors, and with
    how rare their words are; those that are known stay."""
    language = brief.language
    keys = Vocabulary(terms[:MOST_MEANINGS], language).keys
    new = {key: term for term, key in reversed(keys.items()) if key}
    new = {key: term for key, term in new.items() if key not in subject.rarity}
    if not new:
        return subject
    if not brief.vectors:
        rarity = {key: rarity_of(term, language) for key, term in new.items()}
        return msgspec.structs.replace(subject, rarity={**subject.rarity, **rarity})
    from opilio.vectors import load_vectors

    known = load_vectors(resolve(brief.vectors), language)
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
    from opilio.read.main_text import main_text  # its libraries take their time

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
    """The keywords and what people ask for; of two weights the greater counts.

    What they ask most then counts as much as a keyword.
    """
    weights = topic.weights()
    if not weights:
        return dict(asked)
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


def consult(topic: Topic, weighted: Sequence[str]) -> Ontological:
    """Ask the ontologies of a topic about its concepts, or else its keywords."""
    empty: Dictionaries = {language: {} for language in topic.dictionary}
    if topic.ontology is None:
        return Ontological(dictionaries=empty)
    from opilio.topic import ontology as about  # rdflib takes its time

    repository = about.load_repository(topic.ontology.files)
    named = topic.ontology.concepts
    if not named and not weighted:
        raise BadInput(
            "the topic has an ontology but neither keywords nor concepts; add to "
            "[ontology]: concepts = ['the name of a concept']"
        )
    sought = repository.extract(named or weighted, lenient=not named)
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
                    for ontology in repository.ontologies
                )
            )
            for source in topic.dictionary
        },
    )


def read_examples(patterns: Sequence[str]) -> list[Response]:
    """The files that the patterns name; BadInput if one names none."""
    found: list[Response] = []
    for pattern in patterns:
        paths = [path for name in named(Path(pattern)) for path in files_in(name)]
        if not paths:
            raise BadInput(f"[examples] {pattern}: there is no such file; check it")
        found += map(read_example, paths)
    if len(found) > MOST_EXAMPLES:
        raise BadInput(
            f"[examples] names {len(found)} pages; at most {MOST_EXAMPLES} are read"
        )
    return found


def named(pattern: Path) -> list[Path]:
    """The path itself, or those that match it as a pattern."""
    if pattern.exists():
        return [pattern]
    return sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))


def files_in(path: Path) -> list[Path]:
    """The file itself, or the files of a folder."""
    return sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]


def read_example(path: Path) -> Response:
    """A saved page, as if it had just been fetched."""
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise BadInput(
                f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read"
            )
        body = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    url = f"http://example.invalid/{path.name}"
    return Response(url, 200, [("content-type", "text/html")], body, 0.0)


def as_examples(responses: Sequence[Response], brief: Brief) -> list[Page]:
    """Saved pages as examples: only what they say."""
    if not responses:
        return []  # to make a reader takes its time
    read = make_reader(brief.setup(vector=True, vectors=True)).read
    return [msgspec.structs.replace(read(one), links=()) for one in responses]


def save_brief(brief: Brief, path: Path) -> None:
    """Keep a brief in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_bytes(msgspec.msgpack.encode(brief))
    draft.replace(path)


def load_brief(path: Path) -> Brief:
    """The brief in a file."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Brief)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(
            f"{path} cannot be read ({error}); remove {path.parent} and make it again "
            f"by going on with the crawl: opilio crawl {path.parent.parent}"
        ) from None
