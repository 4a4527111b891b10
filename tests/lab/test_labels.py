"""Labels: rows are read by canonical URL, and a label covers those beneath it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.lab.labels import read_labels, relevant_urls

SCHOOLS = Path(__file__).parents[3] / "shared" / "webs" / "schools" / "labels.tsv"
TREE = {
    "http://ex.com/bat": ("Science.Biology", "Sport"),
    "http://ex.com/owl": ("Science.Biology.Birds",),
    "http://ex.com/ion": ("Science.Chemistry",),
    "http://ex.com/fair": ("Sciences",),
}
NAMES = st.lists(st.sampled_from("AB"), min_size=1, max_size=3).map(".".join)


def labels_file(folder: Path, content: bytes) -> Path:
    path = folder / "labels.tsv"
    path.write_bytes(content)
    return path


def test_a_page_has_the_labels_of_all_its_rows_once_each(tmp_path: Path):
    rows = b"http://ex.com/a\tX\nhttp://ex.com/b\tY\nhttp://ex.com/a\tZ.W\n"
    path = labels_file(tmp_path, rows + b"http://ex.com/a\tX\n")
    assert read_labels(path) == {
        "http://ex.com/a": ("X", "Z.W"),
        "http://ex.com/b": ("Y",),
    }


def test_pages_are_known_by_their_canonical_url(tmp_path: Path):
    path = labels_file(tmp_path, b"HTTP://Ex.com:80/a/../b#top\tX\nhttp://ex.com/b\tY")
    assert read_labels(path) == {"http://ex.com/b": ("X", "Y")}


def test_what_other_programs_do_to_text_files_is_forgiven(tmp_path: Path):
    rows = "\ufeffhttp://ex.com/a\tCafé\r\n\r\n  \nhttp://ex.com/b\tY \r\n"
    path = labels_file(tmp_path, rows.encode())
    assert read_labels(path) == {
        "http://ex.com/a": ("Café",),
        "http://ex.com/b": ("Y",),
    }


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        (b"http://ex.com/b", "line 3: a row is a URL, a tab and a label"),
        (b"http://ex.com/b\t", "line 3: a row is a URL, a tab and a label"),
        (b"\tY", "line 3: a row is a URL, a tab and a label"),
        (b"http://ex.com/b\tY\tZ", "line 3: a row is a URL, a tab and a label"),
        (b"ftp://ex.com/b\tY", "line 3: 'ftp://ex.com/b' is not the URL of a web"),
        (b"url\tlabel", "line 3: 'url' is not the URL of a web page"),
        (b"http://ex.com/b\t\xff", "line 3: save it as UTF-8"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: bytes, complaint: str):
    path = labels_file(tmp_path, b"http://ex.com/a\tX\n\n" + row + b"\n")
    with pytest.raises(BadInput) as raised:
        read_labels(path)
    assert str(raised.value).startswith(f"{path}, {complaint}")


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(BadInput, match=r"none\.tsv cannot be read: No such file"):
        read_labels(tmp_path / "none.tsv")


def test_a_label_covers_itself_and_what_is_beneath_it_only():
    assert relevant_urls(TREE, ["Science"]) == {
        "http://ex.com/bat",
        "http://ex.com/owl",
        "http://ex.com/ion",
    }
    assert relevant_urls(TREE, ["Science.Biology.Birds"]) == {"http://ex.com/owl"}


def test_several_labels_cover_what_any_of_them_does():
    assert relevant_urls(TREE, ["Sciences", "Sport"]) == {
        "http://ex.com/fair",
        "http://ex.com/bat",
    }


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("Science.Chemisty", "Science.Chemistry"),
        ("birds", "Science.Biology.Birds"),
        ("Nature.Biology", "Science.Biology"),
        ("Scien", "Science"),
    ],
)
def test_a_label_that_no_page_has_is_refused_and_near_ones_are_named(
    wanted: str, meant: str
):
    with pytest.raises(BadInput, match=f"no page has the label '{wanted}'") as raised:
        relevant_urls(TREE, ["Sport", wanted])
    assert meant in str(raised.value).partition("did you mean ")[2]


def test_a_label_like_no_other_is_refused_without_a_suggestion():
    with pytest.raises(BadInput, match=r"^no page has the label 'xyzzy'$"):
        relevant_urls(TREE, ["xyzzy"])


@given(st.dictionaries(st.sampled_from("pqrs"), st.sets(NAMES, max_size=3)), NAMES)
def test_covering_is_by_whole_parts_of_a_label(tree: dict[str, set[str]], wanted: str):
    parts = wanted.split(".")
    expected = {
        url
        for url, own in tree.items()
        if any(label.split(".")[: len(parts)] == parts for label in own)
    }
    if expected:
        assert relevant_urls(tree, [wanted]) == expected
    else:
        with pytest.raises(BadInput):
            relevant_urls(tree, [wanted])


@pytest.mark.skipif(not SCHOOLS.exists(), reason="needs ../shared/webs/schools")
def test_the_labels_of_the_schools_web_are_read():
    labels = read_labels(SCHOOLS)
    rows = len(SCHOOLS.read_text("utf-8").splitlines())
    assert sum(map(len, labels.values())) == rows
    elements = relevant_urls(labels, ["Science.Chemistry.Chemical_elements"])
    assert elements < relevant_urls(labels, ["Science.Chemistry"])
    assert "http://schools-wikipedia.test/wp/o/Oxygen.htm" in elements
