"""The parts of a verdict name the topic's words, not their stems."""

import json

from crawling import TOPIC
from in_process import run
from opilio.judge.cosine import Cosine
from opilio.judge.part_names import InWords
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.records import Page, Subject

TEXT = "The beekeeper of the apiary looks after honey bees. " * 20
WEB = SmallWeb({"http://seed.test/": page("Apiaries", TEXT)})
WORDS = '["beekeepers", "apiaries", "honey bees"]'


def test_only_the_names_of_parts_change():
    subject = Subject(weights={"beekeep": 1.0, "apiari": 1.0})
    seen = Page("", "", "en", "utf-8", 9, {"beekeep": 2, "apiari": 1}, 3.0, 0, ())
    plain = Cosine(subject).judge(seen)
    worded = InWords(Cosine(subject), {"beekeep": "beekeepers"}).judge(seen)
    assert (worded.score, worded.relevant) == (plain.score, plain.relevant)
    assert worded.parts == {
        "beekeepers": plain.parts["beekeep"],
        "apiari": plain.parts["apiari"],
    }


async def test_exports_and_explanations_name_words(crawled):
    topic = TOPIC.replace('["bee", "honey", "hive"]', WORDS)
    life = await crawled(WEB, topic_text=topic)
    ended = await life.crawl("--judge", "cosine")
    assert ended.code == 0, ended.err
    told = run("export", life.folder, "-o", "-")
    assert set(json.loads(told.out)["parts"]) == set(json.loads(WORDS))
    verdict = run("explain", life.folder, "http://seed.test/").out
    assert "apiaries" in verdict and "apiari\n" not in verdict
