"""A topic of any kind gives a crawl, and its files are needed only once."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import suppress

import pytest

from crawling import Crawled
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.records import Reads
from opilio.subject.compile import compile_topic, setup_for, with_more, with_weights
from opilio.subject.stored_subject import load_subject
from opilio.topic import Topic
from vectors.tables import load_table, make_table

BEES = "The bee makes honey in the hive. " * 20
SHIPS = "A ship sails over the sea to the harbour. " * 20
HINDI = "मधुमक्खी शहद बनाती है। " * 20

WEB = SmallWeb(
    {
        "http://seed.test/": page("Start", "", {"/bees": "one", "/ships": "two"}),
        "http://seed.test/bees": page("Bees", BEES),
        "http://seed.test/ships": page("Ships", SHIPS),
    }
)
SEEDS = 'seeds = ["http://seed.test/"]'
ONTOLOGY = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://bees.test/> .
:keeping a skos:Concept ; skos:prefLabel "beekeeping"@en ; skos:narrower :bee .
:bee a skos:Concept ; skos:prefLabel "bee"@en, "मधुमक्खी"@hi ;
    skos:altLabel "honey bee"@en ; skos:broader :keeping ; skos:related :honey .
:honey a skos:Concept ; skos:prefLabel "honey"@en .
"""


def kept(life: Crawled) -> set[str]:
    rows = life.rows("SELECT url FROM link WHERE state = 'kept'")
    return {url.rpartition("/")[2] for (url,) in rows}


async def test_a_query_log_is_enough(crawled):
    life = await crawled(
        WEB, topic_text=f'name = "x"\n{SEEDS}\n[query_log]\nfile = "queries.txt"\n'
    )
    (life.home / "queries.txt").write_text("honey bee\nbee hive\n")
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert kept(life) == {"bees"}


async def test_an_ontology_is_enough(crawled):
    text = f'name = "x"\n{SEEDS}\n[ontology]\nfiles = ["o.ttl"]\nconcepts = ["bee"]\n'
    life = await crawled(WEB, topic_text=text)
    (life.home / "o.ttl").write_text(ONTOLOGY)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert kept(life) == {"bees"}


async def test_examples_are_enough(crawled):
    text = f'name = "x"\n{SEEDS}\n[examples]\nrelevant = ["good/*.html"]\n'
    life = await crawled(WEB, topic_text=text)
    (life.home / "good").mkdir()
    (life.home / "good/a.html").write_text(page("A", "Honey bees live in a hive."))
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert kept(life) == {"bees"}


async def test_a_crawl_goes_on_without_the_files_of_its_topic(crawled):
    text = f'name = "x"\n{SEEDS}\n[ontology]\nfiles = ["o.ttl"]\nconcepts = ["bee"]\n'
    life = await crawled(WEB, topic_text=text)
    (life.home / "o.ttl").write_text(ONTOLOGY)
    assert (await life.crawl("--max-pages", 1)).code == 0
    (life.home / "o.ttl").unlink()
    ended = await life.crawl("--max-pages", 9)
    assert ended.code == 0, ended.err
    assert kept(life) == {"bees"}


async def test_a_mistake_in_a_file_leaves_no_folder_behind(crawled):
    text = f'name = "x"\n{SEEDS}\n[examples]\nrelevant = ["good/*.html"]\n'
    life = await crawled(WEB, topic_text=text)
    ended = await life.crawl()
    assert ended.code == 2
    assert "good/*.html" in ended.err.replace("\n", "")
    assert not life.folder.exists()


async def test_pages_in_another_language_are_read_by_a_dictionary(crawled):
    web = SmallWeb({"http://seed.test/": page("शहद", HINDI)})
    text = f'name = "x"\nkeywords = ["honey", "bee"]\n{SEEDS}\n'
    without = await crawled(web, topic_text=text)
    assert (await without.crawl()).code == 0
    assert kept(without) == set()
    life = await crawled(web, topic_text=text + '[dictionary]\nhi = "hi.tsv"\n')
    (life.home / "hi.tsv").write_text("शहद\thoney\nमधुमक्खी\tbee\n")
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert kept(life) == {""}


async def test_labels_of_the_ontology_count_as_a_dictionary(crawled):
    text = (
        f'name = "x"\n{SEEDS}\nlanguages = ["en"]\n[ontology]\nfiles = ["o.ttl"]\n'
        'concepts = ["bee"]\n[dictionary]\nhi = "hi.tsv"\n'
    )
    life = await crawled(WEB, topic_text=text)
    (life.home / "o.ttl").write_text(ONTOLOGY)
    (life.home / "hi.tsv").write_text("शहद\thoney\n")
    assert (await life.crawl()).code == 0
    subject = load_subject(life.folder / "models/brief.msgpack")
    assert subject.dictionaries["hi"] == {
        "शहद": ("honey",),
        "मधुमक्खी": ("bee", "honey bee"),
    }


async def test_a_running_crawl_follows_its_query_log(crawled):
    pages = {"http://seed.test/": page("0", SHIPS, {"/1": "next"})}
    for n in range(1, 50):
        text = f"{SHIPS} number{n} " if n % 2 else f"{BEES} number{n} "
        pages[f"http://seed.test/{n}"] = page(f"page {n}", text, {f"/{n + 1}": "next"})
    life = await crawled(
        SmallWeb(pages),
        topic_text=f'name = "x"\n{SEEDS}\n[query_log]\nfile = "queries.txt"\n'
        "every = 0.2\n",
        settings_text="[politeness]\ndelay = 0.1\nip_delay = 0.0\n"
        "[crawl]\nnear_copies = false\n[store]\nmin_free = 0\ncommit_every = 0.05\n",
    )
    log = life.home / "queries.txt"
    log.write_text("honey bee\n")
    process = await life.start()
    await until_kept(life, 3)
    with log.open("a") as file:
        file.write("ship harbour\n" * 50)
    assert await asyncio.wait_for(process.wait(), 60) == 0
    ships = {str(n) for n in range(1, 50, 2)} & kept(life)
    assert "49" in ships, "what people ask for now is kept"
    assert "1" not in ships, "when it was visited, nobody asked for it"
    assert life.rows("SELECT count(*) FROM event WHERE kind = 'topic'") == [(1,)]


async def until_kept(life: Crawled, pages: int) -> None:
    for _ in range(600):
        with suppress(sqlite3.OperationalError):  # it has only just begun
            if len(kept(life)) >= pages:
                return
        await asyncio.sleep(0.05)
    raise AssertionError("the crawl does not get on")


async def test_a_crawl_that_goes_on_says_that_it_follows_what_was_asked(crawled):
    life = await crawled(WEB)
    assert (await life.crawl("--max-pages", 1)).json()["asked_for"] == []
    (life.folder / "queries.txt").write_text("ship harbour\n")
    for _ in range(2):  # it is said once
        told = (await life.crawl("--max-pages", 2)).json()["asked_for"]
        assert sorted(told) == ["harbour", "ship"]
    [detail] = life.rows("SELECT detail FROM event WHERE kind = 'topic'")
    assert sorted(json.loads(*detail)["asked"]) == ["harbour", "ship"]


def test_terms_have_vectors_and_are_known_to_be_rare(tmp_path):
    table = str(make_table(tmp_path / "table.npz"))
    topic = Topic(name="lakes", keywords=("Lake", "river fish"))
    subject = compile_topic(topic, vectors=table)
    assert (
        subject.word_vectors == setup_for(subject, Reads(vectors=True)).vectors == table
    )
    assert setup_for(subject).vectors == ""
    known = load_table(tmp_path / "table.npz")
    later = with_more(with_weights(subject, {"bee": 1.0}), {"hive": 1.0})
    assert later.vectors == {
        key: known.of(key).tobytes() for key in ("lake", "river fish", "bee", "hive")
    }
    assert later.rarity == {key: known.rarity(key) for key in later.vectors}


def test_without_vectors_lists_of_words_tell_what_is_rare():
    topic = Topic(name="x", keywords=("the water", "beekeeping"))
    subject = compile_topic(topic)
    assert setup_for(subject, Reads(vectors=True)).vectors == ""
    assert subject.vectors == {}
    assert subject.rarity == {"the water": 0.25, "beekeep": 1.0}


def test_a_subject_whose_table_is_gone_says_what_to_do(tmp_path):
    table = make_table(tmp_path / "table.npz")
    subject = compile_topic(Topic(name="x", keywords=("lake",)), vectors=str(table))
    table.unlink()
    with pytest.raises(BadInput, match=r"table\.npz is no file"):
        setup_for(subject, Reads(vectors=True))
