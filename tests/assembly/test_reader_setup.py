"""What a crawl seeks is the same to the crawl itself and to those who come later."""

from pathlib import Path

import pytest

from opilio.assembly.judge_and_strategy import JudgeAndStrategy
from opilio.assembly.plan import Plan
from opilio.assembly.prepare import prepare
from opilio.assembly.reader_setup import rereading
from opilio.assembly.registry import make_strategy
from opilio.settings import CrawlSettings, FetchSettings
from opilio.settings import StoreSettings as Keep
from opilio.store.folder import CrawlFolder
from opilio.store.store import Store
from opilio.subject.current import current_subject
from opilio.subject.stored_subject import save_subject
from opilio.topic import Examples, OntologyFiles, QueryLog, Topic

ONTOLOGY = """
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://x.test/#> .
:Volcano a owl:Class ; rdfs:label "volcano"@en .
:Lava a owl:Class ; rdfs:label "lava"@en ; rdfs:subClassOf :Volcano .
"""
EXAMPLE = "<html lang=en><p>" + "The volcano throws lava, and the lava burns. " * 9


def topics(folder: Path) -> dict[str, Topic]:
    """A topic of each kind."""
    (folder / "volcano.ttl").write_text(ONTOLOGY)
    (folder / "example.html").write_text(EXAMPLE)
    (folder / "log.txt").write_text("lava\nvolcano\n")
    ontology = OntologyFiles(files=[str(folder / "volcano.ttl")], concepts=["volcano"])
    examples = Examples(relevant=[str(folder / "example.html")])
    return {
        "keywords": Topic(name="t", keywords=["volcano", "lava"]),
        "ontology": Topic(name="t", ontology=ontology),
        "examples": Topic(name="t", examples=examples),
        "query log": Topic(name="t", query_log=QueryLog(file=str(folder / "log.txt"))),
    }


@pytest.mark.parametrize("kind", ["keywords", "ontology", "examples", "query log"])
def test_who_comes_later_seeks_what_the_crawl_seeks_after_searches(
    tmp_path: Path, kind: str
):
    plan = Plan(topic=topics(tmp_path)[kind], store=Keep(min_free=0))
    folder = CrawlFolder(tmp_path / "crawl")
    folder.make()
    subject = prepare(plan, folder)
    save_subject(subject, folder.subject)
    log = tmp_path / "log.txt" if kind == "query log" else folder.queries
    with log.open("a") as file:
        file.write("basalt ash\nash cloud\n")
    store = Store(folder, plan.store)
    try:
        mind = JudgeAndStrategy(plan, subject, make_strategy(plan, subject), store)
        learnt = mind.learners["weights"].dump()
        store.db.execute("INSERT INTO learnt VALUES ('weights', ?)", (learnt,))
        now = current_subject(plan.topic, folder, store.db)
    finally:
        store.close()
    assert {"volcano", "lava", "ash"} <= set(now.weights)
    assert now.weights == mind.subject.weights
    assert now.terms == mind.subject.terms


def test_a_page_is_read_again_as_the_crawl_read_it():
    topic = Topic(name="t", keywords=["lava", "lava flow"])
    plan = Plan(
        topic=topic,
        crawl=CrawlSettings(strategy="mcore"),
        fetch=FetchSettings(user_agent="seeker/1.0 (+https://seeker.test/)"),
    )
    folder = CrawlFolder(Path("nowhere"))
    again = rereading(plan, prepare(plan, folder), blocks=True)
    assert again.blocks and not again.overlapping  # the longest match alone counts
    assert not again.headings and not again.sequence
    assert again.agent == "seeker"
