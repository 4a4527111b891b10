"""Opilio from Python, as docs/library.md shows it."""

from pathlib import Path

import pytest

from opilio import Settings, Topic, harvest, kept
from opilio.errors import BadInput
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.settings import (
    CrawlSettings,
    FetchSettings,
    PolitenessSettings,
    StoreSettings,
)


async def test_a_topic_is_harvested_and_its_pages_come_best_first(tmp_path: Path):
    web = SyntheticWeb(Dials(pages=500, hosts=10))
    async with serve(web) as server:
        topic = Topic(
            name="bees",
            keywords=("beekeeping", "honey", "hive"),
            seeds=web.seeds("beekeeping", 2),
        )
        settings = Settings(
            crawl=CrawlSettings(max_pages=20),
            politeness=PolitenessSettings(delay=0.01),
            fetch=FetchSettings(proxy=server.proxy_url),
            store=StoreSettings(min_free=0),
        )
        first = await harvest(topic, tmp_path / "crawl", settings)
        again = await harvest(topic, tmp_path / "crawl", settings)
    assert (first.pages, again.pages) == (20, 20)
    scores = [page["score"] for page in kept(tmp_path / "crawl")]
    assert scores == sorted(scores, reverse=True)
    assert 0 < len(scores) == first.kept


async def test_a_topic_without_seeds_is_refused(tmp_path: Path):
    with pytest.raises(BadInput, match="nowhere to start"):
        await harvest(Topic(name="bees", keywords=("bee",)), tmp_path / "crawl")
    assert not (tmp_path / "crawl").exists()
