"""The IrrelevantTable of Aastha's thesis, section 4.6.1, made to terminate.

It decides how long links in a tunnel of irrelevant pages are followed, and which are
given up. As published, once an irrelevant page opens the table:

- its links enter at level 0, and the best link of the table is visited next;
- if that page is relevant and its level below maxLevel, its links enter at `level`,
  one variable for the whole table that grows by one each time;
- if it is irrelevant, every link of the same level with no better score, which is every
  one of them, goes one level deeper: a level is given up after that many failures;
- links deeper than maxLevel are never visited.

We differ: a visited link leaves the table, or the best would be the same for ever.
Links that entered at one level sink together, so a failure costs as many steps as there
are groups of them, however many links wait; each link is given up once, in the order of
fingerprints and a limited number per page.
"""

from __future__ import annotations

import msgspec

NO_GROUP = 0
FIRST = -(2**63)  # as fingerprints go


class TableStanding(msgspec.Struct, array_like=True):
    """The state of the table, without its links."""

    level: int = 0  # the variable of the pseudo-code
    last: int = NO_GROUP  # the youngest group
    groups: dict[int, int] = {}  # group -> its level now
    ending: list[int] = []  # groups given up whose links are not all reported yet
    told: int = FIRST  # links of the first of these below this one were reported


class IrrelevantTable:
    """The level of each group of links."""

    def __init__(self, max_level: int) -> None:
        self.max_level = max_level
        self._standing = TableStanding()
        self._members: dict[int, list[int]] = {}
        self._untold: list[int] | None = None  # of the first that ends, the next last
        self._dumped = msgspec.msgpack.encode(self._standing)

    def level(self, group: int) -> int | None:
        """The level of a group; None if it was given up or does not exist."""
        return self._standing.groups.get(group)

    def open(self) -> int:
        """The group for the links of an irrelevant page that opens the table."""
        self._standing.level = 0
        return self._group(0)

    def deepen(self, group: int) -> int:
        """The group for the links of a relevant page, found by a link of `group`."""
        if self._standing.groups[group] >= self.max_level:
            return NO_GROUP
        self._standing.level += 1
        return self._group(self._standing.level)

    def fail(self, group: int) -> None:
        """Note that a link of this group led to an irrelevant page."""
        groups = self._standing.groups
        level = groups[group]
        sunk = [other for other in groups if groups[other] == level]
        if level < self.max_level:
            groups.update(dict.fromkeys(sunk, level + 1))
            return
        for other in sunk:
            del groups[other]
        self._standing.ending += sunk

    def give_up(self, most: int) -> list[int]:
        """The next links that were given up, at most `most`."""
        found: list[int] = []
        standing = self._standing
        while standing.ending and len(found) < most:
            if self._untold is None:
                members = self._members.pop(standing.ending[0], [])
                new = [link for link in members if link >= standing.told]
                self._untold = sorted(new, reverse=True)
            while self._untold and len(found) < most:
                found.append(self._untold.pop())
                standing.told = found[-1] + 1
            if not self._untold:
                del standing.ending[0]
                standing.told, self._untold = FIRST, None
        return found

    def join(self, fingerprint: int, group: int) -> None:
        """Add a link to a group, unless that was given up and reported."""
        if group in self._standing.groups or group in self._standing.ending:
            self._members.setdefault(group, []).append(fingerprint)

    def dump(self) -> bytes | None:
        """The state, if it has changed; each link's note has its group."""
        now = msgspec.msgpack.encode(self._standing)
        if now == self._dumped:
            return None
        self._dumped = now
        return now

    def load(self, learnt: bytes) -> None:
        """Restore an earlier dump."""
        self._standing = msgspec.msgpack.decode(learnt, type=TableStanding)
        self._dumped = learnt

    def _group(self, level: int) -> int:
        if level > self.max_level:
            return NO_GROUP
        standing = self._standing
        for group, depth in standing.groups.items():
            if depth == level:
                return group
        standing.last += 1
        standing.groups[standing.last] = level
        return standing.last
