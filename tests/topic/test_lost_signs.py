"""Keywords that signs are a part of, which pages are not read for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic import load_topic
from opilio.topic.lost_signs import SHOWN, loses_signs, lost_signs


@pytest.mark.parametrize(
    "word", ["C++", "C#", ".NET", "A*", "(C++)", "learning C++ today", "C#/.NET", "50%"]
)
def test_a_keyword_is_warned_of_that_loses_a_sign(word: str):
    assert loses_signs(word)


@pytest.mark.parametrize(
    "word",
    [
        *("bee", "queen bee", "multi-core processor", "TCP/IP", "R&D", "Newton's laws"),
        *("Ph.D.", "U.S.", "rock & roll", '"lok sabha"', "Mercury (planet)", "why?"),
        *("हिन्दी", "रेल की", "naïve", "中文", "Ελλάδα", "so-called", "2nd", ""),
    ],
)
def test_an_ordinary_keyword_is_not(word: str):
    assert not loses_signs(word)
    assert lost_signs([word]) == ""


def test_the_warning_names_the_keywords_and_what_they_are_read_as():
    told = lost_signs(["bee", "C++", "visual C#"])
    assert "'C++' is read as 'c', 'visual C#' is read as 'visual c'" in told
    assert "bee" not in told


def test_of_many_keywords_only_some_are_named():
    assert lost_signs([f"c{n}+" for n in range(99)]).count("is read as") == SHOWN


@given(st.text())
def test_any_text_can_be_asked_about(word: str):
    assert bool(lost_signs([word])) == loses_signs(word)


@pytest.mark.parametrize("word", ["!!!", "++", "…", "_", "🐝"])
def test_a_keyword_of_signs_alone_is_refused(tmp_path: Path, word: str):
    path = tmp_path / "t.toml"
    path.write_text(f'name = "x"\nkeywords = ["bee", "{word}"]\n', encoding="utf-8")
    with pytest.raises(BadInput, match="has no letter or digit") as caught:
        load_topic(path)
    assert repr(word) in str(caught.value)
