"""What learning judges keep: after a restart they judge on as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.learning_pages import crawl, make, subject
from opilio.judge import Bootstrapped, Learning, Linear
from opilio.judge.snapshots import CHUNK, PAGES
from opilio.protocols import Learner

EXAMPLES = [make("sky", number, silent=True) for number in range(1000, 1010)]
MAKES: dict[str, Callable[[], Learning]] = {
    "bootstrapped": lambda: Bootstrapped(subject()),
    "linear": lambda: Linear(subject(relevant=EXAMPLES)),
}
Kept = dict[str, bytes]


def commit(judge: Learning, kept: Kept) -> int:
    """Keep what is new, as a crawl does; how many bytes that were."""
    found = {name: part.dump() for name, part in judge.learners().items()}
    new = {name: dumped for name, dumped in found.items() if dumped is not None}
    kept.update(new)
    return sum(map(len, new.values()))


def restarted(name: str, kept: Kept) -> Learning:
    judge = MAKES[name]()
    for part, learner in judge.learners().items():
        if part in kept:
            learner.load(kept[part])
    return judge


@pytest.mark.parametrize("name", MAKES)
@settings(max_examples=5, deadline=None)
@given(
    stops=st.lists(st.integers(1, 80), min_size=1, max_size=4), lost=st.integers(0, 9)
)
def test_a_judge_that_was_killed_goes_on_as_one_that_was_not(
    name: str, stops: list[int], lost: int
):
    if name == "linear":
        pytest.importorskip("sklearn")
    pages = crawl(sum(stops) + 60)
    whole = MAKES[name]()
    scores = [whole.judge(page).score for page in pages]
    broken, kept, place = MAKES[name](), {}, 0
    for stop in stops:
        for page in pages[place : place + stop]:
            broken.judge(page)
        place += stop
        commit(broken, kept)
        for page in pages[place : place + lost]:  # these are not committed
            broken.judge(page)
        broken = restarted(name, kept)
    assert [broken.judge(page).score for page in pages[place:]] == scores[place:]


def test_parts_of_a_judge_are_learners():
    judge = Bootstrapped(subject())
    assert all(isinstance(part, Learner) for part in judge.learners().values())
    assert len(judge.learners()) == 1 + PAGES // CHUNK


def test_nothing_is_written_when_nothing_is_new():
    judge = MAKES["bootstrapped"]()
    kept: Kept = {}
    assert commit(judge, kept) == 0
    for page in crawl(40):
        judge.judge(page)
    assert commit(judge, kept) > 0
    assert commit(judge, kept) == 0


def test_a_page_between_two_snapshots_costs_about_its_own_size():
    judge = MAKES["bootstrapped"]()
    kept: Kept = {}
    for page in crawl(400):
        judge.judge(page)
        commit(judge, kept)
    snapshot = len(kept["judge"])
    judge.judge(make("sky", 9000))
    assert commit(judge, kept) < snapshot / 5


def test_a_snapshot_is_taken_before_the_journal_is_full():
    judge = MAKES["bootstrapped"]()
    judge.sample.next_fit = 10**9  # it learns nothing, so nothing else makes one due
    kept: Kept = {}
    for page in crawl(PAGES + 5):
        judge.judge(page)
        commit(judge, kept)
    again = restarted("bootstrapped", kept)
    assert again.journal.since == PAGES
    assert again.sample.rarity.pages == PAGES + 5
    assert [seen.number for seen in again.sample.any] == [
        seen.number for seen in judge.sample.any
    ]


def test_a_judge_for_new_keywords_goes_on_with_what_was_learnt():
    before = MAKES["bootstrapped"]()
    for page in crawl(600):
        before.judge(page)
    judge = MAKES["bootstrapped"]()
    judge.follow(before)
    silent, other = make("sky", 9001, silent=True), make("sea", 9001)
    assert judge.look(silent).relevant
    assert not judge.look(other).relevant
    kept: Kept = {}
    commit(judge, kept)
    again = restarted("bootstrapped", kept)
    assert again.look(silent) == judge.look(silent)


def test_the_journal_of_a_judge_before_is_not_taken_for_ones_own():
    before, kept = MAKES["bootstrapped"](), {}
    for page in crawl(25):
        before.judge(page)
        commit(before, kept)
    judge = MAKES["bootstrapped"]()
    judge.follow(before)
    commit(judge, kept)
    assert restarted("bootstrapped", kept).sample.rarity.pages == 25
