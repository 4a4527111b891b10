"""Notes of URLs: only what changed is written, and all of it comes back."""

from hypothesis import given
from hypothesis import strategies as st

from opilio.strategies.shared.notes import Notes

Note = tuple[int, float]


def a_note(number: int) -> Note:
    return number, number / 2


def test_only_what_changed_is_written():
    notes: Notes[Note] = Notes(Note)
    notes[1] = a_note(1)
    notes[2] = a_note(2)
    assert [key for key, _ in notes.changes()] == [1, 2]
    assert list(notes.changes()) == []
    notes[2] = a_note(3)
    assert [key for key, _ in notes.changes()] == [2]


def test_a_dropped_note_is_dropped_for_good():
    notes: Notes[Note] = Notes(Note)
    notes[1] = a_note(1)
    del notes[1]
    assert list(notes.changes()) == [(1, None)]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(0, 9))))
def test_a_folder_of_changes_gives_the_notes_back(steps: list[tuple[int, int]]):
    notes: Notes[Note] = Notes(Note)
    kept: dict[int, bytes] = {}
    for key, number in steps:
        if number:
            notes[key] = a_note(number)
        elif key in notes:
            del notes[key]
        if number % 3 == 0:
            for changed, value in notes.changes():
                if value is None:
                    kept.pop(changed, None)
                else:
                    kept[changed] = value
    for changed, value in notes.changes():
        if value is None:
            kept.pop(changed, None)
        else:
            kept[changed] = value
    again: Notes[Note] = Notes(Note)
    again.recall(kept.items())
    assert again == notes
