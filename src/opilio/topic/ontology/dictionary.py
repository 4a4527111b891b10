"""Makes a bilingual dictionary or a list of terms from the labels of an ontology."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.topic.ontology.draft import primary
from opilio.topic.ontology.model import Ontology, words_for


def dictionary(
    ontology: Ontology, source_language: str, target_language: str
) -> dict[str, tuple[str, ...]]:
    """Each label in one language -> the labels of the same thing in another.

    The preferred one comes first; a label of several things has the meanings of all.
    """
    source, target = primary(source_language), primary(target_language)
    meanings: dict[str, dict[str, None]] = {}
    for concept in ontology.populated.concepts:
        translated = words_for(concept.labels.get(target, ()))
        if translated and source != target:
            for word in words_for(concept.labels.get(source, ())):
                meanings.setdefault(word, {}).update(dict.fromkeys(translated))
    return {word: tuple(found) for word, found in meanings.items()}


def terms(ontology: Ontology, languages: Sequence[str] = ()) -> list[str]:
    """Every word for a concept or an instance, once, in alphabetical order."""
    found: set[str] = set()
    for concept in ontology.populated.concepts:
        found.update(concept.surfaces([primary(code) for code in languages]))
    return sorted(found)
