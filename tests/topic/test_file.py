"""The topic file: what is sought, checked before anything is fetched."""

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.topic import load_topic

GOOD = """
name = "chemistry"
languages = ["en"]
keywords = ["chemistry", "chemical element", { term = "molecule", weight = 0.8 }]
seeds = ["http://example.org/"]

[evaluation]
relevant_labels = ["Science.Chemistry"]
"""


def topic_file(folder: Path, text: str) -> Path:
    path = folder / "topic.toml"
    path.write_text(text)
    return path


def test_keywords_carry_their_weights(tmp_path: Path):
    topic = load_topic(topic_file(tmp_path, GOOD))
    assert topic.weights() == {
        "chemistry": 1.0,
        "chemical element": 1.0,
        "molecule": 0.8,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('keywords = ["a"]', "name"),
        ('name = "x"', "a topic needs one of keywords"),
        (f"{GOOD.replace('en', 'klingon', 1)}", "'klingon' is not a language code"),
        (f"{GOOD.replace('en', 'xx', 1)}", "'xx' is not a language code"),
        (f"{GOOD.replace('en', 'en_US', 1)}", "like 'en', 'de'"),
        ('name = "x"\nkeywords = [" "]', "an empty term"),
        ('name = "x"\nkeywords = [{ term = "a", weight = 0 }]', "must be above 0"),
        ('name = "x"\nkeywords = ["a"]\nthreshold = 3.0', "of at most 1, got 3.0"),
        ('name = "x"\nkeywords = ["a"]\nseeds = ["ftp://a/"]', "'ftp://a/' is not"),
        ('name = "x"\nkeyword = ["a"]', "did you mean 'keywords'"),
        ('name = "x"\nkeywords = "a"', "keywords: expected"),
        ('name = "x"\nkeywords = ["a"]\n[scope]\ndomain = ["b"]', "scope.domain"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(tmp_path: Path, text: str, expected: str):
    with pytest.raises(BadInput) as caught:
        load_topic(topic_file(tmp_path, text))
    assert expected in str(caught.value)
    assert "topic.toml" in str(caught.value)
