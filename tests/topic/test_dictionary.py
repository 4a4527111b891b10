"""Bilingual dictionaries of every format, whole and broken."""

import gzip
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic import dictionary, gzip_files
from opilio.topic.article_meanings import LONGEST, MOST, meanings, plain_word
from opilio.topic.dictionary import merge, read_dictionary
from topic.dictionary_files import write_dictd, write_stardict, write_tei

SHARED = Path(__file__).parents[3] / "shared/data/hin-eng.tsv"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# Tables


def test_a_table_gives_each_word_its_meanings(tmp_path):
    text = "\ufeff# Hindi\nअंक\tdigit; number (in sport); score\n\nरेल इंजन\tloco\n"
    path = write(tmp_path / "hi.tsv", text)
    expected = {"अंक": ("digit", "number", "score"), "रेल इंजन": ("loco",)}
    assert read_dictionary(path) == expected


def test_words_are_kept_as_pages_are_read(tmp_path):
    path = write(
        tmp_path / "de.tsv", "Straßen-Bahn (die)\ttram\n北京大学\tuniversity\n"
    )
    assert read_dictionary(path) == {
        "straßen bahn": ("tram",),
        "北京 京大 大学": ("university",),
    }


def test_a_word_on_several_lines_has_the_meanings_of_all(tmp_path):
    path = write(tmp_path / "x.tsv", "तारा\tstar\nतारा\tcord\tstar\nबहुत खाना\t\n")
    assert read_dictionary(path) == {"तारा": ("star", "cord")}


def test_a_packed_table_is_unpacked(tmp_path):
    path = tmp_path / "hi.tsv.gz"
    path.write_bytes(gzip.compress("पक्षी\tbird\n".encode()))
    assert read_dictionary(path) == {"पक्षी": ("bird",)}


def test_a_line_without_a_tab_is_named(tmp_path):
    path = write(tmp_path / "x.tsv", "a\tb\nno tab here\n")
    with pytest.raises(BadInput, match=r"x\.tsv, line 2: no tab"):
        read_dictionary(path)


def test_a_line_in_another_encoding_is_named(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"a\tb\nc\td\xfc\n")
    with pytest.raises(BadInput, match=r"x\.tsv, line 2: not UTF-8"):
        read_dictionary(path)


def test_a_line_without_end_is_refused(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"a\tb\n" + b"c" * 2**20)
    with pytest.raises(BadInput, match=r"x\.tsv, line 2: too long"):
        read_dictionary(path)


def test_a_dictionary_without_words_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no word with a meaning"):
        read_dictionary(write(tmp_path / "x.tsv", "# nothing\n"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"gone\.tsv: cannot be read: No such file"):
        read_dictionary(tmp_path / "gone.tsv")


def test_too_many_words_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(dictionary, "MAX_WORDS", 2)
    with pytest.raises(BadInput, match=r"x\.tsv: more than 2 words"):
        read_dictionary(write(tmp_path / "x.tsv", "a\tx\nb\tx\nc\tx\n"))


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data/hin-eng.tsv")
def test_the_shared_hindi_dictionary_is_read():
    words = read_dictionary(SHARED)
    assert len(words) > 14_900
    assert words["परमाणु"] == ("atom", "subatomic")


# dictd and FreeDict


ARTICLES = [
    ("00databaseshort", "00databaseshort\nGerman-English\n"),
    ("bahnhof", "Bahnhof /baːnhoːf/ <masc, n, sg>\nrailway station, station\n"),
    (
        "vogel",
        'Vogel <n>\n1. bird (zoology)\n   "ein Vogel" - a bird\n Synonym: {Tier}',
    ),
]


@pytest.mark.parametrize("packed", [False, True])
def test_a_dictd_dictionary_is_read(tmp_path, packed):
    index = write_dictd(tmp_path, ARTICLES, packed=packed)
    expected = {"bahnhof": ("railway station", "station"), "vogel": ("bird",)}
    assert read_dictionary(index) == expected
    body = tmp_path / ("words.dict.dz" if packed else "words.dict")
    assert read_dictionary(body) == expected


def test_dictd_gives_the_headword_as_it_is_really_written(tmp_path):
    index = write_dictd(tmp_path, [("ubung", "Übung\nexercise", "Übung")])
    assert read_dictionary(index) == {"übung": ("exercise",)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word\tA", "line 2: not headword"),
        ("word\t!\tB", "line 2: not headword"),
        ("word\tA\t", "line 2: not headword"),
        ("word\tA\t////////////", "line 2: not headword"),
        ("word\tA\tZZZ", "line 2: its article is beyond the end"),
    ],
)
def test_a_broken_dictd_index_is_named(tmp_path, line, message):
    index = write_dictd(tmp_path, ARTICLES[1:2])
    index.write_text(index.read_text() + line + "\n")
    with pytest.raises(BadInput, match=rf"words\.index, {message}"):
        read_dictionary(index)


def test_a_dictd_index_without_its_articles_is_refused(tmp_path):
    index = write_dictd(tmp_path, ARTICLES)
    (tmp_path / "words.dict").unlink()
    with pytest.raises(BadInput, match=r"there is no words\.dict beside it"):
        read_dictionary(index)


def test_broken_gzip_is_refused(tmp_path):
    index = write_dictd(tmp_path, ARTICLES, packed=True)
    body = tmp_path / "words.dict.dz"
    body.write_bytes(body.read_bytes()[:-20])
    with pytest.raises(BadInput, match=r"words\.dict\.dz: damaged gzip"):
        read_dictionary(index)


def test_a_dictionary_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(gzip_files, "MAX_BYTES", 2**20)
    index = write_dictd(tmp_path, [("a", "a" * 2**21)], packed=True)
    with pytest.raises(BadInput, match=r"words\.dict\.dz: more than 1 MB"):
        read_dictionary(index)


def test_a_freedict_tei_file_is_read(tmp_path):
    entries = [("Vogel", ["bird"]), ("Bahnhof", ["station", "railway station"])]
    assert read_dictionary(write_tei(tmp_path, entries)) == {
        "vogel": ("bird",),
        "bahnhof": ("station", "railway station"),
    }


def test_broken_xml_is_named_by_its_line(tmp_path):
    path = write_tei(tmp_path, [("Vogel", ["bird"])])
    path.write_text(path.read_text().replace("</body>", ""))
    with pytest.raises(BadInput, match=r"words\.tei, line 2: broken XML"):
        read_dictionary(path)


def test_xml_reads_no_other_files(tmp_path):
    secret = write(tmp_path / "secret", "secret")
    doctype = f'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file://{secret}">]>'
    path = write_tei(tmp_path, [("Vogel", ["bird", "&x;"])])
    path.write_text(path.read_text().replace("<TEI", doctype + "<TEI", 1))
    assert "secret" not in str(read_dictionary(path))


# StarDict


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_stardict_dictionary_is_read(tmp_path, wide, packed):
    entries = [("Vogel", b"bird"), ("Bahnhof", b"railway station; station")]
    ifo = write_stardict(
        tmp_path, entries, wide=wide, packed=packed, synonyms=[("Bhf", 1)]
    )
    expected = {
        "vogel": ("bird",),
        "bahnhof": ("railway station", "station"),
        "bhf": ("railway station", "station"),
    }
    assert read_dictionary(ifo) == expected
    for name in ("words.idx", "words.dict", "words.dict.dz", "words.idx.gz"):
        if (tmp_path / name).exists():
            assert read_dictionary(tmp_path / name) == expected


def test_only_the_texts_of_a_stardict_article_are_read(tmp_path):
    html = b"<b>Vogel</b><br>bird <i>(zool.)</i>"
    sound = b"\0\0\0\4RIFF"
    mixed = b"tvogl\0" + b"W" + sound + b"h" + html + b"\0"
    assert read_dictionary(write_stardict(tmp_path, [("Vogel", mixed)], types="")) == {
        "vogel": ("bird",)
    }
    same = b"vogl\0" + sound + html
    ifo = write_stardict(tmp_path, [("Vogel", same)], types="tWh")
    assert read_dictionary(ifo) == {"vogel": ("bird",)}


def test_a_broken_stardict_dictionary_is_named(tmp_path):
    ifo = write_stardict(tmp_path, [("a", b"x"), ("b", b"y")], synonyms=[("c", 9)])
    with pytest.raises(BadInput, match=r"words\.syn: 'c' stands for entry 9 of 2"):
        read_dictionary(ifo)
    index = tmp_path / "words.idx"
    index.write_bytes(index.read_bytes()[:-3])
    with pytest.raises(BadInput, match=r"words\.idx, offset 10: .* within an entry"):
        read_dictionary(ifo)
    write_stardict(tmp_path, [("a", b"x"), ("b", b"y")])
    (tmp_path / "words.dict").write_bytes(b"x")
    with pytest.raises(BadInput, match=r"words\.idx, entry 2: .* beyond the end"):
        read_dictionary(ifo)
    ifo.write_text("bookname=x")
    with pytest.raises(BadInput, match=r"words\.ifo, line 1: not"):
        read_dictionary(ifo)


@given(st.binary(max_size=300), st.sampled_from(["idx", "dict", "syn", "ifo"]))
def test_any_bytes_are_read_or_refused(tmp_path_factory, noise, part):
    folder = tmp_path_factory.mktemp("noise")
    ifo = write_stardict(folder, [("a", b"mx\0")], types="", synonyms=[("b", 0)])
    path = folder / f"words.{part}"
    path.write_bytes(path.read_bytes()[: len(noise) // 2] + noise)
    index = write_dictd(folder, ARTICLES)
    index.write_bytes(noise)
    table = folder / "x.tsv"
    table.write_bytes(noise)
    for file in (ifo, index, table):
        try:
            found = read_dictionary(file)
        except BadInput as error:
            assert "words." in str(error) or "x.tsv" in str(error)
        else:
            assert all(word and given for word, given in found.items())
    shutil.rmtree(folder)


# Meanings


@pytest.mark.parametrize(
    ("article", "found"),
    [
        ("digit; figure; no", ("digit", "figure", "no")),
        ("house, building, home", ("house", "building", "home")),
        ("said of a star, or the like", ("said of a star, or the like",)),
        ("Haus /haʊs/ <neut>\n1. house (to live in [not to work])", ("house",)),
        ("Haus \\haus\\ house; see {home}", ("house", "see home")),
        ("<k>Haus</k>\n<def>house</def><br/>&amp; home", ("house", "& home")),
        ("house; House; HOUSE", ("house",)),
        ("1. a\n2) b\n- c\n“quoted”\nsee: d\nNote: e", ("a", "b", "c")),
        ("; , .", ()),
        ("", ()),
    ],
)
def test_meanings_come_without_what_is_around_them(article, found):
    assert meanings(article, "Haus")[: len(found) + 1] == found


def test_a_long_definition_stands_in_only_where_there_is_no_meaning():
    long = "a " + "very " * 40 + "small bird"
    assert meanings(f"{long}\nwren") == ("wren",)
    [cut] = meanings(long)
    assert len(cut) <= LONGEST
    assert long.startswith(cut)


@given(st.text(max_size=400), st.text(max_size=10))
def test_meanings_are_few_short_and_not_empty(article, word):
    found = meanings(article, word)
    assert len(found) <= MOST
    assert all(one.strip() and len(one) <= LONGEST for one in found)


@given(st.text("aZß京大学क 7-()", max_size=60))
def test_a_plain_word_stays_as_it_is(word):
    plain = plain_word(word)
    assert plain_word(plain) == plain


def test_dictionaries_are_merged_with_the_labels_of_an_ontology():
    words = {"तारा": ("star",)}
    labels = {"Tara तारा": ["asteroid"], "तारा": ["celestial body", "star"], "": ["x"]}
    assert merge(words, labels) == {
        "तारा": ("star", "celestial body"),
        "tara तारा": ("asteroid",),
    }
    assert merge() == {}
