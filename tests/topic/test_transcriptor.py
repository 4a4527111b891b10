"""Words of other languages, put into the topic's language by a dictionary."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.text.words import stem, tokens
from opilio.topic import word_lookup
from opilio.topic.dictionary import read_dictionary
from opilio.topic.transcriptor import Transcriptor
from opilio.topic.word_lookup import Lookup

HINDI = {
    "संगणक": ("computer",),
    "विज्ञान": ("science",),
    "ग्रह": ("planet",),
    "तारा": ("star",),
    "तार": ("wire",),
    "लड़की": ("girl",),
    "जाति": ("species", "caste"),
    "वस्तु": ("object",),
    "भाषा": ("language",),
    "बड़ा": ("big",),
    "पुस्तक": ("book",),
    "काटना": ("cut",),
    "खाना": ("eat", "food"),
    "हिन्दी": ("hindi",),
    "संबंध": ("relation",),
    "रेल इंजन": ("locomotive",),
    "रेलगाड़ी": ("train",),
    "रसायन-शास्त्र": ("chemistry",),
    "खगोलविद्या": ("astronomy",),
    "हमला करना": ("attack",),
}


@pytest.fixture
def transcriptor() -> Transcriptor:
    return Transcriptor({"hi": HINDI})


def run(transcriptor: Transcriptor, text: str, language: str = ""):
    words = tokens(text)
    assert all(transcriptor.reads(word, language) for word in words)
    return transcriptor.run(words, language)


def test_a_hindi_link_is_relevant_only_to_who_reads_hindi():
    # Figure 1 [23-28] and papers.md A.6-7: संगणक -> computer, विज्ञान -> science;
    # OBRS = Σ count(T in context) · importance(T), with importances of table 1.
    """Kumar & Vig, III.E: "transcript for that in English by making use of the
    Bilingual Dictionary"."""
    importance = {"Computer Science": 0.8, "Computer": 0.4, "Engineering": 0.3}

    def plain(text: str) -> str:
        return f" {' '.join(stem(tokens(text)))} "

    def obrs(context: str) -> float:
        return sum(
            plain(context).count(plain(term)) * value
            for term, value in importance.items()
        )

    context = "Admissions 2009: संगणक विज्ञान, read more"
    read = Transcriptor({"hi": {"संगणक": ("computer",), "विज्ञान": ("science",)}})
    assert obrs(context) == 0
    assert read.transcribe(context) == "Admissions 2009: computer science, read more"
    assert obrs(read.transcribe(context)) == pytest.approx(0.8 + 0.4)


def test_words_are_told_by_their_script_one_by_one(transcriptor):
    for word in ("computer", "2009", "é", "наука", "科学", "επιστήμη"):
        assert not transcriptor.reads(word, "hi")
        assert not transcriptor.reads(word, "en")
    assert transcriptor.reads("अज्ञात", "en")
    assert transcriptor.reads("विज्ञान", "")


def test_without_dictionaries_nothing_is_read():
    nobody = Transcriptor({"hi": {}, "en": {"a": ("b",)}})
    assert not nobody.reads("विज्ञान", "hi")
    assert not nobody.reads("a", "en")
    assert nobody.transcribe("विज्ञान a") == "विज्ञान a"


def test_noise_words_go_unknown_words_stay_meanings_are_all_kept(transcriptor):
    assert run(transcriptor, "जाति और भाषा का अज्ञातशब्द") == [
        ("species", "caste"),
        (),
        ("language",),
        (),
        ("अज्ञातशब्द",),
    ]


@pytest.mark.parametrize(
    ("form", "meanings"),
    [
        ("ग्रहों", ("planet",)),
        ("तारों", ("wire", "star")),  # of तार or of तारा
        ("तारे", ("star", "wire")),
        ("लड़कियों", ("girl",)),
        ("लड़कियाँ", ("girl",)),
        ("जातियों", ("species", "caste")),
        ("वस्तुओं", ("object",)),
        ("वस्तुएँ", ("object",)),
        ("भाषाओं", ("language",)),
        ("भाषाएँ", ("language",)),
        ("भाषायें", ("language",)),
        ("बड़ी", ("big",)),
        ("बड़े", ("big",)),
        ("पुस्तकें", ("book",)),
        ("काटता", ("cut",)),
        ("काटेगा", ("cut",)),
        ("काटकर", ("cut",)),
        ("हिंदी", ("hindi",)),
        ("हिन्दि", ("hindi",)),  # short for long
        ("सम्बन्ध", ("relation",)),
        ("संबंधों", ("relation",)),
        ("लडकी", ("girl",)),  # without the dot below
        ("संगणक\u200d", ("computer",)),
        ("खगोलशास्त्र", ("astronomy",)),
        ("हमला", ("attack",)),  # known only as what one does
        ("हमलों", ("attack",)),
        ("रसायनशास्त्र", ("chemistry",)),
    ],
)
def test_forms_and_spellings_of_a_hindi_word_are_known(transcriptor, form, meanings):
    assert run(transcriptor, form) == [meanings]


def test_the_word_itself_comes_before_what_it_may_be_a_form_of(transcriptor):
    assert run(transcriptor, "तार तारा") == [("wire",), ("star",)]
    assert Lookup({"रेला": ("crowd",)}, "hi").word("रेल") is None


def test_the_longest_phrase_counts_at_its_first_word(transcriptor):
    assert run(transcriptor, "बड़े रेल इंजनों में") == [
        ("big",),
        ("locomotive",),
        (),
        (),
    ]
    words = {"a b": ("two",), "a b c": ("three",), "c": ("one",)}
    latin = Transcriptor({"xx": words})
    assert latin.run(["a", "b", "c", "a", "b", "b"], "xx") == [
        ("three",),
        (),
        (),
        ("two",),
        (),
        ("b",),
    ]


def test_a_compound_may_be_written_apart(transcriptor):
    assert run(transcriptor, "रेल गाड़ी") == [("train",), ()]


# Other languages


@pytest.fixture
def german(tmp_path: Path) -> Transcriptor:
    path = tmp_path / "de.tsv"
    path.write_text("Vogel\tbird\nBahnhof\trailway station; station\nüben\tpractise\n")
    return Transcriptor({"de": read_dictionary(path), "hi": HINDI})


def test_german_is_read_where_the_text_is_german(german):
    assert german.reads("vögel", "de")
    assert not german.reads("vögel", "en")
    assert german.transcribe("Die Vögel am Bahnhof, ग्रह!", "de") == (
        "bird railway station station, planet!"
    )
    assert german.transcribe("Die Vögel am Bahnhof, ग्रह!", "en") == (
        "Die Vögel am Bahnhof, planet!"
    )


def test_snowball_stems_and_lost_accents_find_a_german_word(german):
    assert german.run(["bahnhofs", "uben", "zug"], "de") == [
        ("railway station", "station"),
        ("practise",),
        ("zug",),
    ]


def test_any_pair_of_languages_works():
    to_russian = Transcriptor({"en": {"bird": ("птица",)}}, target="ru")
    assert to_russian.transcribe("Это bird.") == "Это птица."
    assert to_russian.reads("birds", "ru")
    assert not to_russian.reads("это", "ru")


def test_scripts_without_spaces_are_phrases_of_pairs():
    chinese = Transcriptor({"zh": {"计算机": ("computer",), "科学": ("science",)}})
    assert chinese.run(tokens("计算机科学"), "zh") == [
        ("computer",),
        (),
        ("机科",),
        ("science",),
    ]


def test_of_two_languages_with_one_script_the_text_decides():
    both = Transcriptor({"ru": {"град": ("hail",)}, "bg": {"град": ("city",)}})
    assert both.run(["град"], "bg") == [("city",)]
    assert both.run(["град"], "ru") == [("hail",)]
    assert both.run(["град"], "en") == [("hail",)]


# Bounds and properties


def test_memory_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(word_lookup, "MEMO_SIZE", 10)
    words = Lookup(HINDI, "hi")
    for number in range(100):
        words.word(f"ग्रह{number}")
        words.phrase([f"ग्रह{number}"], 0)
    assert len(words.memo) <= 10
    assert len(words.stems) <= 10
    words.word("क" * 100)
    assert "क" * 100 not in words.memo


letters = st.text("संगणकविज्ञतारोंेाीिड़ँ", min_size=1, max_size=8)


@given(st.lists(letters | st.sampled_from(" ".join(HINDI).split()), max_size=12))
def test_every_word_of_a_run_has_a_place(words):
    read = Transcriptor({"hi": HINDI})
    given = [token for word in words for token in tokens(word)]
    assert len(read.run(given, "")) == len(given)


@given(st.text())
def test_a_text_without_foreign_words_is_untouched(text):
    read = Transcriptor({"hi": {"ग्रह": ("planet",)}})
    if not any("\u0900" <= char <= "\u097f" for char in text):
        assert read.transcribe(text) == text
