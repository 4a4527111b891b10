"""A topic with classes of example pages in; the rules between the classes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio.config import Fetch as FetchSettings
from opilio.config import Politeness
from opilio.errors import BadInput
from opilio.fetch.egress import Egress
from opilio.fetch.replay import ReplayFetch
from opilio.look_ahead import network
from opilio.protocols import Fetch
from opilio.read.html import PageReader
from opilio.topic import Topic
from opilio.topic.classes import learn
from opilio.topic.rules import Rules
from opilio.topic.train_one import Pace
from opilio.types import ReaderSetup


async def learn_rules(topic: Topic, warcs: Sequence[Path], proxy: str = "") -> Rules:
    """The rules, by pages from WARC files, or from the network if there are none."""
    if topic.classes is None:
        return Rules({})
    for path in warcs:
        if not path.is_file():
            raise BadInput(f"{path} does not exist; name a WARC file")
    pace = Pace(0.0 if warcs else Politeness().delay)
    fetch: Fetch = ReplayFetch(warcs)
    if not warcs:
        settings = FetchSettings(proxy=proxy)
        fetch = network(Egress(settings), Politeness(), settings, pace)
    reader = PageReader(ReaderSetup((), topic.language, vector=True))
    try:
        folder = Path(topic.classes.folder)
        return (await learn(folder, fetch, reader.read, pace=pace))[1]
    finally:
        await fetch.close()
