"""A parsed ontology is kept, and a cache that fails is as good as none."""

from __future__ import annotations

import pytest

from opilio.topic.ontology import cache, load_ontology
from topic.ontologies import PC


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pc.ttl"
    path.write_text(PC)
    return path


@pytest.fixture
def parsed(monkeypatch) -> list[str]:
    """The names of the files that had to be parsed."""
    from opilio.topic.ontology import load

    names: list[str] = []
    read = load.read_ontology

    def counted(data: bytes, name: str):
        names.append(name)
        return read(data, name)

    monkeypatch.setattr(load, "read_ontology", counted)
    return names


def test_what_was_parsed_once_is_not_parsed_again(file, tmp_path, parsed):
    folder = tmp_path / "cache"
    first = load_ontology(file, cache_folder=folder)
    second = load_ontology(file, cache_folder=folder)
    assert parsed == ["pc.ttl"]
    assert second == first
    assert [path.suffix for path in folder.iterdir()] == [".msgpack"]


def test_the_same_content_of_another_name_is_the_same(file, tmp_path, parsed):
    load_ontology(file, cache_folder=tmp_path / "cache")
    other = file.rename(tmp_path / "other.ttl")
    ontology = load_ontology(other, cache_folder=tmp_path / "cache")
    assert parsed == ["pc.ttl"]
    assert (ontology.name, ontology.source) == ("other", str(other))


def test_changed_content_is_parsed(file, tmp_path, parsed):
    load_ontology(file, cache_folder=tmp_path / "cache")
    file.write_text(PC + ":Mouse a owl:Class .")
    changed = load_ontology(file, cache_folder=tmp_path / "cache")
    assert len(parsed) == 2
    assert "Mouse" in {concept.label for concept in changed.concepts}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[:100] + b"\xff" + data[101:],
        lambda data: b"\x80" * 50,
    ],
)
def test_a_damaged_cache_is_ignored_and_made_anew(file, tmp_path, parsed, damage):
    folder = tmp_path / "cache"
    first = load_ontology(file, cache_folder=folder)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert load_ontology(file, cache_folder=folder) == first
    assert len(parsed) == 2
    assert kept.read_bytes() == whole


def test_a_cache_of_another_version_is_ignored(file, tmp_path, parsed, monkeypatch):
    load_ontology(file, cache_folder=tmp_path / "cache")
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    load_ontology(file, cache_folder=tmp_path / "cache")
    assert len(parsed) == 2


def test_a_cache_that_cannot_be_written_is_no_error(file, tmp_path):
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder")
    assert load_ontology(file, cache_folder=blocked).concepts
    assert blocked.read_text() == "not a folder"


def test_the_cache_is_the_users_own_and_nothing_lies_beside_the_file(
    file, tmp_path, monkeypatch
):
    home = tmp_path / "home"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    before = set(file.parent.iterdir())
    load_ontology(file)
    assert set(file.parent.iterdir()) - before == {home}
    assert len(list((home / "opilio" / "ontologies").iterdir())) == 1


def test_a_relative_cache_home_is_ignored_as_the_standard_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.user_folder() == tmp_path / ".cache" / "opilio" / "ontologies"
