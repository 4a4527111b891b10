"""Hosts that a user has blocked or boosted.

A rule for `example.org` holds for that host and every host below it, with any port; a
rule for `example.org:8080` holds for that port alone. The longest rule wins.
"""

from __future__ import annotations

from collections.abc import Mapping

from opilio.text.urls import without_port

BLOCKED = 0.0
ORDINARY = 1.0


class HostRules:
    """The factor by which the promises of a host's links count; 0: it is blocked.

    >>> rules = HostRules({"example.org": BLOCKED, "bees.example.org": 2.0})
    >>> rules.factor("www.example.org"), rules.factor("bees.example.org:8080")
    (0.0, 2.0)
    >>> rules.factor("example.com")
    1.0
    """

    def __init__(self, factors: Mapping[str, float] | None = None) -> None:
        self.factors = dict(factors or {})

    def factor(self, host: str) -> float:
        """The factor of the longest rule that holds for a host."""
        if not self.factors:
            return ORDINARY
        name = without_port(host)
        port = host[len(name) + 1 :]
        while name:
            for rule in (f"{name}:{port}", name) if port else (name,):
                if rule in self.factors:
                    return self.factors[rule]
            name = name.partition(".")[2]
        return ORDINARY


def lifted(promise: float, factor: float) -> float:
    """What a promise counts for by a factor; one below 0 rises towards 0.

    >>> lifted(0.25, 2.0), lifted(-3.0, 2.0)
    (0.5, -1.5)
    """
    return promise * factor if promise >= 0 else promise / factor
