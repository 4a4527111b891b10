"""What the catalogue knows without asking the database."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opilio.store.catalogue import Ids

ids = st.sets(st.integers(0, 100_000))


@given(ids, ids)
def test_a_set_of_ids_holds_what_was_added_and_nothing_else(
    added: set[int], others: set[int]
) -> None:
    kept = Ids()
    for id in (*added, *added):
        kept.add(id)
    assert all(id in kept for id in added)
    assert not any(id in kept for id in others - added)
