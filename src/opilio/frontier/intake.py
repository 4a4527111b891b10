"""Adds found links to the frontier: recognises known ones and refuses unwanted ones.

A link is 1. known: better evidence replaces the old; 2. new: stored, and waiting unless
it is refused. A refusal holds for the place where the link was found (`nofollow`,
reasons of the strategy) or for the path to it (`trap_depth`), so a refused link that is
later found without a reason waits like a new one. All other traps are in the URL
itself; only the beginning of a URL that is too long is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from opilio.frontier import sort_keys
from opilio.frontier.hosts import RegisteredDomain
from opilio.frontier.ledger import Cells, Ledger, PromiseEvidence, parts_text
from opilio.frontier.link_columns import DISPLACED, LinkMode
from opilio.frontier.link_queue import LinkQueue
from opilio.frontier.traps import trap
from opilio.frontier.url_templates import Novelty, TemplateCount
from opilio.records import SEED_PROMISE, Fingerprint, Lease, Link, Ranked, State
from opilio.settings import BoundsSettings
from opilio.storage.seen_urls import SeenUrls
from opilio.text.urls import domain as domain_of
from opilio.text.urls import host as host_of
from opilio.text.urls import template as template_of

MANY = 50  # links from which on it is faster to look at all of them at once


class Trail(NamedTuple):
    """How far a link is from a seed."""

    found_on: int = 0
    depth: int = 0
    redirects: int = 0

    @classmethod
    def of(cls, via: Lease | None, redirect: bool) -> Trail:
        """The distance of the links on a lease's page."""
        if via is None:
            return cls()
        if redirect:
            return cls(via.id, via.depth, via.redirects + 1)
        return cls(via.id, via.depth + 1)


class Intake:
    """Stores links and queues the wanted ones."""

    def __init__(
        self,
        queue: LinkQueue,
        ledger: Ledger,
        bounds: BoundsSettings,
        expected: int = 0,
    ) -> None:
        self._queue = queue
        self._standing = queue.turns.standing
        self._links = queue.links
        self._ledger = ledger
        self._bounds = bounds
        # Links in later modes stay as they are, whatever is found.
        self._last = LinkMode.CROWDED if bounds.capacity else LinkMode.REFUSED
        self.known = SeenUrls(expected)
        self.templates = TemplateCount()
        self.novelty = Novelty(bounds.novelty)

    def admit(
        self, batch: Sequence[Ranked], trail: Trail, now: float, host: str = ""
    ) -> list[int]:
        """Add links that were found on a page of this host; returns their ids."""
        prints = [ranked.link.fingerprint for ranked in batch]
        ids = self.known.find(prints)
        new: dict[int, int] = {}
        if 0 in ids:
            unknown = [place for place, id in enumerate(ids) if not id]
            new = self._append(batch, unknown, trail, now)
            for place in unknown:
                ids[place] = new[prints[place]]
        self.support(ids, host)
        self._count_waiting(new.values())
        if trail.depth == 0 and self._queue.ended[State.UNUSABLE, "trap_template"]:
            self._free(batch, ids)
        # Most links of a page are known and no better: one by one is fastest here.
        mode_of, key_of, last = self._links.mode_of, self._links.key_of, self._last
        promise, key = 0.0, sort_keys.key(0.0)
        better: dict[int, tuple[int, Ranked]] = {}  # waiting links, with their keys
        for ranked, id in zip(batch, ids, strict=True):
            mode = mode_of[id]
            if mode <= last:
                if ranked.promise != promise:
                    promise, key = ranked.promise, sort_keys.key(ranked.promise)
                if key < key_of[id] and not ranked.reason:
                    if mode > LinkMode.DELAYED:
                        self._admit_again(id, key, ranked, trail, now)
                    elif self._bounds.capacity:  # another one may have to go for it
                        self._improve({id: (key, ranked)}, trail, now)
                    elif id not in better or key < better[id][0]:
                        better[id] = key, ranked
        if better:
            self._improve(better, trail, now)
        return ids

    def support(self, ids: Sequence[int], host: str) -> None:
        """Note which domains the page of a host links to; without a host, somebody
        chose the links."""
        hosts = self._queue.hosts
        numbers = set(map(self._links.host_of.__getitem__, ids))
        source = self._queue.host(host).domain if host else None
        self._standing.support([hosts[number] for number in numbers], source)

    def without_floods(self, links: Sequence[Link], host: str) -> Sequence[Link]:
        """The links of a page of this host, without those to new hosts if its site has
        linked to too many of them. They are not stored: who else links to them may."""
        source = self._queue.host(host).domain
        if self._standing.is_free(source):
            return links
        known = self._queue.turns.by_name
        new = {name for link in links if (name := host_of(link.url)) not in known}
        if not new or self._standing.may_name(len(new), source):
            return links
        return [link for link in links if host_of(link.url) in known]

    def beyond_room(self, links: Sequence[Link], host: str) -> Collection[int]:
        """The places of links of a page of this host that are new, and lead to its own
        domain or branch, of which enough links wait. Those that have room are spread
        over the page."""
        source = self._queue.host(host).domain
        room = self._standing.room(source)
        if len(links) <= room or not self._standing.has_limit(source):
            return ()
        payer = self._standing.payer(source)
        known = self.known.find([link.fingerprint for link in links])
        own = [
            place
            for place, link in enumerate(links)
            if not known[place] and self._belongs(link, source, payer)
        ]
        if len(own) <= room:
            return ()
        return set(own).difference(own[n * len(own) // room] for n in range(room))

    def _belongs(
        self, link: Link, source: RegisteredDomain, payer: RegisteredDomain
    ) -> bool:
        """Whether visits to a link, found on `source`, would be those of `payer`."""
        domain = self._queue.domains.get(domain_of(host_of(link.url)))
        if domain is None:
            return not source.is_established
        return self._standing.payer(domain) is payer

    def _count_waiting(self, ids: Iterable[int]) -> None:
        """Count new links that wait for their domains."""
        mode_of, host_of = self._links.mode_of, self._links.host_of
        hosts = Counter(host_of[id] for id in ids if mode_of[id] == LinkMode.WAITING)
        for number, links in hosts.items():
            self._standing.count_waiting(self._queue.hosts[number].domain, links)

    def unchanging(self, prints: Sequence[Fingerprint]) -> Mapping[Fingerprint, int]:
        """Those of these links that do not change when they are found again, with their
        ids: neither refused where they were found so far, nor parked while better ones
        wait."""
        if self._bounds.capacity:
            return {}
        mode_of = self._links.mode_of
        return {
            link: id
            for link, id in zip(prints, self.known.find(prints), strict=True)
            if id and mode_of[id] != LinkMode.REFUSED
        }

    def _append(
        self,
        batch: Sequence[Ranked],
        unknown: list[int],
        trail: Trail,
        now: float,
    ) -> dict[int, int]:
        """Store the links at these places of a batch, each once; returns the new ids by
        fingerprint."""
        fresh: dict[int, int] = {}
        for place in unknown:
            fresh.setdefault(batch[place].link.fingerprint, place)
        found = [batch[place] for place in fresh.values()]
        promises = [new.promise for new in found]
        many = len(found) > MANY
        keys = (
            sort_keys.keys(promises).tolist()
            if many
            else list(map(sort_keys.key, promises))
        )
        reasons, templates = self._screen(found, trail.depth)
        most = self._bounds.max_url_length
        new: dict[int, int] = {}
        rows, waiting = [], []
        for ranked, key, reason, template in zip(
            found, keys, reasons, templates, strict=True
        ):
            url = ranked.link.url[:most]
            host = self._queue.host(host_of(url)).number
            if reason:
                id = self._links.add(sort_keys.WORST, _mode(reason), host)
                self._queue.ended[State.UNUSABLE, reason] += 1
            elif not self._queue.has_room(key, self._links.count + 1):
                id = self._links.add(key, LinkMode.CROWDED, host)
                self._queue.ended[DISPLACED] += 1
                self._queue.displaced.add(id)
                reason = DISPLACED[1]
            else:
                id = self._links.add(key, LinkMode.WAITING, host)
                waiting.append(id)
            new[ranked.link.fingerprint] = id
            rows.append(_cells(id, ranked, url, host, reason, template, trail))
        self.known.put(new)
        self._ledger.append(rows)
        self._queue.wait(waiting, now)
        return new

    def _free(self, batch: Sequence[Ranked], ids: Sequence[int]) -> None:
        """Allow links of too large a template again if they are seeds now."""
        links = self._links
        for ranked, id in zip(batch, ids, strict=True):
            if (
                links.mode_of[id] == LinkMode.OVER
                and _is_chosen(ranked)
                and self._ledger.read(id).reason == "trap_template"
            ):
                links.mode_of[id], links.key_of[id] = LinkMode.REFUSED, sort_keys.WORST

    def _screen(
        self, found: Sequence[Ranked], depth: int
    ) -> tuple[list[str], list[int]]:
        """Why each link is refused, "" if it is not; and the templates counted."""
        reasons, templates = [], []
        for ranked in found:
            reason, url = ranked.reason, ranked.link.url
            if len(url) > self._bounds.max_url_length:  # only its beginning is stored
                reason = "trap_length"
            elif not reason and (guard := trap(url, depth, self._bounds)):
                reason = f"trap_{guard}"
            reasons.append(reason)
            is_free = reason or (depth == 0 and _is_chosen(ranked))
            templates.append(0 if is_free else template_of(url))
        if limit := self._bounds.per_template:
            for place, number in enumerate(self.templates.count(templates)):
                if number > limit:
                    reasons[place] = "trap_template"
        return reasons, templates

    def _improve(
        self, better: Mapping[int, tuple[int, Ranked]], trail: Trail, now: float
    ) -> None:
        """Give links that wait the better evidence that was found for them."""
        is_start = trail.depth == 0
        self._ledger.improve(
            [
                _evidence(
                    id, ranked, trail, 0 if is_start and _is_chosen(ranked) else None
                )
                for id, (_, ranked) in better.items()
            ]
        )
        keys = [key for key, _ in better.values()]
        self._queue.reprice(list(better), keys, now)

    def _admit_again(
        self, id: int, key: int, ranked: Ranked, trail: Trail, now: float
    ) -> None:
        """Queue a link that does not wait with the new evidence, if it is wanted
        there."""
        queue, links = self._queue, self._links
        if links.mode_of[id] == LinkMode.REFUSED:
            [reason], [template] = self._screen([ranked], trail.depth)
            if not reason:
                queue.ended[State.UNUSABLE, self._ledger.read(id).reason or ""] -= 1
                links.key_of[id] = key
                self._ledger.improve([_evidence(id, ranked, trail, template)])
                queue.wait([id], now)
        else:  # CROWDED
            links.key_of[id] = key
            self._ledger.improve([_evidence(id, ranked, trail)])
            queue.bring_back(id, now)
            queue.balance(now)


def _is_chosen(ranked: Ranked) -> bool:
    """Whether this is a chosen seed, or the target of one that redirects.

    Seeds of one template are wanted, however many: they do not count for the limits of
    their template.
    """
    return ranked.promise >= SEED_PROMISE


def _mode(reason: str) -> int:
    return LinkMode.REFUSED if is_passing(reason, tried=False) else LinkMode.OVER


def _state(reason: str) -> str:
    if reason == DISPLACED[1]:
        return DISPLACED[0].value
    return State.UNUSABLE.value if reason else State.WAITING.value


def is_passing(reason: str, tried: bool) -> bool:
    """Whether a link that is unusable for this reason may be wanted elsewhere."""
    return not tried and (reason == "trap_depth" or not reason.startswith("trap_"))


def _cells(
    id: int,
    ranked: Ranked,
    url: str,
    host: int,
    reason: str,
    template: int,
    trail: Trail,
) -> Cells:
    link = ranked.link
    return (
        id,
        url,
        link.fingerprint,
        host,
        template,
        _state(reason),
        reason or None,
        float(ranked.promise),
        ranked.level,
        trail.depth,
        trail.redirects,
        0,
        trail.found_on,
        link.anchor or None,
        _parts(ranked),
    )


def _evidence(
    id: int, ranked: Ranked, trail: Trail, template: int | None = None
) -> PromiseEvidence:
    return PromiseEvidence(
        template,
        float(ranked.promise),
        ranked.level,
        trail.depth,
        trail.redirects,
        trail.found_on,
        ranked.link.anchor or None,
        _parts(ranked),
        id,
    )


def _parts(ranked: Ranked) -> str | None:
    return parts_text(ranked.parts) if ranked.parts else None
