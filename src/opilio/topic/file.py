"""A topic file in; what is sought, where to start and where to stay, out."""

from __future__ import annotations

from pathlib import Path

from opilio import urls
from opilio.config import Scope, Section, load
from opilio.errors import BadInput


class Keyword(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word or phrase of the topic, and how much it counts."""

    term: str
    weight: float = 1.0


class Evaluation(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lab's own table; the crawler never looks into it."""

    relevant_labels: tuple[str, ...] = ()


class Topic(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sought."""

    name: str
    keywords: tuple[str | Keyword, ...] = ()
    seeds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()  # of the pages wanted; empty: any
    threshold: float = 0.06  # a page is relevant from this score on
    scope: Scope = Scope()
    evaluation: Evaluation = Evaluation()

    def weights(self) -> dict[str, float]:
        """Each keyword with its weight."""
        return {
            word: 1.0 if isinstance(entry, str) else entry.weight
            for entry in self.keywords
            for word in [entry if isinstance(entry, str) else entry.term]
        }


def load_topic(path: Path) -> Topic:
    """Read and check a topic file."""
    topic = load(path, Topic)
    check(topic, str(path))
    return topic


def check(topic: Topic, source: str) -> None:
    """Raise BadInput for what the types alone cannot see."""
    if not topic.keywords:
        raise BadInput(
            f"{source}: a topic needs keywords; add: keywords = ['a word', 'a phrase']"
        )
    for term, weight in topic.weights().items():
        if not term.strip():
            raise BadInput(f"{source}: keywords: an empty term; remove it")
        if not 0 < weight <= 1000:
            raise BadInput(
                f"{source}: keywords: the weight of {term!r} is {weight:g}; "
                "it must be above 0 and at most 1000"
            )
    if not 0 < topic.threshold <= 1:
        raise BadInput(
            f"{source}: threshold is {topic.threshold:g}; it must be above 0, at most 1"
        )
    for seed in topic.seeds:
        if not urls.join("", seed):
            raise BadInput(
                f"{source}: seeds: {seed!r} is not an address; write http://… or https://…"
            )
