"""Synthetic pages in plain English, as the demo shows them."""

import re
import tomllib

import pytest

from opilio.errors import BadInput
from opilio.lab.synthetic import english_words, lexicon
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.pages import PUBLISHED
from opilio.lab.synthetic.web import SyntheticWeb

DIALS = Dials(pages=600, hosts=12, english=True, hindi=0.0)


def words_in(text: str) -> set[str]:
    return set(re.findall("[a-z]+", re.sub(r"\{\w+\}", " ", text).lower()))


def test_every_word_of_a_page_is_one_of_ours():
    known = words_in(" ".join(english_words.SENTENCES + english_words.TITLES))
    for subject, kinds in english_words.SUBJECTS.items():
        known |= words_in(" ".join([subject, *kinds.values()]))
    known |= words_in(" ".join(lexicon.WITH_LINK + lexicon.VAGUE + PUBLISHED))
    known |= {"published", "in", "related", "an", "welcome", "to", "all", "our"}
    known |= {"pages", "rights", "reserved", "imprint", "contact", "privacy", "test"}
    web = SyntheticWeb(DIALS)
    names = words_in(" ".join(web.hosts))
    for url in web.seeds("beekeeping", 20) + web.seeds("chess", 20):
        body = web.respond(url).body.decode()
        text = re.sub("<[^>]*>", " ", body[body.index("<main") :])
        assert words_in(text) - known - names == set(), url
        assert not re.search(r"\b[Aa] [aeio]\w", text)


def test_host_names_are_words_and_differ():
    names = SyntheticWeb(Dials(pages=600, hosts=60, english=True)).hosts
    assert len(set(names)) == 60
    pattern = r"(www|[a-z]+)\.[a-z]+-[a-z]+\.test"
    assert all(re.fullmatch(pattern, name) for name in names)


def test_a_topic_file_names_words_that_its_pages_have():
    web = SyntheticWeb(DIALS)
    for topic in web.topics:
        keywords = tomllib.loads(web.topic_file(topic))["keywords"]
        text = " ".join(english_words.SUBJECTS[topic].values())
        found = [word for word in keywords if word in text]
        assert len(found) >= len(keywords) - 2, (topic, set(keywords) - set(found))


def test_a_subject_without_words_is_refused():
    with pytest.raises(BadInput, match="no English pages about coffee"):
        SyntheticWeb(Dials(pages=600, hosts=12, topics=13, english=True))
