"""A synthetic web whose pages change as time passes."""

import msgspec
import pytest

from opilio.lab.synthetic.changes import DAY
from opilio.lab.synthetic.dials import CALM
from opilio.lab.synthetic.server import unless_known
from opilio.lab.synthetic.web import SyntheticAnswer, SyntheticWeb

DIALS = msgspec.structs.replace(CALM, pages=300, hosts=5, changing=0.7)


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def web(clock) -> SyntheticWeb:
    return SyntheticWeb(DIALS, lambda: clock[0])


def test_the_share_of_pages_that_change_is_the_dial(web):
    rates = [web.changes.rate(node) for node in web.nodes()]
    changing = [rate for rate in rates if rate]
    assert 0.6 < len(changing) / len(rates) < 0.8
    assert 1 / 365 <= min(changing) < 0.01 and 5 < max(changing) <= 12


def test_pages_change_as_often_as_their_rates_say(web):
    node = max(web.nodes(), key=web.changes.rate)
    changes = web.changes.version(node, 100 * DAY)
    assert changes == pytest.approx(100 * web.changes.rate(node), rel=0.15)


def test_a_page_stays_as_it_is_until_it_changes(web, clock):
    node = max(web.nodes(), key=web.changes.rate)
    url = web.addresses.page(node)
    first = web.respond(url)
    clock[0] = web.changes.times(node, 0.0)[0] - 1
    assert web.respond(url) == first
    clock[0] += 2
    second = web.respond(url)
    assert second.body != first.body and b"News 1" in second.body
    assert dict(second.headers)["etag"] != dict(first.headers)["etag"]
    clock[0] = 0.0
    assert web.respond(url) == first  # the same each time it is asked


def test_a_web_that_does_not_change_is_as_it_always_was(clock):
    still = SyntheticWeb(CALM, lambda: clock[0])
    url = still.seeds(still.topics[0], 1)[0]
    clock[0] = 900 * DAY
    assert "etag" not in dict(still.respond(url).headers)
    assert b"News" not in still.respond(url).body


ANSWER = SyntheticAnswer(
    200, (("etag", '"a"'), ("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT")), b"page"
)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"if-none-match": '"a"'}, 304),
        ({"if-none-match": '"b", "a"'}, 304),
        ({"if-none-match": '"b"'}, 200),
        ({"if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT"}, 304),
        ({"if-modified-since": "Fri, 02 Jan 1998 00:00:00 GMT"}, 200),
        (
            {
                "if-none-match": '"b"',
                "if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT",
            },
            200,
        ),
    ],
)
def test_the_server_says_304_to_a_client_that_has_the_page(headers, status):
    answer = unless_known(ANSWER, headers)
    assert answer.status == status
    assert bool(answer.body) == (status == 200)
