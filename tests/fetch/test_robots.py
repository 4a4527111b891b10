"""robots.txt by RFC 9309: what each answer means, and how long."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from itertools import pairwise

import pytest

from opilio.errors import Transient, Unusable
from opilio.fetch import robots as robots_module
from opilio.fetch.robots import MAX_BYTES, Robots, cut, product_token
from opilio.fetch.robots_rules import read_rules
from opilio.records import Response, RobotsRecord
from opilio.storage.database import open_database
from opilio.store.robots import SqliteRobots

ORIGIN = "http://example.test"
URL = f"{ORIGIN}/robots.txt"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


class Web:
    """Answers requests from a table; counts them; has a clock."""

    def __init__(self):
        self.answers = {}
        self.asked = defaultdict(int)
        self.time = 1_700_000_000.0

    def now(self):
        return self.time

    def serve(self, url, status=200, body=b"", truncated="", **headers):
        lines = tuple((k.replace("_", "-"), v) for k, v in headers.items())
        self.answers[url] = Response(
            url, status, lines, body, self.time, truncated=truncated
        )

    async def get(self, url, *, max_bytes):
        self.asked[url] += 1
        await asyncio.sleep(0)
        answer = self.answers.get(url)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return Response(url, 503, (), b"", self.time)
        return answer


@pytest.fixture
def web():
    return Web()


@pytest.fixture
def memory(tmp_path):
    db = open_database(tmp_path / "crawl.db")
    yield SqliteRobots(db)
    db.close()


@pytest.fixture
def robots(web, memory):
    return Robots(web.get, memory, "Opilio/1.0 (focused crawler)", web.now)


async def test_rules_are_asked_for_once_a_day(web, robots):
    web.serve(URL, body=b"User-agent: *\nDisallow: /private\nCrawl-delay: 2.5\n")
    rules = await robots.rules(ORIGIN)
    assert rules.fresh
    assert rules.allows(f"{ORIGIN}/public?x=1")
    assert not rules.allows(f"{ORIGIN}/private/page")
    assert rules.allows(URL)
    assert rules.delay == 2.5
    web.time += DAY - 1
    assert not (await robots.rules(ORIGIN)).fresh
    assert web.asked[URL] == 1
    web.time += 1
    assert (await robots.rules(ORIGIN)).fresh
    assert web.asked[URL] == 2


async def test_a_restart_neither_forgets_nor_asks_again(web, robots, memory):
    web.serve(URL, body=b"User-agent: *\nDisallow: /private\n")
    await robots.rules(ORIGIN)
    again = Robots(web.get, memory, "opilio", web.now)
    rules = await again.rules(ORIGIN)
    assert not rules.fresh
    assert not rules.allows(f"{ORIGIN}/private")
    assert web.asked[URL] == 1


async def test_a_clock_set_back_makes_no_rules_eternal(web, robots):
    web.serve(URL, body=b"")
    await robots.rules(ORIGIN)
    web.time -= 30 * DAY
    assert (await robots.rules(ORIGIN)).fresh


async def test_concurrent_calls_make_one_request(web, robots):
    web.serve(URL, body=b"User-agent: *\nDisallow: /x\n")
    answers = await asyncio.gather(*(robots.rules(ORIGIN) for _ in range(20)))
    assert web.asked[URL] == 1
    assert sum(rules.fresh for rules in answers) == 1
    assert not any(rules.allows(f"{ORIGIN}/x") for rules in answers)


async def test_a_cancelled_call_leaves_the_others_alone(web, robots):
    web.serve(URL, body=b"")
    first = asyncio.create_task(robots.rules(ORIGIN))
    second = asyncio.create_task(robots.rules(ORIGIN))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).allows(f"{ORIGIN}/x")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_an_unavailable_file_allows_everything(web, robots, status):
    web.serve(URL, status, b"User-agent: *\nDisallow: /\n")
    rules = await robots.rules(ORIGIN)
    assert rules.allows(f"{ORIGIN}/anything")
    assert rules.delay is None
    web.time += DAY - 1
    assert not (await robots.rules(ORIGIN)).fresh


def unreachable_ways():
    return {
        "429": Response(URL, 429, (), b"", 0.0),
        "500": Response(URL, 500, (), b"", 0.0),
        "503": Response(URL, 503, (), b"", 0.0),
        "a connection that breaks": Response(
            URL, 200, (), b"User-agent: *\n", 0.0, truncated="disconnect"
        ),
        "a body that takes too long": Response(
            URL, 200, (), b"", 0.0, truncated="time"
        ),
        "a body that is not what it says": Unusable("bad_encoding", "not gzip"),
    }


@pytest.mark.parametrize("way", unreachable_ways())
async def test_an_unreachable_file_allows_nothing_for_now(web, robots, way):
    web.answers[URL] = unreachable_ways()[way]
    with pytest.raises(Transient) as caught:
        await robots.rules(ORIGIN)
    error = caught.value
    assert error.reason == "robots_unreachable"
    assert (error.after, error.counted, error.host_rests) == (MINUTE, False, True)
    assert error.contacted


async def test_a_host_that_is_silent_is_not_called_a_failing_file(web, robots, memory):
    web.answers[URL] = Transient("refused", "refused", after=5.0)
    with pytest.raises(Transient) as caught:
        await robots.rules(ORIGIN)
    assert (caught.value.reason, caught.value.counted) == ("refused", True)
    assert memory.load(ORIGIN) is None


async def test_an_unreachable_file_is_asked_for_at_growing_intervals(web, robots):
    waits = []
    for _ in range(9):
        with pytest.raises(Transient) as caught:
            await robots.rules(ORIGIN)
        waits.append(caught.value.after)
        web.time += caught.value.after
    minutes = [wait / MINUTE for wait in waits]
    assert minutes == [1, 2, 4, 8, 16, 32, 60, 60, 60]


async def test_between_two_attempts_nothing_is_asked(web, robots, memory):
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)
    web.time += 20
    for each in (robots, Robots(web.get, memory, "opilio", web.now)):
        with pytest.raises(Transient) as caught:
            await each.rules(ORIGIN)
        assert caught.value.after == 40
        assert not caught.value.contacted
    assert web.asked[URL] == 1


async def test_a_server_may_name_a_longer_wait(web, robots):
    web.serve(URL, 503, retry_after="1800")
    with pytest.raises(Transient) as caught:
        await robots.rules(ORIGIN)
    assert caught.value.after == 1800


async def test_failures_end_with_the_first_answer(web, robots, memory):
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)
    web.time += MINUTE
    web.serve(URL, body=b"")
    assert (await robots.rules(ORIGIN)).allows(f"{ORIGIN}/x")
    assert memory.load(ORIGIN).failures == 0


async def test_after_thirty_days_the_last_copy_holds_again(web, robots):
    web.serve(URL, body=b"User-agent: *\nDisallow: /private\n")
    await robots.rules(ORIGIN)
    del web.answers[URL]
    web.time += 40 * DAY  # nobody asked; it is unreachable only from now on
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)
    web.time += 29 * DAY
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)
    web.time += 1 * DAY
    rules = await robots.rules(ORIGIN)
    assert rules.allows(f"{ORIGIN}/public")
    assert not rules.allows(f"{ORIGIN}/private")


async def test_after_thirty_days_without_any_copy_all_is_allowed(web, robots):
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)
    web.time += 30 * DAY
    assert (await robots.rules(ORIGIN)).allows(f"{ORIGIN}/x")


@pytest.mark.parametrize("reason", ["blocked_address", "dns", "tls"])
async def test_an_origin_that_cannot_be_visited_is_said_to_be_so(web, robots, reason):
    web.answers[URL] = Unusable(reason, "no way", contacted=False)
    with pytest.raises(Unusable) as caught:
        await robots.rules(ORIGIN)
    assert caught.value.reason == reason


async def test_redirects_are_followed_across_hosts(web, robots):
    web.serve(URL, 301, location="https://example.test/robots.txt")
    web.serve("https://example.test/robots.txt", 302, location="//other.test/r")
    web.serve("https://other.test/r", body=b"User-agent: *\nDisallow: /a\n")
    rules = await robots.rules(ORIGIN)
    assert not rules.allows(f"{ORIGIN}/a")
    assert rules.allows(f"{ORIGIN}/b")


@pytest.mark.parametrize(("hops", "obeyed"), [(5, True), (6, False)])
async def test_five_redirects_are_followed_and_no_more(web, robots, hops, obeyed):
    urls = [URL, *(f"{ORIGIN}/{hop}" for hop in range(hops))]
    for url, following in pairwise(urls):
        web.serve(url, 308, location=following)
    web.serve(urls[-1], body=b"User-agent: *\nDisallow: /\n")
    rules = await robots.rules(ORIGIN)
    assert rules.allows(f"{ORIGIN}/x") != obeyed
    assert sum(web.asked.values()) == 6


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://x.test/", "http://["]
)
async def test_a_redirect_to_nowhere_makes_the_file_unavailable(web, robots, location):
    web.serve(URL, 302, location=location)
    assert (await robots.rules(ORIGIN)).allows(f"{ORIGIN}/x")
    assert sum(web.asked.values()) == 1


async def test_a_redirect_to_a_blocked_address_makes_it_unreachable(web, robots):
    web.serve(URL, 302, location="http://169.254.169.254/")
    web.answers["http://169.254.169.254/"] = Unusable("blocked_address", "private")
    with pytest.raises(Transient):
        await robots.rules(ORIGIN)


async def test_memory_is_bounded(web, robots, monkeypatch):
    monkeypatch.setattr(robots_module, "CACHED_ORIGINS", 10)
    monkeypatch.setattr(robots_module, "CACHED_RULES", 500)
    rules = b"".join(b"Disallow: /x%d\n" % number for number in range(100))
    body = b"User-agent: *\n" + rules
    for number in range(30):
        web.serve(f"http://h{number}.test/robots.txt", body=body)
        await robots.rules(f"http://h{number}.test")
    assert len(robots.cache) == 5
    assert robots.cached_rules == 500
    for number in range(30):
        web.serve(f"http://i{number}.test/robots.txt", 404)
        await robots.rules(f"http://i{number}.test")
    assert len(robots.cache) == 10
    assert robots.cached_rules == 0
    assert len(robots.locks) == 0
    assert not (await robots.rules("http://h3.test")).fresh  # it is in the database


async def test_a_huge_file_is_cut_and_still_obeyed(web, robots):
    lines = b"".join(b"Disallow: /n%06d\n" % n for n in range(300_000))
    web.serve(URL, body=b"User-agent: *\nDisallow: /first\n" + lines)
    rules = await robots.rules(ORIGIN)
    assert not rules.allows(f"{ORIGIN}/first")
    assert not rules.allows(f"{ORIGIN}/n299999")  # forbidden, or cut: not visited


def test_a_file_is_cut_at_the_end_of_a_line():
    body = b"Disallow: /some/path\n" * (MAX_BYTES // 10)
    assert len(cut(body)) <= MAX_BYTES
    assert cut(body).endswith(b"/path\n")
    assert cut(b"x" * MAX_BYTES) == b""
    assert cut(b"Disallow: /") == b"Disallow: /"


def test_the_product_token_is_the_first_word_of_the_user_agent():
    assert product_token("Opilio/0.1 (focused crawler)") == "opilio"
    assert product_token("My-Bot_x (+http://x)") == "my-bot_x"


# A file, a path, whether a robot called opilio may visit it.
CASES = {
    "the longest match wins": ("*\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
    "allow wins a tie": ("*\nDisallow: /a\nAllow: /a", "/a", True),
    "a star matches anything": ("*\nDisallow: /*.gif", "/x/y.gif?z", False),
    "a dollar ends the path": ("*\nDisallow: /x$", "/x/y", True),
    "an empty rule is none": ("*\nDisallow:", "/", True),
    "escapes are compared decoded": ("*\nDisallow: /caf%C3%A9", "/café", False),
    "our name in capitals": ("OPILIO\nDisallow: /", "/", False),
    "our name with a version": ("opilio/2.0\nDisallow: /", "/", False),
    "a longer name is not ours": ("opilio-news\nDisallow: /", "/", True),
    "a shorter name is not ours": ("opil\nDisallow: /", "/", True),
    "our group replaces the star's": (
        "*\nDisallow: /\nUser-agent: opilio\nDisallow: /a",
        "/b",
        True,
    ),
    "two groups for us are one": (
        "opilio\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\n"
        "User-agent: Opilio\nDisallow: /b",
        "/b",
        False,
    ),
    "a group may have several names": (
        "x\nUser-agent: opilio\nDisallow: /b",
        "/b",
        False,
    ),
    "a comment is no rule": ("*\n#Disallow: /\nDisallow: /x # why", "/x", False),
    "rules are case-sensitive": ("*\nDisallow: /A", "/a", True),
    "robots.txt is always allowed": ("*\nDisallow: /", "/robots.txt", True),
}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a mark"])
@pytest.mark.parametrize("case", CASES)
def test_rules_are_matched_as_the_standard_says(case, mark):
    lines, path, allowed = CASES[case]
    parsed = read_rules(mark + f"User-agent: {lines}\n".encode(), "opilio")
    assert parsed.allows(ORIGIN + path) is allowed


def test_bytes_that_are_no_text_do_no_harm():
    read_rules(bytes(range(256)) * 100, "opilio")


def test_records_survive_the_database(memory):
    record = RobotsRecord(ORIGIN, "rules", 1.5, 2.5, b"\0\xff", 3)
    assert memory.load(ORIGIN) is None
    memory.save(record)
    memory.save(record)
    assert memory.load(ORIGIN) == record
