"""Which terms are counted in a text, in examples and as paper A counts them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from opilio.read.lexicon import Lexicon
from opilio.text.words import Vocabulary

# Kumar & Vig, table 1: the importance table of "computer science and engineering".
TABLE_1 = {
    "Comp. Sc. And Engg.": 1.0,
    "Comp. Engg.": 0.9,
    "Comp. Sc.": 0.8,
    "Information Tech.": 0.5,
    "Computer": 0.4,
    "Engineering": 0.3,
}
SPELT_OUT = {
    "Computer Science and Engineering": 1.0,
    "Computer Engineering": 0.9,
    "Computer Science": 0.8,
    "Information Technology": 0.5,
    "Computer": 0.4,
    "Engineering": 0.3,
}


def count(
    terms: Iterable[str], text: str, *, overlapping: bool = False
) -> dict[str, int]:
    lexicon = Lexicon(Vocabulary(list(terms)), overlapping=overlapping)
    return lexicon.words(text).total().terms


@pytest.mark.parametrize(
    ("table", "context", "overlapping", "expected", "score"),
    [
        (
            TABLE_1,
            "Comp. Engg. Information Tech. Information Tech. Computer",
            False,
            {"Comp. Engg.": 1, "Information Tech.": 2, "Computer": 1},
            2.3,
        ),
        (TABLE_1, "Comp. Sc. And Engg.", False, {"Comp. Sc. And Engg.": 1}, 1.0),
        (
            TABLE_1,
            "Comp. Sc. And Engg.",
            True,
            {"Comp. Sc. And Engg.": 1, "Comp. Sc.": 1},
            1.8,
        ),
        (
            SPELT_OUT,
            "Computer Science and Engineering",
            True,
            {
                "Computer Science and Engineering": 1,
                "Computer Science": 1,
                "Computer": 1,
                "Engineering": 1,
            },
            2.5,
        ),
    ],
)
def test_the_terms_of_a_context_are_those_of_paper_a(
    table: dict[str, float],
    context: str,
    overlapping: bool,
    expected: dict[str, int],
    score: float,
) -> None:
    """papers.md A.6-4: OBRS = Σ count(T in context) · importance(T), over table 1."""
    keys = Vocabulary(list(table)).keys
    counted = count(table, context, overlapping=overlapping)
    assert counted == {keys[term]: times for term, times in expected.items()}
    obrs = sum(counted.get(key, 0) * table[term] for term, key in keys.items())
    assert obrs == pytest.approx(score)


def test_words_and_phrases_are_counted_by_their_stems() -> None:
    text = "The Lok Sabha poll: Lok-Sabha polls, polling in the Sabha. Lok! Sabha"
    assert count(["poll", "lok sabha", "sabha poll", "manifesto"], text) == {
        "poll": 3,
        "lok sabha": 3,
    }


def test_a_phrase_must_stand_together_and_in_order() -> None:
    assert count(["lok sabha"], "sabha lok, then lok the sabha") == {}
    assert count(["lok sabha"], "lok sabhas2 xlok sabha") == {}


def test_terms_of_one_key_are_counted_once() -> None:
    assert count(["molecule", "Molecules"], "a molecule") == {"molecul": 1}


def test_terms_that_begin_alike_are_told_apart() -> None:
    terms = ["lok", "lok sabha", "lok sabha poll"]
    assert count(terms, "lok sabha poll lok sabha lok") == {
        "lok": 1,
        "lok sabha": 1,
        "lok sabha poll": 1,
    }
    assert count(terms, "lok sabha poll lok sabha lok", overlapping=True) == {
        "lok": 3,
        "lok sabha": 2,
        "lok sabha poll": 1,
    }


def test_terms_in_other_scripts_are_counted() -> None:
    assert count(["हिन्दी भाषा"], "यह हिन्दी भाषा है; हिन्दी") == {"हिन्दी भाषा": 1}
    assert count(["東京都"], "私は東京都に住む") == {"東京 京都": 1}


def test_a_phrase_does_not_overlap_itself() -> None:
    assert count(["a b a"], "a b a b a") == {"a b a": 1}
    assert count(["a b a"], "a b a b a", overlapping=True) == {"a b a": 1}
    assert count(["a a"], "a a a a") == {"a a": 2}


def test_a_phrase_does_not_go_on_in_the_next_line() -> None:
    assert count(["lok sabha", "sabha"], "lok\nsabha") == {"sabha": 1}
    assert count(["lok sabha"], "lok \r sabha") == {"lok sabha": 1}


def test_very_long_phrases_are_found() -> None:
    phrase = " ".join(f"w{number}" for number in range(2000))
    assert count([phrase, "w7 w8"], f"x {phrase} w7 w8") == {phrase: 1, "w7 w8": 1}
