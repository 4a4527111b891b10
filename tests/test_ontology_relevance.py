"""Koundal, §5.A, "Relevance computation" (papers.md B6), from a page to its score."""

from math import exp
from pathlib import Path

import pytest

from opilio.judge.association import Association as Judge
from opilio.records import Page, Reads, Response, Subject
from opilio.strategies.shared.association import ConceptAssociation
from opilio.subject.compile import compile_topic, setup_for
from opilio.subject.page_reader import make_reader
from opilio.topic import OntologyFiles, Topic
from topic.ontologies import PC

FAR = "<p>" + "The weather is fine. " * 40  # links are read with the words around them
PAGE = f"""<title>Boards</title><body>
<p>Which <b>processors</b> fit which mainboards?
{FAR} <p>We list <a href="/chipsets">chipsets</a>.
{FAR} <p>There is much to read about <a href="/weather">clouds and rain</a>.
{FAR} <p>And of course <a href="/multi-core-processor/7">this one</a>."""


@pytest.fixture
def computed(tmp_path: Path) -> tuple[Subject, Page]:
    """What is sought, by the ontology alone, and the page as it is read for that."""
    (tmp_path / "pc.ttl").write_text(PC)
    files = OntologyFiles(files=(str(tmp_path / "pc.ttl"),), concepts=("CPU",))
    subject = compile_topic(Topic(name="CPU", ontology=files))
    response = Response(
        "http://web.test/", 200, [("content-type", "text/html")], PAGE.encode(), 0.0
    )
    reader = make_reader(setup_for(subject, Reads(context=True, longest=True)))
    return subject, reader.read(response)


def test_the_text_of_a_page_is_mapped_against_the_ontology(computed):
    """B6: "map the content (e.g. natural language text, hyperlinks) of a Web document
    against the accessible ontology to gain an overall relevance-score"; B5: after tag
    removal and stemming."""
    subject, page = computed
    verdict = Judge(subject, mode="paper").judge(page)
    # CPU (processors) 1, motherboard (mainboards) 0.4, chipset 0.3
    assert verdict.score == pytest.approx(1 - exp(-1.7))
    assert verdict.parts.keys() == {"CPU", "motherboard", "chipset"}


def test_its_hyperlinks_are_mapped_against_the_ontology_each_for_itself(computed):
    """B6, and B5: "lexical entries of the ontology are matched against the URLs"."""
    subject, page = computed
    of = ConceptAssociation(subject, "paper")
    scores = {link.url.partition("test")[2]: of.link(link) for link in page.links}
    assert scores == {
        "/chipsets": pytest.approx(0.3),  # its anchor and its URL name one concept
        "/weather": 0.0,
        "/multi-core-processor/7": pytest.approx(0.5),  # its URL alone
    }
