"""Settings are closed: every mistake is named, with a remedy."""

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.settings import PolitenessSettings, Settings, build_section, load_toml


def test_defaults_need_no_file():
    assert build_section({}, Settings, "nothing") == Settings()


def test_a_file_changes_what_it_names_and_nothing_else(tmp_path: Path):
    path = tmp_path / "crawl.toml"
    path.write_text("[politeness]\ndelay = 2.5\n")
    settings = load_toml(path, Settings)
    assert settings.politeness == PolitenessSettings(delay=2.5)
    assert settings.fetch == Settings().fetch


def test_an_unknown_key_names_itself_the_near_one_and_the_known_ones():
    with pytest.raises(BadInput) as caught:
        build_section({"politeness": {"dely": 1}}, Settings, "crawl.toml")
    message = str(caught.value)
    assert "crawl.toml" in message
    assert "'politeness.dely'" in message
    assert "did you mean 'delay'" in message
    assert "per_host" in message


def test_an_unknown_table_is_refused():
    with pytest.raises(BadInput, match="unknown key 'politness'"):
        build_section({"politness": {}}, Settings, "x")


def test_a_wrong_type_names_its_place():
    with pytest.raises(BadInput, match=r"crawl\.max_pages: expected a whole number"):
        build_section({"crawl": {"max_pages": "many"}}, Settings, "x")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = ", "is not valid TOML"),
        (b"\xff\xfe", "is not valid TOML"),
        (b"a = 1\na = 2", "is not valid TOML"),
    ],
)
def test_a_broken_file_says_so(tmp_path: Path, content: bytes, expected: str):
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=expected):
        load_toml(path, Settings)


def test_a_missing_file_and_a_folder_say_so(tmp_path: Path):
    with pytest.raises(BadInput, match="does not exist"):
        load_toml(tmp_path / "none.toml", Settings)
    with pytest.raises(BadInput, match="is a folder"):
        load_toml(tmp_path, Settings)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("crawl", "readers", 0),
        ("crawl", "in_flight", 0),
        ("politeness", "per_host", 0),
        ("politeness", "delay", -1.0),
        ("politeness", "delay", float("nan")),
        ("fetch", "timeout", float("inf")),
        ("store", "commit_every", 0.0),
    ],
)
def test_a_number_that_makes_no_sense_is_refused(table, key, value):
    with pytest.raises(BadInput, match=rf"{table}\.{key}"):
        build_section({table: {key: value}}, Settings, "x")
