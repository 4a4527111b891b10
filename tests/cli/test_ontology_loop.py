"""The ontology cycle by commands: propose, decide, crawl on with what came of it."""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from crawling import opilio, start_opilio
from in_process import run
from opilio.assembly.ontology_loop import Loop
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.store.folder import CrawlFolder
from opilio.subject.improved_ontology import is_improved
from opilio.subject.stored_subject import load_subject
from opilio.topic.ontology import Ontology, load_ontology, relations

BEES = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://bees.example/> .
:bee a skos:Concept ; skos:prefLabel "bee"@en .
:honey a skos:Concept ; skos:prefLabel "honey"@en ; skos:related :bee .
:hive a skos:Concept ; skos:prefLabel "hive"@en ; skos:related :bee .
"""
TOPIC = """
name = "bees"
seeds = ["http://seed.test/"]
[ontology]
files = ["bees.ttl"]
concepts = ["bee"]
"""
TEXT = "The {0} feeds every bee. A bee needs {0} and honey. The hive keeps honey. "


def bees(pages: int = 8) -> SmallWeb:
    """Pages about bees that all name royal jelly, which the ontology lacks."""
    links = {f"/{n}": f"bee {n}" for n in range(pages)}
    web = {
        f"http://seed.test/{n}": page(f"Bees {n}", TEXT.format("pollen") * 5 + f"n{n} ")
        for n in range(pages)
    }
    web["http://seed.test/"] = page("Bees", TEXT.format("pollen") * 5, links)
    web["http://seed.test/7"] = page(
        "Pollen", TEXT.format("pollen"), {"/pollen": "pollen alone"}
    )
    web["http://seed.test/pollen"] = page("Alone", "pollen and nothing else " * 20)
    return SmallWeb(web)


@pytest.fixture
async def life(crawled):
    """A crawl of four pages."""
    made = await crawled(bees(), topic_text=TOPIC)
    (made.home / "bees.ttl").write_text(BEES)
    ended = await made.crawl("--max-pages", 6, "--judge", "association")
    assert ended.code == 0, ended.err
    return made


async def test_a_word_of_the_pages_is_proposed_accepted_and_used(life):
    """B9 from end to end: pages propose, the user decides, the crawl uses it."""
    folder = CrawlFolder(life.folder)
    listed = run("ontology", "propose", life.folder).out
    assert "New terms" in listed
    assert "pollen  related bee" in listed
    assert "“The pollen feeds every bee.”" in listed
    assert "http://seed.test/" in listed

    told = run("ontology", "accept", life.folder, "pollen").out
    made = life.folder / "ontology/bees.ttl"
    assert f"Written: {made}" in " ".join(told.split())
    assert relations(load_ontology(made), "pollen", "bee")
    assert (life.home / "bees.ttl").read_text() == BEES
    assert "pollen" not in load_subject(folder.subject).concepts
    assert is_improved(folder)

    assert (await life.crawl("--max-pages", 20)).code == 0
    assert load_subject(folder.subject).concepts["pollen"][0] == "pollen"
    assert not is_improved(folder)
    [(score,)] = life.rows(
        "SELECT score FROM page JOIN link USING (id) WHERE url LIKE '%/pollen'"
    )
    assert score > 0  # it has no word that the first ontology knows
    again = run("ontology", "propose", life.folder, "--json").json()
    assert "pollen" not in {one["term"] for one in again}
    assert run("ontology", "show", life.folder, "pollen").code == 0


async def test_what_was_rejected_is_remembered(life):
    first = run("ontology", "propose", life.folder, "--json").json()
    [number] = [n for n, one in enumerate(first, 1) if one["term"] == "pollen"]
    assert first[number - 1]["support"][0]["url"].startswith("http://seed.test/")
    told = run("ontology", "reject", life.folder, number).out
    assert told.startswith("rejected pollen")
    again = run("ontology", "propose", life.folder, "--json").json()
    assert "pollen" not in {one["term"] for one in again}
    assert await life.crawl("--max-pages", 6, "--fresh", "--settings", life.settings)
    record = (life.folder / "ontology/decisions.jsonl").read_text()
    assert json.loads(record)["action"] == "reject"  # it outlives the crawl


async def test_a_proposal_is_edited_before_it_is_accepted(life):
    run("ontology", "propose", life.folder)
    told = run(
        *("ontology", "edit", life.folder, "pollen"),
        *("--term", "bee pollen", "--relation", "part-of", "--concept", "hives"),
    ).out
    assert told == "proposed bee pollen  part-of hive\n"
    run("ontology", "accept", life.folder, "bee pollen")
    made = load_ontology(life.folder / "ontology/bees.ttl")
    [(_, relation, concept)] = relations(made, "bee pollen", "hive")
    assert (relation, concept) == ("part-of", "hive")
    actions = [one.action for one in Loop(CrawlFolder(life.folder)).decisions()]
    assert actions == ["edit", "accept"]


async def test_a_term_may_become_another_name_of_a_concept(life):
    run("ontology", "propose", life.folder)
    run("ontology", "edit", life.folder, "pollen", "--relation", "label")
    run("ontology", "accept", life.folder, "pollen")
    made = load_ontology(life.folder / "ontology/bees.ttl")
    assert made.concepts[made.places["http://bees.example/bee"]].surfaces() == [
        "bee",
        "pollen",
    ]


async def test_a_kill_between_two_writes_loses_no_decision(life):
    """The record comes first; the file is made again of all of it."""
    run("ontology", "propose", life.folder)
    run("ontology", "accept", life.folder, "pollen")
    made = life.folder / "ontology/bees.ttl"
    record = life.folder / "ontology/decisions.jsonl"
    whole = made.read_text()
    made.unlink()  # killed after the record
    with record.open("ab") as file:
        file.write(b'{"action":"acc')  # killed within the next record
    assert Loop(CrawlFolder(life.folder)).write(str(life.home / "bees.ttl")) == made
    assert made.read_text() == whole
    Loop(CrawlFolder(life.folder)).remember([])
    run("ontology", "propose", life.folder)
    assert len(Loop(CrawlFolder(life.folder)).decisions()) == 1


async def test_two_people_may_decide_at_once(life):
    """Each decision is recorded, and the file has all that were accepted."""
    run("ontology", "propose", life.folder)
    loop = Loop(CrawlFolder(life.folder))
    [pollen] = [one for one in loop.proposals() if one.term == "pollen"]
    terms = [f"term{n}" for n in range(6)]
    loop.save([replace(pollen, term=term) for term in terms])
    ended = await asyncio.gather(
        *(opilio("ontology", "accept", life.folder, term) for term in terms[:4]),
        *(opilio("ontology", "reject", life.folder, term) for term in terms[4:]),
    )
    assert [(one.code, one.err) for one in ended] == [(0, "")] * 6
    decided = [(one.action, one.proposal.term) for one in loop.decisions()]
    assert sorted(decided) == [
        *(("accept", term) for term in terms[:4]),
        *(("reject", term) for term in terms[4:]),
    ]
    made = load_ontology(life.folder / "ontology/bees.ttl")
    assert {"term0", "term1", "term2", "term3"} <= set(words_of(made))
    assert "term4" not in words_of(made) and loop.proposals() == []


def words_of(ontology: Ontology) -> list[str]:
    return [word for one in ontology.concepts for word in one.surfaces()]


@pytest.mark.parametrize("command", ["accept", "propose"])
async def test_commands_may_be_killed_at_any_moment(life, command):
    """What was decided is recorded once, and the next command goes on."""
    run("ontology", "propose", life.folder)
    words = ["pollen"] if command == "accept" else []
    for after in (0.05, 0.15, 0.3, 0.5):
        process = await start_opilio("ontology", command, life.folder, *words)
        await asyncio.sleep(after)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        Loop(CrawlFolder(life.folder)).decisions()  # can be read
    ended = run("ontology", command, life.folder, *words)
    loop = Loop(CrawlFolder(life.folder))
    if command == "accept":
        assert ended.code == 0 or "not proposed" in ended.err  # accepted before
        assert {one.proposal.term for one in loop.decisions()} == {"pollen"}
        assert (
            words_of(load_ontology(life.folder / "ontology/bees.ttl")).count("pollen")
            == 1
        )
    else:
        assert ended.code == 0 and "pollen" in [one.term for one in loop.proposals()]


@pytest.mark.parametrize("damage", [b"", b"[{", b"\xff\xfe\x00", b'{"a": 1}'])
async def test_damaged_files_are_told_or_left_out(life, damage):
    run("ontology", "propose", life.folder)
    (life.folder / "ontology/proposals.json").write_bytes(damage)
    ended = run("ontology", "accept", life.folder, "pollen")
    assert (ended.code, "opilio ontology propose" in ended.err) == (2, True)
    (life.folder / "ontology/decisions.jsonl").write_bytes(damage + b"\n")
    run("ontology", "propose", life.folder)
    assert run("ontology", "accept", life.folder, "pollen").code == 0
    made = life.folder / "ontology/bees.ttl"
    whole = made.read_text()
    made.write_bytes(damage)
    assert run("ontology", "propose", life.folder).code == 0
    assert made.read_text() == whole
    assert (await life.crawl("--max-pages", 7)).code == 0


async def test_what_cannot_be_decided_is_told_with_a_remedy(life, tmp_path: Path):
    early = run("ontology", "accept", life.folder, "1")
    assert (early.code, "opilio ontology propose" in early.err) == (2, True)
    run("ontology", "propose", life.folder)
    for wrong, said in (("99", "no proposal 99"), ("snow", "not proposed")):
        ended = run("ontology", "reject", life.folder, wrong)
        assert (ended.code, said in " ".join(ended.err.split())) == (2, True)
    ended = run("ontology", "edit", life.folder, "1", "--relation", "likes")
    assert (ended.code, "is-a, part-of" in ended.err) == (2, True)
    assert run("ontology", "edit", life.folder, "1").code == 2
    assert run("ontology", "edit", life.folder, "1", "--concept", "snow").code == 2
    assert run("ontology", "propose", tmp_path).code == 2


async def test_a_crawl_without_an_ontology_says_what_to_add(crawled):
    life = await crawled(bees())
    assert (await life.crawl("--max-pages", 3)).code == 0
    ended = await opilio("ontology", "propose", life.folder)
    assert ended.code == 2
    assert "[ontology] files" in ended.err
