"""Decides how long a host rests after failures, and when it counts as dead."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple, TypeVar

from opilio.errors import FetchError, Transient, Unusable
from opilio.fetch.answers import retry_after
from opilio.fetch.outage import Outage
from opilio.records import Clock, Response
from opilio.settings import PolitenessSettings

OVERLOADED = frozenset((429, 503))  # the whole host asks for rest, not only this page
REMEMBERED_HOSTS = 20_000
FIRST_WAIT = 10  # times the delay; doubled with every failure in a row
# A host is dead when its failures without a good response in between weigh this much:
# a response that says "later" counts once, silence or an unreachable robots.txt twice.
# Its other links are then parked, so that a crawl does not wait for ever.
DEAD_AFTER = 8
DEAD_FOR = 3500.0  # seconds; then one link of it is tried again
LATER, SILENCE = 1, 2
# Failures that somebody answered with: the network works.
ANSWERS = frozenset(("refused", "robots_unreachable", "tls"))
OFFLINE_REST = 30.0  # seconds between two tries of a host while the network is down

V = TypeVar("V")


class Trouble(NamedTuple):
    """Failures of a host since its last good response."""

    times: int
    weight: int
    at: float  # when it last failed


NO_TROUBLE = Trouble(0, 0, 0.0)


class BackOff:
    """Counts each host's failures in a row, and notices when our network is down."""

    def __init__(self, politeness: PolitenessSettings, now: Clock) -> None:
        self.outage = Outage(politeness.max_rest, now)
        self._politeness = politeness
        self._now = now
        self._failures: OrderedDict[str, Trouble] = OrderedDict()

    def succeeded(self, host: str) -> None:
        """Forget the failures of a host that gave a good response."""
        self._failures.pop(host, None)

    def refuse_dead(self, host: str) -> None:
        """Raise Unusable if a host has failed too often in a row."""
        trouble = self._failures.get(host, NO_TROUBLE)
        is_recent = self._now() - trouble.at < DEAD_FOR
        if trouble.weight >= DEAD_AFTER and is_recent:
            raise Unusable(
                "offline" if self.outage.is_on else "dead_host",
                f"{host} gave no good answer {trouble.times} times in a row",
                contacted=False,
            )

    def after_failure(self, host: str, error: Transient) -> FetchError:
        """The same error with a wait that grows with each failure in a row."""
        if error.reason not in ANSWERS:
            self.outage.silence(host, by_proxy=error.reason == "proxy")
        elif error.contacted:
            self.outage.answer(host)
        if self.outage.is_on:
            return self._while_offline(host, error)
        failures = self._count_failure(host, SILENCE)
        return Transient(
            error.reason,
            str(error),
            after=max(error.after, self._wait(failures)),
            counted=error.counted,
            host_rests=error.host_rests or failures > 1,
            contacted=error.contacted,
        )

    def after_response(self, host: str, response: Response) -> Transient:
        """The error for a response that asks to come back later."""
        status = response.status
        wait = self._wait(self._count_failure(host, LATER))
        asked = retry_after(response)
        if asked is not None:
            wait = min(max(asked, self._politeness.delay), self._politeness.max_rest)
        return Transient(
            f"http_{status}",
            f"{response.url} answered {status}",
            after=wait,
            host_rests=status in OVERLOADED,
        )

    def _while_offline(self, host: str, error: Transient) -> FetchError:
        """The error for a link that waits for our own network. It is not counted; when
        waiting is hopeless, the link is parked until the crawl is resumed."""
        if self.outage.is_hopeless:
            times = self._failures.get(host, NO_TROUBLE).times
            dead = Trouble(times + 1, DEAD_AFTER, self._now())
            remember(self._failures, host, dead)
            return Unusable(
                "offline",
                f"no host could be reached for too long, {host} last: {error}",
                contacted=error.contacted,
            )
        return Transient(
            "proxy" if error.reason == "proxy" else "offline",
            f"no host answers, {host} last ({error}); check the network",
            after=error.after or OFFLINE_REST,
            counted=False,
            host_rests=True,
            contacted=error.contacted,
        )

    def _count_failure(self, host: str, weight: int) -> int:
        times, so_far, _ = self._failures.get(host, NO_TROUBLE)
        trouble = Trouble(times + 1, so_far + weight, self._now())
        remember(self._failures, host, trouble)
        return times + 1

    def _wait(self, failures: int) -> float:
        first = FIRST_WAIT * max(self._politeness.delay, 0.1)
        return min(first * 2.0 ** min(failures - 1, 20), self._politeness.max_rest)


def remember(memory: OrderedDict[str, V], host: str, value: V) -> None:
    """Note something about a host, and forget the host noted longest ago."""
    memory[host] = value
    memory.move_to_end(host)
    if len(memory) > REMEMBERED_HOSTS:
        memory.popitem(last=False)
