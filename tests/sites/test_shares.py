"""How many pages each phase of the evolver may have."""

from hypothesis import given
from hypothesis import strategies as st

from opilio.sites.phase_shares import shares_of_phases


def test_to_the_letter_the_first_phase_that_has_links_gets_all():
    """C.5-8: "a phase runs while it yields a URL with S_2>0, then the next"."""
    assert shares_of_phases(60, [1, 2, 3], "paper") == {1: 60}
    assert shares_of_phases(7, [2, 3], "paper") == {2: 7}


def test_else_all_phases_have_as_much():
    assert shares_of_phases(60, [1, 2, 3]) == {1: 20, 2: 20, 3: 20}
    assert shares_of_phases(5, [2, 3]) == {2: 3, 3: 2}
    assert shares_of_phases(1, [1, 2, 3]) == {1: 1}


@given(st.integers(1, 500), st.integers(1, 3), st.sampled_from(["fixed", "paper"]))
def test_all_pages_are_given_and_nobody_gets_none(pages, phases, mode):
    found = shares_of_phases(pages, range(phases), mode)
    assert sum(found.values()) == pages
    assert all(share > 0 for share in found.values())
