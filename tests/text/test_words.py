"""Tokens, stems, stop words and the terms of a topic."""

import subprocess
import sys
import unicodedata

import pytest
import Stemmer
import stopwordsiso
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.text import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\t.,!? ", []),
        ("Lok Sabha polls, 2014!", ["lok", "sabha", "polls", "2014"]),
        ("snake_case self-made C3PO", ["snake", "case", "self", "made", "c3po"]),
        ("don't DON’T", ["don", "t", "don", "t"]),
        ("ÅLAND Öl naïve", ["åland", "öl", "naïve"]),
        ("foo—bar…baz\u00a0qux“x”", ["foo", "bar", "baz", "qux", "x"]),
        ("ΑΘΗΝΑ Москва עברית العربية", ["αθηνα", "москва", "עברית", "العربية"]),
        ("हिन्दी भाषा, विज्ञान।", ["हिन्दी", "भाषा", "विज्ञान"]),
        ("தமிழ் বাংলা", ["தமிழ்", "বাংলা"]),
        ("क्\u200dष co\u00adoperate", ["क्ष", "cooperate"]),
        ("cafe\u0301 \ufb01ne ＦＵＬＬ＿ｗ１ x²", ["café", "fine", "full", "w1", "x2"]),
        ("½ ㎏", ["1", "2", "kg"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("iPhone手機 123円", ["iphone", "手機", "123", "円"]),
        ("これは。ペンです", ["これ", "れは", "ペン", "ンで", "です"]),
        ("ไทย", ["ไท", "ทย"]),
        ("a\ud800b", ["a", "b"]),
        ("😀 x", ["x"]),
    ],
)
def test_the_tokens_of_a_text_are(text: str, expected: list[str]) -> None:
    assert words.tokens(text) == expected


def test_every_combining_mark_stays_inside_its_word() -> None:
    marks = "ािीुूृेैोौ्ंःँ़"  # Devanagari; the Unicode categories are Mc and Mn
    assert {unicodedata.category(mark) for mark in marks} == {"Mc", "Mn"}
    for mark in marks:
        assert len(words.tokens(f"क{mark}ख")) == 1


def is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


@given(st.text())
@example("İ ǰ ẖ")
def test_tokens_are_clean_whatever_the_text(text: str) -> None:
    for token in words.tokens(text):
        assert token
        assert token == token.lower()
        assert all(char.isalnum() or is_mark(char) for char in token)


@given(st.text(st.characters(max_codepoint=0x17F, exclude_categories=["Cs"])))
def test_capitals_do_not_matter(text: str) -> None:
    if text.upper().lower() == text.lower():  # not so for ß and a few others
        assert words.tokens(text.upper()) == words.tokens(text.lower())


@given(st.text(st.characters(categories=["L", "M", "N", "Z", "P"])))
def test_the_spelling_of_a_character_in_unicode_does_not_matter(text: str) -> None:
    apart = unicodedata.normalize("NFKD", text)
    together = unicodedata.normalize("NFKC", text)
    assert words.tokens(apart) == words.tokens(together)


@given(st.lists(st.from_regex(r"[a-z0-9]{1,9}", fullmatch=True)))
def test_plain_words_come_out_as_they_went_in(plain: list[str]) -> None:
    assert words.tokens(", ".join(plain)) == plain


@pytest.mark.parametrize(
    ("language", "token", "expected"),
    [
        ("en", "chemistry", "chemistri"),
        ("", "molecules", "molecul"),
        ("de", "häuser", "haus"),
        ("fr", "continuellement", "continuel"),
        ("hi", "लड़कियाँ", "लड़क"),
        ("ru", "важнейшие", "важн"),
        ("en", "手機", "手機"),
        ("zz", "molecules", "molecules"),
    ],
)
def test_a_stem_is(language: str, token: str, expected: str) -> None:
    assert words.stem([token, token], language) == [expected, expected]


def test_snowball_has_every_language_that_we_name() -> None:
    assert set(words.ALGORITHMS.values()) <= set(Stemmer.algorithms())


def test_the_memory_for_stems_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MEMO_SIZE", 50)
    numbers = [f"running{number}" for number in range(500)]
    assert words.stem(numbers, "et") == Stemmer.Stemmer("estonian").stemWords(numbers)
    assert len(words._stems("et") or ()) <= 50
    endless = "क" * 10_000
    assert words.stem(words.tokens(endless)) == [endless]
    assert endless not in words._split


def test_stop_words_are_tokens_of_their_language() -> None:
    english = words.stop_words("en")
    assert {"the", "of", "don", "t", "s"} <= english
    assert "molecule" not in english
    assert "के" in words.stop_words("hi")
    assert words.stop_words("zz") == frozenset()
    assert all(words.tokens(word) == [word] for word in english)


@pytest.mark.parametrize("language", sorted(stopwordsiso.langs()))
def test_stop_words_are_those_that_the_package_lists(language: str) -> None:
    listed = stopwordsiso.stopwords(language)
    assert words.stop_words(language) == {
        t for word in listed for t in words.tokens(word)
    }


def test_stop_words_are_had_without_importing_all_languages() -> None:
    code = (
        "import sys, opilio.text.words; opilio.text.words.stop_words('en');"
        "sys.exit('stopwordsiso' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_key_of_a_term_is_its_stems() -> None:
    vocabulary = words.Vocabulary(["Chemistry", "chemical  Elements", "!?"])
    assert vocabulary.keys == {
        "Chemistry": "chemistri",
        "chemical  Elements": "chemic element",
        "!?": "",
    }
    assert words.Vocabulary(["Häuser"], "de").keys == {"Häuser": "haus"}
    assert words.Vocabulary([], "").language == "en"


LONG_WORDS = st.integers(60, 70).map(lambda length: "a" * length + "ing")


@given(st.lists(st.text(max_size=70) | LONG_WORDS))
def test_many_keys_at_once_are_the_same_as_each_alone(terms: list[str]) -> None:
    for language in ("en", "hi", "zz"):
        vocabulary = words.Vocabulary(terms, language)
        assert vocabulary.keys == {term: vocabulary.key(term) for term in terms}


@given(st.text())
@example("「東京都」ﬁne½")
def test_spans_are_the_tokens_in_order(text: str) -> None:
    for run in text.split():
        plain = run.encode("utf-8", "replace").decode()
        spans = words.spans(plain)
        assert [word for word, _ in spans] == words.tokens(plain)
        places = [place for _, place in spans]
        assert places == sorted(places)
        assert all(0 <= place < len(plain) for place in places)


def test_a_span_begins_where_its_word_does() -> None:
    assert words.spans("「東京都」x") == [("東京", 1), ("京都", 2), ("x", 5)]


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_many_stems_have_the_hashes_that_each_has(stems: list[str]) -> None:
    assert list(words.hash_all(stems)) == [words.hash_of(stem) for stem in stems]
