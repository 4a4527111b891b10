"""Predicts redirects from earlier ones, so that no request is spent on a moved URL.

Most redirects of a site follow a few rules: from http to https, from `/docs` to
`/docs/` or the other way round, from `/docs/index.html` to `/docs/`. A rule holds for a
host once it was seen there `SEEN` times and never broken: it is broken by a URL that
answers with a page although the rule says that it moved. One redirect is enough for the
rule from http to https; if three hosts of a domain follow it and none breaks it, the
other hosts are expected to follow it too.

A rule may be wrong: see `doubt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from opilio.records import Fingerprint
from opilio.text import urls

SEEN = 2  # redirects that make a rule
HOSTS = 3  # of a domain that make the https rule hold for all its hosts
MOST = 50_000  # hosts that are remembered
MOST_DOUBTED = 10_000

_INDEX = re.compile(r"/index\.(html?|php)$")
_NAME = re.compile(r"/[^/.]+$")
_FOLDER = re.compile(r"[^/]/$")


def _https(url: str) -> str:
    """The same address by https; default ports only."""
    if not url.startswith("http://") or ":" in urls.host(url):
        return ""
    return "https" + url[4:]


def _without_index(url: str) -> str:
    return _INDEX.sub("/", url) if _INDEX.search(url) else ""


def _with_slash(url: str) -> str:
    return url + "/" if _has_path(url) and _NAME.search(url) else ""


def _without_slash(url: str) -> str:
    return url[:-1] if _has_path(url) and _FOLDER.search(url) else ""


def _has_path(url: str) -> bool:
    return (url.count("/") > 3 or not url.endswith("/")) and "?" not in url


RULES = {
    "https": _https,
    "index": _without_index,
    "slash": _with_slash,
    "no_slash": _without_slash,
}


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """What is stored across restarts."""

    seen: dict[str, dict[str, int]]  # host -> rule -> redirects; -1: it was broken
    domains: dict[str, int]  # domain -> hosts that lead to https; -1: one does not


class ExpectedRedirects:
    """Learns the rules of hosts from their answers."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, int]] = {}
        self._domains: dict[str, int] = {}
        self._doubted: set[Fingerprint] = set()
        self._is_new = False

    def note(self, url: str, target: str) -> None:
        """Note that a URL redirects to another."""
        for rules in _explanations(url, target):
            for rule in rules:
                self._count(urls.host(url), rule)
            return

    def note_page(self, url: str) -> None:
        """Note that a URL answered with a page, which breaks rules that it moved."""
        host = urls.host(url)
        known = self._seen.get(host, {})
        for rule, move in RULES.items():
            is_open = (rule == "https" or rule in known) and known.get(rule) != -1
            if is_open and move(url):
                self._break(host, rule)

    def expect(self, url: str, fingerprint: Fingerprint) -> str:
        """The predicted redirect target of a URL; "": none."""
        host = urls.host(url)
        if not self._domains and host not in self._seen:  # as on most sites
            return ""
        if fingerprint in self._doubted:
            return ""
        found = url
        for rule, move in RULES.items():
            if self._holds(host, rule):
                found = move(found) or found
        return found if found != url else ""

    def doubt(self, fingerprint: Fingerprint) -> None:
        """The prediction for this URL was wrong: request it next time."""
        if len(self._doubted) < MOST_DOUBTED:
            self._doubted.add(fingerprint)

    def dump(self) -> bytes | None:
        """What was learnt, if there is something new."""
        if not self._is_new:
            return None
        self._is_new = False
        return msgspec.msgpack.encode(Kept(self._seen, self._domains))

    def load(self, learnt: bytes) -> None:
        """Restore what was learnt before."""
        kept = msgspec.msgpack.decode(learnt, type=Kept)
        self._seen, self._domains = kept.seen, kept.domains

    def _holds(self, host: str, rule: str) -> bool:
        count = self._seen.get(host, {}).get(rule, 0)
        if rule != "https":
            return count >= SEEN
        return count > 0 or (
            count == 0 and self._domains.get(urls.domain(host), 0) >= HOSTS
        )

    def _count(self, host: str, rule: str) -> None:
        known = self._seen.get(host)
        if known is None:
            if len(self._seen) >= MOST:
                return
            known = self._seen[host] = {}
        before = known.get(rule, 0)
        if not 0 <= before < SEEN:
            return
        known[rule] = before + 1
        self._is_new = True
        domain = urls.domain(host)
        if rule == "https" and not before and self._domains.get(domain, 0) >= 0:
            self._domains[domain] = self._domains.get(domain, 0) + 1

    def _break(self, host: str, rule: str) -> None:
        if host in self._seen or len(self._seen) < MOST:
            self._seen.setdefault(host, {})[rule] = -1
        if rule == "https":
            self._domains[urls.domain(host)] = -1
        self._is_new = True


def _explanations(url: str, target: str) -> Iterator[tuple[str, ...]]:
    """The rules that turn one URL into another: one, or https and another."""
    for rule, move in RULES.items():
        moved = move(url)
        if moved == target:
            yield (rule,)
        elif rule == "https" and moved:
            for second, move_on in RULES.items():
                if move_on(moved) == target:
                    yield (rule, second)
