"""Estimates how likely the links of a page lead to pages of the sought class.

What is learnt when a crawl begins is stored in its folder: the model of the classes in
models/classes.npz, the rules between them in models/rules.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio.errors import BadInput
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch, Keep
from opilio.fetch.robots import Robots
from opilio.records import ExampleLink, Page, RobotsRecord
from opilio.settings import FetchSettings, PolitenessSettings
from opilio.stage_protocols import Fetch
from opilio.topic.class_model import ClassModel, load_classes
from opilio.topic.classes import learn_from_links, read_class_examples
from opilio.topic.file import Classes
from opilio.topic.linked_pages import Pace, Read
from opilio.topic.rules import ClassRules, load_rules

MODEL, RULES = "classes.npz", "rules.json"
SHRINKING = 10.0  # links; 50 of a class are looked at


class LookAhead:
    """P(class of a page → class sought): LARS of Kumar & Vig, III.G."""

    def __init__(
        self,
        model: ClassModel,
        rules: ClassRules,
        target: str,
        examples: Sequence[ExampleLink] = (),
    ) -> None:
        self.model = model
        self.examples = examples  # only when they were learnt just now
        self.rules = rules
        self.shrunk = rules.shrunk(SHRINKING)
        self.target = target

    def __call__(self, page: Page, hops: int = 1, literal: bool = False) -> float:
        """How likely paths of at most `hops` links from a page lead there; `literal`:
        by the shares that were counted, however few links there were.

        The best length counts: longer paths contain the shorter ones, so their
        probabilities must not be added.
        """
        likely = self.model.distribution(page)
        rules = self.rules if literal else self.shrunk
        lengths = range(1, hops + 1)
        return max(rules.look_ahead(likely, self.target, n) for n in lengths)

    def save(self, models: Path) -> None:
        """Store what was learnt in a folder; the rules last, as a sign of
        completion."""
        models.mkdir(parents=True, exist_ok=True)
        for name, learnt in ((MODEL, self.model), (RULES, self.rules)):
            draft = models / f"{name}.new"
            draft.write_bytes(learnt.dump())
            draft.replace(models / name)


def load_look_ahead(models: Path, target: str) -> LookAhead | None:
    """Load what was stored in a folder; None if it is not complete."""
    if not (models / RULES).is_file():
        return None
    try:
        model, rules = (models / MODEL).read_bytes(), (models / RULES).read_bytes()
    except OSError as error:
        raise BadInput(f"{models}: cannot be read: {error.strerror}") from None
    return LookAhead(
        load_classes(model, str(models / MODEL)),
        load_rules(rules, str(models / RULES)),
        target,
    )


async def learn_look_ahead(
    classes: Classes, fetch: Fetch, read: Read, pace: Pace
) -> LookAhead:
    """Learn from the example pages and from those that they link to.

    On return, the hosts of these pages have rested.
    """
    model, rules, followed = await learn_from_links(
        Path(classes.folder), fetch, read, pace=pace
    )
    await pace.rest()
    examples = [
        ExampleLink(one.example, one.place, model.classify(one.page) == classes.target)
        for one in followed
    ]
    return LookAhead(model, rules, classes.target, examples)


def check_classes(classes: Classes) -> None:
    """Raise BadInput if nothing can be learnt from the example pages."""
    names = {example.name for example in read_class_examples(Path(classes.folder))}
    if classes.target not in names:
        raise BadInput(
            f"[classes] target: {classes.folder} has no class {classes.target!r}; "
            f"it has: {', '.join(sorted(names))}"
        )


class RobotsNow(dict[str, RobotsRecord]):
    """Robots records while the rules are learnt.

    They are not shared with the crawl, which must learn the delay of each host itself.
    """

    def load(self, origin: str) -> RobotsRecord | None:
        """The record of an origin, if there is one."""
        return self.get(origin)

    def save(self, record: RobotsRecord) -> None:
        """Keep a record."""
        self[record.origin] = record


def network(
    egress: Egress,
    politeness: PolitenessSettings,
    settings: FetchSettings,
    pace: Pace,
    keep: Keep | None = None,
) -> HttpFetch:
    """Fetches from the network as politely as a crawl does."""
    robots = Robots(egress.get, RobotsNow(), settings.user_agent, pause=pace.delay)
    return HttpFetch(egress, robots, politeness, settings, pace.learn, keep=keep)
