"""Words of other languages count as what they mean in the topic's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.read import stems, translation
from opilio.read.lexicon import Lexicon, Vector
from opilio.read.translation import NOISE
from opilio.text.words import Vocabulary
from read.kernel_choice import KERNELS, chosen

HINDI = {
    "संगणक": ("computer", "reckoner"),
    "विज्ञान": ("knowledge", "science"),
    "का": (),
    "विभाग": ("department",),
    "केन्द्रीय": ("central",),
    "प्रोसेसर": ("processing unit", "processor"),
    "पानी": ("water",),
    "काला": ("black",),
    "जल": ("water", "black water"),
}


class Dictionary:
    """Reads Devanagari, and whatever else is in it in texts in Hindi."""

    def __init__(self, entries: Mapping[str, tuple[str, ...]] = HINDI) -> None:
        self.entries = entries
        self.asked: list[tuple[str, ...]] = []

    def reads(self, word: str, language: str) -> bool:
        return "\u0900" <= word[0] <= "\u097f" or language == "de"

    def run(self, words: Sequence[str], language: str) -> list[tuple[str, ...]]:
        self.asked.append(tuple(words))
        return [self.entries.get(word, (word,)) for word in words]


@pytest.fixture(scope="module", autouse=True, params=KERNELS)
def small_tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tables of a size that many can be made of, with either kind of kernels."""
    with chosen(request.param) as patch:
        patch.setattr(stems, "FEWEST", 64)
        patch.setattr(stems, "MOST", 64)
        yield


def total(terms: list[str], text: str, *, overlapping: bool = False) -> Vector:
    vocabulary = Vocabulary(terms)
    return (
        Lexicon(vocabulary, Dictionary(), overlapping=overlapping).words(text).total()
    )


@pytest.mark.parametrize(
    ("terms", "text", "expected"),
    [
        (["computer science"], "संगणक विज्ञान", {"comput scienc": 1}),
        (["computer science"], "computer विज्ञान", {"comput scienc": 1}),
        (["computer science"], "the संगणक science of", {"comput scienc": 1}),
        (["computer science"], "संगणक\nविज्ञान", {}),
        (["computer science"], "संगणक x विज्ञान", {}),
        (["science computer"], "विज्ञान का संगणक", {"scienc comput": 1}),
        (["x y"], "x का y, x का\ny", {"x y": 1}),
        (["central processing unit"], "केन्द्रीय प्रोसेसर", {"central process unit": 1}),
        (["processing unit", "unit"], "प्रोसेसर", {"process unit": 1}),
        (["unit department"], "प्रोसेसर विभाग", {"unit depart": 1}),
        (["computer", "reckoner"], "संगणक", {"comput": 1, "reckon": 1}),
        (["computer reckoner", "reckoner computer"], "संगणक", {}),
        (
            ["computer science", "reckoner science", "science"],
            "संगणक विज्ञान",
            {"comput scienc": 1, "reckon scienc": 1},
        ),
        (["विदेश नीति"], "विदेश नीति", {"विदेश नीति": 1}),
    ],
)
def test_the_terms_of_a_text_with_hindi_words_are(
    terms: list[str], text: str, expected: dict[str, int]
) -> None:
    assert total(terms, text).terms == expected


def test_overlapping_terms_are_found_among_meanings_too() -> None:
    terms = ["computer science", "computer", "science", "reckoner"]
    assert total(terms, "संगणक विज्ञान", overlapping=True).terms == {
        "comput scienc": 1,
        "comput": 1,
        "scienc": 1,
        "reckon": 1,
    }


def test_meanings_without_the_topics_words_count_as_one() -> None:
    text = "संगणक का विज्ञान"
    assert total([], text) == total([], "computer knowledge")
    both = total(["reckoner", "computer"], text)
    assert (both.words, both.norm) == (3, pytest.approx(3**0.5))


def test_words_that_have_two_meanings_with_one_word_count_it_once() -> None:
    assert total(["water", "black"], "जल").terms == {"water": 1, "black": 1}


def test_a_phrase_spans_no_more_than_a_little_noise() -> None:
    assert total(["x y"], f"x {'का ' * NOISE} y").terms
    assert not total(["x y"], f"x {'का ' * (NOISE + 1)} y").terms
    assert not total(["x y"], f"x {'का ' * 5000} y").terms


def test_only_so_many_words_of_a_text_are_transcribed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(translation, "MOST", 2)
    assert total(["water"], "पानी x पानी पानी").terms == {"water": 2}
    assert total(["water"], f"पानी {'क' * translation.LONGEST}").terms == {"water": 1}


def test_parts_of_a_text_with_hindi_words_are_counted() -> None:
    text = "a पानी b संगणक विज्ञान c पानी"
    found = Lexicon(Vocabulary(["water", "computer science", "b"]), Dictionary()).words(
        text
    )
    place, rest = text.index("b"), text.index("c")
    assert found.between(0, place).terms == {"water": 1}
    assert found.between(place, rest).terms == {"b": 1, "comput scienc": 1}
    assert found.between(place + 2, text.index("वि")).terms == {}
    tallies = found.tally([(0, 0), (place, 1), (rest, 0)], 2)
    assert [tally.terms for tally in tallies] == [
        {"water": 2},
        {"b": 1, "comput scienc": 1},
    ]
    assert [tally.words for tally in tallies] == [4, 3]


def test_consecutive_words_are_transcribed_together() -> None:
    transcriptor = Dictionary()
    lexicon = Lexicon(Vocabulary(["x"]), transcriptor)
    lexicon.words("संगणक, विज्ञान plain जल\nपानी")
    assert transcriptor.asked == [("संगणक", "विज्ञान"), ("जल",), ("पानी",)]
    lexicon.words("no such word; naïve")
    assert len(transcriptor.asked) == 3
    lexicon.words("das Wasser, naïve", "de")
    assert transcriptor.asked[3:] == [("das", "wasser", "naïve")]


def test_a_text_in_another_language_with_our_letters_is_read() -> None:
    entries = {"wasser": ("water",), "das": (), "chemie": ("chemistry",)}
    lexicon = Lexicon(Vocabulary(["water chemistry"]), Dictionary(entries))
    assert lexicon.words("Wasser: das Chemie", "de").total().terms
    assert not lexicon.words("Wasser: das Chemie", "en").total().terms


def test_one_character_may_stand_for_several_words() -> None:
    entries = {"株式": ("stock",), "式会": (), "会社": ("company",)}
    vocabulary = Vocabulary(["stock company", "company"])
    found = Lexicon(vocabulary, Dictionary(entries)).words("㍿ x", "de").total()
    assert (found.words, found.terms) == (3, {"stock compani": 1})


texts = st.lists(
    st.sampled_from([*HINDI, "computer", "water", "unit", "science", "é", "東京"]),
    max_size=8,
).filter(lambda text: text.count("का") <= NOISE)
TERMS = [
    *("computer", "water", "computer science", "science department", "black water"),
    *("unit water", "processing unit computer", "water water", "central water science"),
]


@settings(max_examples=80)
@given(texts, st.sampled_from([" ", ", ", "—"]))
def test_phrases_are_found_along_any_choice_of_meanings(
    text: list[str], separator: str
) -> None:
    readings = product(*(HINDI.get(word, (word,)) or ("",) for word in text))
    plain = Lexicon(Vocabulary(TERMS), overlapping=True)
    expected = set()
    for reading in readings:
        expected |= plain.words(" ".join(reading)).total().terms.keys()
    found = Lexicon(Vocabulary(TERMS), Dictionary(), overlapping=True).words(
        separator.join(text)
    )
    assert found.total().terms.keys() == expected


@given(texts)
def test_words_with_one_meaning_are_as_good_as_that(text: list[str]) -> None:
    meant = {word: meanings[:1] for word, meanings in HINDI.items() if meanings}
    lexicon = Lexicon(Vocabulary(TERMS), Dictionary(meant))
    plain = " ".join(meant.get(word, (word,))[0] for word in text)
    assert lexicon.words(" ".join(text)).total() == lexicon.words(plain).total()
