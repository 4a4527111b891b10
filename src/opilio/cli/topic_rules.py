"""Learns the rules between the classes of a topic, for `opilio topic show`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opilio.errors import BadInput
from opilio.fetch.egress import Egress
from opilio.fetch.replay import ReplayFetch, with_additions
from opilio.records import ReaderSetup
from opilio.settings import FetchSettings, PolitenessSettings
from opilio.stage_protocols import Fetch
from opilio.subject.class_rules import network
from opilio.subject.page_reader import limited_reader
from opilio.topic import Topic
from opilio.topic.classes import learn
from opilio.topic.linked_pages import Pace
from opilio.topic.rules import ClassRules


async def learn_topic_rules(
    topic: Topic, warcs: Sequence[Path], proxy: str = ""
) -> ClassRules:
    """The rules, from pages in WARC files, or from the network if none are given."""
    if topic.classes is None:
        return ClassRules({})
    for path in warcs:
        if not path.is_file():
            raise BadInput(f"{path} does not exist; name a WARC file")
    pace = Pace(0.0 if warcs else PolitenessSettings().delay)
    fetch: Fetch = ReplayFetch(with_additions(warcs))
    if not warcs:
        settings = FetchSettings(proxy=proxy)
        fetch = network(Egress(settings), PolitenessSettings(), settings, pace)
    try:
        folder = Path(topic.classes.folder)
        with limited_reader(ReaderSetup((), topic.language, vector=True)) as read:
            return (await learn(folder, fetch, read, pace=pace))[1]
    finally:
        await fetch.close()
