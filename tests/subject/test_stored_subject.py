"""The compiled topic is kept in the layout of version 0.1."""

from pathlib import Path

import msgspec
import pytest

from old_crawls import CRAWLS
from opilio.records import ReaderSetup, Reads, Subject
from opilio.subject.compile import PARTS, setup_for
from opilio.subject.stored_subject import load_subject, save_subject


def within(old: object, new: object) -> bool:
    """Whether everything of the old tables is in the new ones, which may have more."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(key in new and within(value, new[key]) for key, value in old.items())
    return old == new


@pytest.mark.parametrize("name", ["bees", "computers"])
def test_a_file_of_version_0_1_is_written_again_with_all_that_is_in_it(
    name: str, tmp_path: Path
):
    before = CRAWLS / name / "models/brief.msgpack"
    subject = load_subject(before)
    save_subject(subject, tmp_path / "brief.msgpack")
    old = msgspec.msgpack.decode(before.read_bytes())
    new = msgspec.msgpack.decode((tmp_path / "brief.msgpack").read_bytes())
    assert within(old, new)
    assert subject.terms
    assert subject.weights


def test_every_part_of_a_page_that_somebody_reads_is_asked_of_the_readers():
    assert {"context", "blocks", "words", "headings", "sequence"} <= set(PARTS)
    flags = {
        name
        for name, default in zip(
            ReaderSetup.__struct_fields__[2:],
            ReaderSetup.__struct_defaults__,
            strict=True,
        )
        if isinstance(default, bool)
    }
    assert flags - {"overlapping"} == set(PARTS)
    for part in PARTS:
        setup = setup_for(Subject(), Reads(**{part: True}))
        assert [name for name in PARTS if getattr(setup, name)] == [part]
