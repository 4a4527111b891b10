"""Notices when our own network is down, by which hosts answer and which do not."""

from __future__ import annotations

from opilio.records import Clock

# If this many hosts in succession are silent and none answers, our own network is down.
# Then no failure is counted, and everything waits until the network is back.
SILENT_HOSTS = 5
# If this many of them had answered before, that is certain, and the wait may be long.
# Otherwise all of them may be dead, as the last hosts of a crawl often are; or the
# crawl began without a network, and its user should be told soon.
FALLEN_SILENT = 2
DOUBT = 120.0  # seconds to wait in these cases
REMEMBERED_HOSTS = 20_000


class Outage:
    """Whether the network is down, judged by the hosts so far."""

    def __init__(self, longest: float, now: Clock) -> None:
        self._longest = longest  # seconds to wait for the network
        self._now = now
        self._answered: set[str] = set()  # hosts
        self._silent: set[str] = set()  # hosts, since any host last answered
        self._since: float | None = None

    def answer(self, host: str) -> None:
        """Note that a host answered, in whatever way: the network works."""
        if self._silent:
            self._silent.clear()
            self._since = None
        if len(self._answered) >= REMEMBERED_HOSTS:
            self._answered.clear()  # hosts that are still visited will answer again
        self._answered.add(host)

    def silence(self, host: str, *, by_proxy: bool = False) -> None:
        """Note a host that did not answer; a failing proxy affects all hosts."""
        self._silent.add(host)
        if self._since is None and (by_proxy or len(self._silent) >= SILENT_HOSTS):
            self._since = self._now()

    @property
    def was_there(self) -> bool:
        """Whether any host has answered so far."""
        return bool(self._answered)

    @property
    def is_on(self) -> bool:
        """Whether the network is down now."""
        return self._since is not None

    @property
    def is_hopeless(self) -> bool:
        """Whether it has been down for too long to wait any longer."""
        if self._since is None:
            return False
        fallen = len(self._silent & self._answered)
        patience = self._longest if fallen >= FALLEN_SILENT else DOUBT
        return self._now() - self._since >= min(patience, self._longest)
