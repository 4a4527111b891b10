"""How many hosts rest: those that asked for it, not those that were just visited."""

from hypothesis import given
from hypothesis import strategies as st

from frontier.frontier_play import HandClock, Make, found, take
from opilio.frontier.host_schedule import HostSchedule
from opilio.frontier.hosts import LONG_AGO, RegisteredDomain
from opilio.frontier.link_columns import LinkColumns
from opilio.frontier.memory import MemoryLedger
from opilio.frontier.standing import DomainStanding
from opilio.records import State
from opilio.settings import PolitenessSettings


async def test_a_pause_between_two_visits_is_no_rest(make: Make, clock: HandClock):
    frontier = make(PolitenessSettings(delay=10.0))
    await frontier.add([found("a/1"), found("a/2")])
    await frontier.done(await take(frontier), State.KEPT)
    assert frontier.counts().resting == 0


async def test_a_host_rests_also_without_links_that_wait(make: Make, clock: HandClock):
    frontier = make()
    await frontier.add([found("a/1"), found("b/1")])
    await frontier.pace("a.test", rest=100.0, why="http_503")
    await frontier.done(await take(frontier), State.KEPT)
    await frontier.pace("b.test", rest=50.0, why="http_429")
    assert frontier.counts().resting == 2
    clock.pass_by(60.0)
    assert frontier.counts().resting == 1
    clock.pass_by(60.0)
    assert frontier.counts().resting == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 3))))
def test_hosts_at_rest_are_counted_as_a_look_at_all_of_them_would(play):
    turns, now = (
        HostSchedule(
            LinkColumns(),
            PolitenessSettings(),
            DomainStanding(MemoryLedger(), 0),
            LONG_AGO,
        ),
        0.0,
    )
    for number in range(4):
        turns.add(f"{number}.test", RegisteredDomain(f"{number}.test"))
    for number, rest, passed in play:
        turns.pace(turns.by_name[f"{number}.test"], now, rest=float(rest))
        now += passed
        resting = [host for host in turns.hosts if host.rest_until > now]
        assert turns.count_resting(now) == len(resting)
