"""Says what each strategy needs of a topic, and refuses to run without it.

The three groups are those of `opilio strategies`: what to use, what must be taught
first, and the published algorithms to compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from opilio.errors import BadInput
from opilio.protocols import Strategy
from opilio.records import Subject

RECOMMENDED = "recommended"
TAUGHT = "needs training data"
BASELINE = "baselines from the literature"
OTHER = "of other packages"
GROUPS = (RECOMMENDED, TAUGHT, BASELINE, OTHER)

WORDS = "keywords, [query_log], [ontology] or [examples]"
VERDICTS = "nothing of its own: it follows the judge"
GRAPH = "nothing: it goes by links alone"


class Input(NamedTuple):
    """The group of a strategy, and the keys of the topic file that it needs."""

    group: str
    needs: str


INPUTS: Mapping[str, Input] = {
    "opilio": Input(RECOMMENDED, f"{WORDS}; trained weights come with the package"),
    "blocks": Input(RECOMMENDED, WORDS),
    "weight-table": Input(RECOMMENDED, WORDS),
    "shark-search": Input(RECOMMENDED, WORDS),
    "mcore": Input(
        TAUGHT,
        "[ontology] or keywords, and [classes], folders of example pages, to look "
        "ahead; mode paper must have them",
    ),
    "ache": Input(BASELINE, VERDICTS),
    "apprentice": Input(BASELINE, VERDICTS),
    "backlink-count": Input(BASELINE, GRAPH),
    "best-first": Input(BASELINE, VERDICTS),
    "best-n-first": Input(BASELINE, VERDICTS),
    "breadth-first": Input(BASELINE, GRAPH),
    "context-graph": Input(BASELINE, VERDICTS),
    "depth-first": Input(BASELINE, GRAPH),
    "fish-search": Input(BASELINE, VERDICTS),
    "host-bandit": Input(BASELINE, WORDS),
    "infospiders": Input(BASELINE, WORDS),
    "opic": Input(BASELINE, GRAPH),
    "ordering": Input(BASELINE, "[ontology]; in mode fixed, keywords will do"),
    "otie": Input(BASELINE, WORDS),
    "pagerank": Input(BASELINE, GRAPH),
    "random": Input(BASELINE, GRAPH),
    "soft-focus": Input(BASELINE, VERDICTS),
    "tag-path-bandit": Input(BASELINE, VERDICTS),
    "website-model": Input(BASELINE, WORDS),
}
UNKNOWN = Input(OTHER, "what its own documentation says")


def input_of(name: str) -> Input:
    """What a strategy needs."""
    return INPUTS.get(name, UNKNOWN)


def require_input(
    name: str, strategy: Strategy, subject: Subject, has_classes: bool
) -> None:
    """Raise BadInput, with the key to add, if a topic lacks what a strategy needs."""
    needs = input_of(name).needs
    if needs.startswith(WORDS) and not subject.weights:
        raise BadInput(
            f"the strategy {name!r} needs {WORDS}, and the topic has no term of these; "
            "add to the topic file: keywords = ['a word', 'a phrase']"
        )
    if check := CHECKS.get(name):
        check(strategy, subject, has_classes)


def mode_of(strategy: Strategy) -> str:
    """The mode of a published strategy: paper or fixed."""
    return str(getattr(getattr(strategy, "options", None), "mode", "fixed"))


def require_classes(strategy: Strategy, subject: Subject, has_classes: bool) -> None:
    """Kumar & Vig's look-ahead is learnt from classes of example pages."""
    if mode_of(strategy) == "paper" and strategy.reads.look_ahead and not has_classes:
        raise BadInput(
            "the strategy 'mcore' in mode paper looks ahead by rules between classes "
            "of example pages, and the topic has none; add [classes] folder = 'DIR' "
            "and target = 'NAME' to the topic file, or leave the rules out with "
            "--option look_ahead=false"
        )


def require_ontology(strategy: Strategy, subject: Subject, has_classes: bool) -> None:
    """Koundal's association metric is defined by an ontology alone."""
    if mode_of(strategy) == "paper" and not subject.concepts:
        raise BadInput(
            "the strategy 'ordering' in mode paper needs [ontology], and the topic has "
            "none; add [ontology] files = ['FILE'] and concepts = ['NAME'] to the "
            "topic file, or use mode=fixed, for which keywords will do"
        )


CHECKS: Mapping[str, Callable[[Strategy, Subject, bool], None]] = {
    "mcore": require_classes,
    "ordering": require_ontology,
}
