"""Every regular form of a Hindi verb is read, however short its stem is."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from opilio.topic.dictionary import read_dictionary
from opilio.topic.word_lookup import Lookup

SHARED = Path(__file__).parents[3] / "shared" / "data"

VERBS = {"पढ़ना": ("read",), "खाना": ("eat",), "सोना": ("sleep",), "सुनना": ("hear",)}
AFTER_CONSONANT = "ना ने नी ता ते ती तीं ा े ी ीं ूं ूँ ें ो ूंगा ूँगी ेगा ेगी ेंगे ेंगी ोगे ोगी िए िये िएगा कर"
AFTER_VOWEL = (
    "ना ने नी ता ते ती तीं या ए ये ई यी ईं यीं ऊं ऊँ एं ओ ऊंगा ऊँगी एगा एगी एंगे एंगी ओगे ओगी "
    "इए इये इएगा कर"
)


@pytest.mark.parametrize("spelling", ["NFC", "NFD"])
@pytest.mark.parametrize("ending", AFTER_CONSONANT.split())
def test_a_verb_is_read_in_each_form(ending: str, spelling: str):
    lookup = Lookup(VERBS, "hi")
    for start, meaning in (("पढ़", "read"), ("सुन", "hear")):
        form = unicodedata.normalize(spelling, start + ending)
        assert lookup.word(form) == (meaning,)


@pytest.mark.parametrize("ending", AFTER_VOWEL.split())
def test_so_is_one_whose_stem_ends_in_a_vowel(ending: str):
    lookup = Lookup(VERBS, "hi")
    assert lookup.word("खा" + ending) == ("eat",)
    assert lookup.word("सो" + ending) == ("sleep",)


def test_a_name_that_looks_like_a_form_of_a_pronoun_stays_as_it_is():
    assert Lookup({"मां": ("mother",), "या": ("or",)}, "hi").word("माओ") is None


def test_a_noun_in_y_keeps_its_plural_beside_the_verb():
    cows = Lookup({"गाय": ("cow",), "गाना": ("sing",)}, "hi")
    assert cows.word("गायें") == ("cow", "sing")


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
@pytest.mark.parametrize("form", ["पढ़ीं", "पढ़ी", "पढ़तीं", "पढ़ेंगी", "पढ़ूँगी", "पढ़िए"])
def test_forms_of_to_read_are_found_in_a_real_dictionary(form: str):
    """Reads ../shared/data/hin-eng.tsv."""
    words = Lookup(read_dictionary(SHARED / "hin-eng.tsv"), "hi")
    assert words.word(form) == ("read", "reading")
