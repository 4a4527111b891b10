"""Groups similar tag paths.

    sim(p, q) = cosine of the counts of neighbouring tags in p and in q

A path belongs to the group with the most similar founder, if sim ≥ θ; otherwise it
founds a new group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

Pairs = Counter[tuple[str, str]]


def pairs_of(path: str) -> Pairs:
    """How often each pair of neighbouring tags is in a path.

    >>> dict(pairs_of("body/ul/a"))
    {('', 'body'): 1, ('body', 'ul'): 1, ('ul', 'a'): 1}
    """
    return Counter(pairwise(["", *path.split("/")]))


def similarity(one: Pairs, other: Pairs) -> float:
    """The cosine of two counts."""
    product = sum(count * other[pair] for pair, count in one.items())
    return product / (_length(one) * _length(other))


def _length(pairs: Pairs) -> float:
    return sqrt(sum(count * count for count in pairs.values()))


class TagPathGroups:
    """Groups of similar paths, numbered in the order of their founding."""

    def __init__(self, threshold: float, most: int) -> None:
        self.threshold = threshold  # θ
        self.most = most
        self._founders: list[Pairs] = []
        self._known: dict[str, int] = {}  # until a new group may be more like

    def __len__(self) -> int:
        return len(self._founders)

    def found(self, paths: Sequence[str]) -> None:
        """Restore the groups of these founders."""
        self._founders = list(map(pairs_of, paths))

    def group(self, path: str) -> int:
        """The number of the group of a path; the next number if it founds one."""
        known = self._known.get(path)
        if known is not None:
            return known
        pairs = pairs_of(path)
        likeness = [similarity(pairs, founder) for founder in self._founders]
        best = max(range(len(likeness)), key=likeness.__getitem__, default=-1)
        full = len(likeness) >= self.most
        if best < 0 or (likeness[best] < self.threshold and not full):
            self._founders.append(pairs)
            self._known.clear()
            best = len(likeness)
        self._known[path] = best
        return best
