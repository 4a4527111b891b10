"""Who answers and who does not in; whether our own network is away, and whether it is
still waited for, out."""

from __future__ import annotations

from opilio.records import Clock

# So many hosts silent one after another, and none that answers: it is our own network
# that is away. Then nobody is to blame, and everything waits until it is back.
SILENT_HOSTS = 5
# If so many of them had answered before, that is certain, and it is waited for long.
# Others may as well be dead, all of them, as the last hosts of a crawl often are; or
# the crawl began without a network, and its user is still there to be told.
FALLEN_SILENT = 2
DOUBT = 120.0  # seconds that such hosts are waited for
REMEMBERED_HOSTS = 20_000


class Outage:
    """Whether the network is away, by what was heard of hosts so far."""

    def __init__(self, longest: float, now: Clock) -> None:
        self._longest = longest  # seconds that a network is waited for
        self._now = now
        self._answered: set[str] = set()  # hosts
        self._silent: set[str] = set()  # hosts, since the last answer of anyone
        self._since: float | None = None

    def answer(self, host: str) -> None:
        """Note that somebody answered, whatever it was: the network is there."""
        if self._silent:
            self._silent.clear()
            self._since = None
        if len(self._answered) >= REMEMBERED_HOSTS:
            self._answered.clear()  # those that matter will answer again
        self._answered.add(host)

    def silence(self, host: str, *, by_proxy: bool = False) -> None:
        """Note a host that did not; a proxy that fails stands before all of them."""
        self._silent.add(host)
        if self._since is None and (by_proxy or len(self._silent) >= SILENT_HOSTS):
            self._since = self._now()

    @property
    def was_there(self) -> bool:
        """Has anyone answered at all?"""
        return bool(self._answered)

    @property
    def is_on(self) -> bool:
        """Is the network away now?"""
        return self._since is not None

    @property
    def is_hopeless(self) -> bool:
        """Has it been away for longer than it is waited for?"""
        if self._since is None:
            return False
        fallen = len(self._silent & self._answered)
        patience = self._longest if fallen >= FALLEN_SILENT else DOUBT
        return self._now() - self._since >= min(patience, self._longest)
