"""The judge `embedding`: a real model in ONNX, a real crawl, and faults."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from crawling import Crawled, opilio
from opilio.lab.synthetic.small import SmallWeb, page
from vectors.sentence_models import make_jar, make_model, write_model

PART = "meaning, by the sentence model"
TOPIC = """
name = "honey"
keywords = ["honey", "beekeeping"]
seeds = ["http://seed.test/"]
"""
FILL = "some words that every page has so that none is short and all differ "
SWEET, WET = "bees bee ", "lake river lakes "


def web(pages: int = 40) -> SmallWeb:
    """Pages that mention honey as often as each other; half are about bees, half about
    water, which only the model knows."""
    found = {}
    for number in range(pages):
        about = SWEET if number % 2 else WET
        words = f"honey {about * 12} {FILL} page{number} " * 3
        name = "bees" if number % 2 else "water"
        found[f"http://seed.test/{name}/{number}"] = page(f"Page {number}", words)
    links = {url.removeprefix("http://seed.test"): "a page" for url in found}
    found["http://seed.test/"] = page("Honey", f"honey {FILL * 3}", links)
    return SmallWeb(found)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return make_model(tmp_path / "model")


async def crawl(life: Crawled, model: Path, *options: object) -> None:
    ended = await life.crawl(
        *("--judge", "embedding", "--embedding-model", model),
        *("--max-pages", 60, "--delay", 0, "--vectors", "none", *options),
    )
    assert ended.code == 0, ended.err


def opinions(life: Crawled) -> dict[str, float]:
    """URL -> what the model added to its score."""
    rows = life.rows("SELECT url, page.parts FROM page JOIN link USING (id)")
    parts = {url: json.loads(text) for url, text in rows if text}
    return {url: part[PART] for url, part in parts.items() if PART in part}


async def test_the_model_tells_pages_apart_that_keywords_do_not(
    crawled, model: Path, tmp_path: Path
):
    life = await crawled(web(), topic_text=TOPIC)
    await crawl(life, make_jar(tmp_path / "model.jar", model))
    found = opinions(life)
    sweet = [value for url, value in found.items() if "/bees/" in url]
    wet = [value for url, value in found.items() if "/water/" in url]
    assert len(sweet) > 5 and len(wet) > 5
    assert statistics.mean(sweet) > statistics.mean(wet) + 0.05

    url = max(found, key=found.__getitem__)
    explained = await opilio("explain", life.folder, url)
    assert f"{found[url]:.4f}  {PART}" in explained.out
    told = json.loads((await opilio("status", life.folder, "--json")).out)
    counts = told["opinions"]
    assert counts["adviser"] == "embedding" and counts["failures"] == {}
    assert counts["asked"] == counts["answered"] >= len(found)
    shown = await opilio("status", life.folder)
    assert f"Second opinions (embedding): {counts['asked']} asked for" in shown.out


async def test_a_crawl_is_judged_again_with_a_model(crawled, model: Path):
    life = await crawled(web(), topic_text=TOPIC)
    ended = await life.crawl("--max-pages", 60, "--delay", 0)
    assert ended.code == 0 and not opinions(life)
    again = await opilio(
        *("rejudge", life.folder, "--judge", "embedding"),
        *("--embedding-model", model),
    )
    assert again.code == 0, again.err
    assert len(opinions(life)) > 10
    resumed = await life.crawl("--max-pages", 61, "--judge", "embedding")
    assert resumed.code == 0, resumed.err
    other = await life.crawl("--judge", "embedding", "--embedding-model", "other")
    assert other.code == 2 and "opilio rejudge" in other.err


async def test_a_model_that_cannot_be_used_is_refused_before_the_crawl(
    crawled, model: Path
):
    life = await crawled(web(4), topic_text=TOPIC)

    async def refusal(*options: object) -> str:
        ended = await life.crawl("--judge", "embedding", *options)
        assert ended.code == 2 and not life.folder.exists()
        return " ".join(ended.err.split())

    assert "--embedding-model PATH" in await refusal()
    nowhere = await refusal("--embedding-model", model / "nowhere")
    assert "nowhere does not exist; name an ONNX file" in nowhere
    (model / "model.onnx").write_bytes(b"broken")
    broken = await refusal("--embedding-model", model)
    assert "model.onnx cannot be used" in broken and "choose a sentence model" in broken


async def test_a_model_that_fails_on_pages_costs_only_its_opinions(
    crawled, model: Path
):
    # It knows fewer words than its tokenizer has: some texts are out of bounds.
    from vectors.sentence_models import table_of_words

    write_model(model / "model.onnx", table=table_of_words()[:9])
    life = await crawled(web(), topic_text=TOPIC)
    await crawl(life, model)
    assert len(life.rows("SELECT id FROM page")) == 41
    told = json.loads((await opilio("status", life.folder, "--json")).out)
    assert told["opinions"]["failures"]["model"] > 5
    shown = await opilio("status", life.folder)
    assert "times none: the sentence model failed" in shown.out
