"""How many pages each phase of the evolver may have."""

from hypothesis import given
from hypothesis import strategies as st

from opilio.sites.shares import shares

TRIED = st.dictionaries(
    st.integers(1, 3),
    st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda n: (min(n), max(n))),
    min_size=1,
)


def test_to_the_letter_the_first_phase_that_has_links_gets_all():
    """C.5-8: "a phase runs while it yields a URL with S_2>0, then the next"."""
    assert shares(60, {1: (0, 0), 2: (0, 0), 3: (0, 0)}, "paper") == {1: 60}
    assert shares(7, {2: (0, 0), 3: (0, 0)}, "paper") == {2: 7}


def test_at_first_half_of_the_pages_go_to_all_phases_alike():
    nothing = {1: (0, 0), 2: (0, 0), 3: (0, 0)}
    assert shares(60, nothing) == {1: 10, 2: 10, 3: 10}
    assert shares(1, nothing) == {1: 1}


def test_then_a_phase_has_as_much_as_it_used_well():
    given = shares(30, {1: (9, 10), 2: (0, 10), 3: (4, 10)})
    assert given == {1: 19, 2: 2, 3: 9}  # as 10 to 1 to 5


def test_a_phase_that_is_left_alone_has_the_rest():
    assert shares(60, {3: (0, 0)}) == {3: 60}
    assert shares(20, {2: (0, 10)}) == {2: 20}


@given(st.integers(1, 500), TRIED, st.sampled_from(["fixed", "paper"]))
def test_what_is_given_is_never_nothing_and_never_too_much(pages, tried, mode):
    given_now = shares(pages, tried, mode)
    assert set(given_now) <= set(tried)
    assert all(share > 0 for share in given_now.values())
    is_first = not any(asked for _, asked in tried.values())
    whole = pages if mode == "paper" or not is_first or len(tried) == 1 else pages / 2
    assert whole <= sum(given_now.values()) <= pages
