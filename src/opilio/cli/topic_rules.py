"""A topic with classes of example pages in; the rules between the classes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio.config import Fetch as FetchSettings
from opilio.config import Politeness
from opilio.errors import BadInput
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.replay import ReplayFetch
from opilio.fetch.robots import Robots
from opilio.read.html import PageReader
from opilio.topic import Topic
from opilio.topic.classes import learn
from opilio.topic.rules import Rules
from opilio.topic.train_one import Pace
from opilio.types import ReaderSetup, RobotsRecord


class RobotsNow(dict[str, RobotsRecord]):
    """Robots records for as long as the command lasts."""

    def load(self, origin: str) -> RobotsRecord | None:
        """The record of an origin, if there is one."""
        return self.get(origin)

    def save(self, record: RobotsRecord) -> None:
        """Keep a record."""
        self[record.origin] = record


async def learn_rules(topic: Topic, warcs: Sequence[Path], proxy: str = "") -> Rules:
    """The rules, by pages from WARC files, or from the network if there are none."""
    if topic.classes is None:
        return Rules({})
    for path in warcs:
        if not path.is_file():
            raise BadInput(f"{path} does not exist; name a WARC file")
    pace = Pace(0.0 if warcs else Politeness().delay)
    fetch = ReplayFetch(warcs) if warcs else network(proxy, pace)
    reader = PageReader(ReaderSetup((), topic.language, vector=True))
    try:
        folder = Path(topic.classes.folder)
        return (await learn(folder, fetch, reader.read, pace=pace))[1]
    finally:
        await fetch.close()


def network(proxy: str, pace: Pace) -> HttpFetch:
    """The network, asked as politely as a crawl asks it."""
    settings = FetchSettings(proxy=proxy)
    egress = Egress(settings)
    robots = Robots(egress.get, RobotsNow(), settings.user_agent, pause=pace.delay)
    return HttpFetch(egress, robots, Politeness(), settings, pace.learn)
