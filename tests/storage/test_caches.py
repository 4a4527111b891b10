"""What nobody has used for a month leaves the user's caches; what is used stays."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from opilio.fetch.replay import ReplayFetch
from opilio.lab.web_pages import open_atlas
from opilio.records import Response
from opilio.storage import caches
from opilio.store.warc_records import pack_response
from opilio.topic.ontology import load_ontology
from topic.ontologies import PC

DAY = 86_400
HASH, LONG_HASH = "0123456789abcdef" * 2, "0123456789abcdef" * 4


def unused(file: Path, days: float) -> Path:
    """A file that was used last so many days ago."""
    file.touch()
    os.utime(file, (time.time() - days * DAY,) * 2)
    return file


def archive(folder: Path, name: str) -> Path:
    """A WARC file with one page."""
    headers = (("content-type", "text/html"),)
    page = Response(f"http://{name}.test/", 200, headers, b"<title>A</title>", 1e9)
    path = folder / f"{name}.warc.gz"
    path.write_bytes(pack_response(page))
    return path


def age(folder: Path, days: float) -> set[Path]:
    """Let so many days pass; answers the files that are there."""
    return {unused(file, days) for file in folder.iterdir()}


def test_only_old_files_of_the_cache_itself_are_deleted(tmp_path):
    old = unused(tmp_path / "aa.atlas", 31)
    others = {
        unused(tmp_path / "aa.txt", 31),
        unused(tmp_path / "bb.atlas", 29),
        unused(tmp_path / "thesis.atlas", 400),
    }
    (tmp_path / "cc.atlas").mkdir()
    unused(tmp_path / "cc.atlas", 31)
    caches.prune(tmp_path, r"[a-f]+\.atlas")
    assert set(tmp_path.iterdir()) == {*others, tmp_path / "cc.atlas"}
    assert not old.exists()


def test_a_file_that_is_used_is_kept(tmp_path):
    file = unused(tmp_path / "aa.atlas", 31)
    caches.note_use(file)
    caches.prune(tmp_path, r"[a-f]+\.atlas")
    assert file.exists()


def test_what_is_gone_already_is_no_error(tmp_path, monkeypatch):
    caches.note_use(tmp_path / "none")
    caches.prune(tmp_path / "none", ".*")
    first, second = unused(tmp_path / "a", 31), unused(tmp_path / "b", 31)
    delete = Path.unlink

    def late(file: Path) -> None:
        delete(file)
        delete(file)  # as if somebody else had been faster

    monkeypatch.setattr(Path, "unlink", late)
    caches.prune(tmp_path, ".")
    assert not first.exists() and not second.exists()


def test_ontologies_that_nobody_loads_leave_the_cache(tmp_path):
    folder, file = tmp_path / "cache", tmp_path / "pc.ttl"
    file.write_text(PC)
    load_ontology(file, cache_folder=folder)
    [used] = age(folder, 31)
    dead = unused(folder / f"{LONG_HASH}-turtle-1.msgpack", 31)
    draft = unused(folder / f"{LONG_HASH}-turtle-abc123", 31)
    other = unused(folder / "mine.msgpack", 31)
    load_ontology(file, cache_folder=folder)  # which is a use
    file.write_text(PC + ":Mouse a owl:Class .")
    load_ontology(file, cache_folder=folder)
    assert used.exists() and other.exists()
    assert not dead.exists() and not draft.exists()
    assert len(list(folder.iterdir())) == 3


async def test_indexes_that_nobody_opens_leave_the_cache(tmp_path):
    folder = tmp_path / "cache"
    first, second = archive(tmp_path, "a"), archive(tmp_path, "b")
    await ReplayFetch([first], folder).close()
    [used] = age(folder, 31)
    dead = unused(folder / f"{HASH}.index", 31)
    await ReplayFetch([first], folder).close()
    await ReplayFetch([second], folder).close()
    assert used.exists() and not dead.exists()


@pytest.mark.parametrize("reopened", [True, False])
def test_atlases_that_nobody_opens_leave_the_cache(tmp_path, monkeypatch, reopened):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, second = archive(tmp_path, "a"), archive(tmp_path, "b")
    open_atlas([first])
    [atlas] = (tmp_path / "opilio" / "lab").glob("*.atlas")
    age(atlas.parent, 31)
    if reopened:
        open_atlas([first])
    open_atlas([second])
    assert atlas.exists() == reopened


def test_an_atlas_made_anew_prunes_though_its_index_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    warc, folder = archive(tmp_path, "a"), tmp_path / "opilio" / "lab"
    asyncio.run(ReplayFetch([warc], folder).close())
    dead = unused(folder / f"{HASH}.atlas", 31)
    open_atlas([warc])
    assert not dead.exists()
