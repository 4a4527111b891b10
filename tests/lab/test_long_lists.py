"""The default threshold holds for any number of keywords."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from bench.keyword_lists import Kept, crawl, longer_list, words_of_pages

from opilio.lab.labels import relevant_urls
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.trial import Trial
from opilio.topic import load_topic


@pytest.fixture(scope="module")
def documents(ground: Ground) -> dict[str, Counter[str]]:
    """The words of each page of the web."""
    return dict(words_of_pages(ground.web))


@pytest.mark.parametrize("rare", [False, True], ids=["usual words", "rare words"])
def test_more_keywords_neither_lose_pages_nor_keep_all(
    ground: Ground, documents: dict[str, Counter[str]], tmp_path: Path, rare: bool
) -> None:
    web = ground.web
    topic = load_topic(next(iter(web.topics.values())))
    relevant = relevant_urls(ground.labels, topic.evaluation.relevant_labels)
    every = longer_list(topic, documents, relevant, rare)
    assert len(every) >= 66

    def kept(length: int) -> Kept:
        trial = Trial(
            warcs=tuple(map(str, web.warcs)),
            topic=msgspec.structs.replace(topic, keywords=tuple(every[:length])),
            strategy="opilio",
            judge="opilio",
            seeds=tuple(topic.sources.urls),
            budget=100,
            readings=str(tmp_path),
        )
        return crawl(trial, relevant)

    few, many = kept(6), kept(66)
    assert many.right >= 0.9 * few.right > 10
    assert many.pages - many.right <= few.pages - few.right + 0.1 * few.pages
