"""The adviser `embedding` compares texts in a thread, with changing keywords."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from opilio.advise.embedding import EmbeddingAdviser, load_model
from opilio.advise.keywords import keywords_of
from opilio.errors import BadInput, Unusable
from opilio.records import Subject
from opilio.vectors.sentence_model import Vector
from vectors.sentence_models import make_model

HONEY = Subject(weights={"honey": 1.0, "bee": 0.5}, terms=("bees", "honey"))
WATER = Subject(weights={"lake": 1.0}, terms=("lake", "river"))


@pytest.fixture
async def adviser(tmp_path: Path):
    made = EmbeddingAdviser(load_model(str(make_model(tmp_path / "model"))), HONEY)
    yield made
    await made.close()


def test_keywords_come_by_weight_and_as_they_are_written():
    assert keywords_of(HONEY) == ["honey", "bees"]
    assert keywords_of(WATER) == ["lake"]  # a river has no weight


async def test_texts_are_compared_with_what_is_sought_now(adviser):
    bees = await adviser.opinion("http://a.test/", "Bees", "honey bees")
    lakes = await adviser.opinion("http://a.test/", "Lakes", "lake river")
    assert bees > 0.8 > lakes
    adviser.seek(WATER)
    assert await adviser.opinion("http://a.test/", "Lakes", "lake river") > 0.8


async def test_a_page_without_words_has_no_opinion(adviser):
    with pytest.raises(Unusable, match="no text"):
        await adviser.opinion("http://a.test/", "", "")


async def test_the_loop_goes_on_while_the_model_works(adviser):
    model, vector = adviser.model, adviser.model.vector

    def slowly(text: str) -> Vector:
        time.sleep(0.2)
        return vector(text)

    model.vector = slowly
    asked = asyncio.create_task(adviser.opinion("http://a.test/", "Bees", "bees"))
    turns = 0
    while not asked.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 10 and await asked > 0.5


def test_a_model_must_be_named():
    with pytest.raises(BadInput, match=r"--embedding-model PATH"):
        load_model("")
