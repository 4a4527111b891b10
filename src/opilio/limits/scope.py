"""Decides which URLs belong to a crawl, by the rules of the topic's [scope]."""

from __future__ import annotations

import fnmatch
import re
import string
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import quote

from opilio import settings
from opilio.errors import BadInput
from opilio.text.urls import host, join, without_port


class Scope:
    """Which URLs belong to a crawl; BadInput if a rule names no host."""

    def __init__(self, rules: settings.ScopeSettings) -> None:
        self._within = _hosts(rules.domains, "scope.domains")
        self._without = _hosts(rules.exclude_domains, "scope.exclude_domains")
        # The patterns of fnmatch are atomic, so no number of stars makes them slow.
        self._paths = [
            re.compile(fnmatch.translate(quote(pattern, string.punctuation))).match
            for pattern in rules.exclude_paths
        ]
        self.is_limited = bool(self._within or self._without or self._paths)

    def allows(self, url: str) -> bool:
        """Whether a canonical URL belongs to the crawl."""
        if self._within or self._without:
            names = _names(host(url))
            if self._within and self._within.isdisjoint(names):
                return False
            if not self._without.isdisjoint(names):
                return False
        if not self._paths:
            return True
        target = url[url.index("/", 8) :]
        path = target.partition("?")[0]
        return not any(match(path) or match(target) for match in self._paths)


def _hosts(names: Iterable[str], setting: str) -> frozenset[str]:
    """Hosts as canonical URLs spell them: `*.Bücher.de` as `xn--bcher-kva.de`."""
    hosts = set()
    for name in names:
        bare = name.strip().removeprefix("*").removeprefix(".")
        url = join("", f"http://{bare}/")
        if not url or url.count("/") > 3 or "?" in url:
            raise BadInput(
                f"{setting}: {name!r} is not a host; write it like 'example.org'"
            )
        hosts.add(host(url))
    return frozenset(hosts)


@lru_cache(maxsize=2**12)
def _names(host: str) -> tuple[str, ...]:
    """A host, also without its port, and all domains above it."""
    name = without_port(host)
    labels = [] if name.startswith("[") else name.split(".")
    above = [".".join(labels[start:]) for start in range(1, len(labels))]
    return (host, name, *above)
