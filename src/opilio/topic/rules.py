"""Rules of how likely pages of one class link to another, and the look-ahead score.

Kumar & Vig, *Multilingual Context Ontology Rule Enhanced Focused Web Crawler*, III.G:

    P(Ci → Cj) = links from Ci to pages of Cj / all links from Ci
    LARS       = Σk Pr(k | page) · P(k → target)

Symbols: Pr(k | page) how likely the page that holds the link is of class k; LARS the
look-ahead relevance score of its links. A path of several links is as likely as the
product of its rules ("simple application of transitivity").

We differ: the text defines P the other way round; we follow the paper's tables. The
paper asks for LARS > 3 of a probability, which its tables show on a scale of ten: in
the mode `paper` LARS is ten times the sum above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.errors import BadInput

PAPER_SCALE = 10.0  # train-1 pages of each class in the paper's example
LONGEST = 100  # hops

Matrix = npt.NDArray[np.float64]
Distribution = Mapping[str, float]
Count = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class Paths(StrEnum):
    """How to combine several paths from one class to another."""

    SUM = "sum"  # the probability that any of them is taken
    BEST = "best"  # only the likeliest of them


class Rule(NamedTuple):
    """A page of one class links to one of another, this likely."""

    source: str
    target: str
    probability: float

    def __str__(self) -> str:
        return f"{self.source} → {self.target} ({self.probability:.3g})"


class ClassRules:
    """How likely a page of one class links to a page of another.

    >>> rules = learn_rules([("home", "course"), ("home", "home"), ("home", "home")])
    >>> print(*rules.rows(), sep="; ")
    home → home (0.667); home → course (0.333)
    """

    def __init__(self, counts: Mapping[str, Mapping[str, float]]) -> None:
        self.counts = {source: dict(row) for source, row in counts.items()}
        named = {target for row in self.counts.values() for target in row}
        self.classes = tuple(sorted(named.union(self.counts)))
        self._place = {name: place for place, name in enumerate(self.classes)}

    def probability(self, source: str, target: str) -> float:
        """P(source → target); 0 for classes that no rule names."""
        return self._value(self._matrix, source, target)

    def rows(self) -> list[Rule]:
        """Every rule there is, class by class, the likeliest first."""
        return self._rows(self._matrix)

    def ahead(self, hops: int, paths: Paths = Paths.SUM) -> list[Rule]:
        """The rules for paths of exactly `hops` links."""
        return self._rows(self._power(hops, paths))

    def look_ahead(
        self,
        source: str | Distribution,
        target: str,
        hops: int = 1,
        paths: Paths = Paths.SUM,
        mode: str = "fixed",
    ) -> float:
        """LARS of the links on a page, given its class or how likely each class is."""
        matrix = self._power(hops, paths)
        likely = {source: 1.0} if isinstance(source, str) else source
        score = sum(
            share * self._value(matrix, name, target) for name, share in likely.items()
        )
        return score * PAPER_SCALE if mode == "paper" else score

    def shrunk(self, weight: float) -> ClassRules:
        """The rules as if each class had `weight` links more, to classes in the shares
        that all links have: what few links say counts for less.

        >>> rules = ClassRules({"home": {"course": 3}, "people": {"home": 1}})
        >>> print(*rules.shrunk(4).rows()[:2], sep="; ")
        home → course (0.857); home → home (0.143)
        """
        shares: Counter[str] = Counter()
        for row in self.counts.values():
            shares.update(row)
        total = sum(shares.values()) or 1
        return ClassRules(
            {
                source: {
                    target: row.get(target, 0) + weight * share / total
                    for target, share in shares.items()
                }
                for source, row in self.counts.items()
            }
        )

    def dump(self) -> bytes:
        """The counts behind the rules, as JSON."""
        return msgspec.json.encode(self.counts, order="sorted")

    @cached_property
    def _matrix(self) -> Matrix:
        matrix = np.zeros((len(self.classes), len(self.classes)))
        for source, row in self.counts.items():
            if total := sum(row.values()):
                for target, count in row.items():
                    place = self._place[source], self._place[target]
                    matrix[place] = count / total
        return matrix

    @cached_property
    def _powers(self) -> dict[Paths, list[Matrix]]:
        return {paths: [self._matrix] for paths in Paths}

    def _power(self, hops: int, paths: Paths) -> Matrix:
        if not 1 <= hops <= LONGEST:
            raise ValueError(f"a path has 1 to {LONGEST} links, not {hops}")
        powers = self._powers[Paths(paths)]
        while len(powers) < hops:
            by_way_of = powers[-1][:, :, None] * self._matrix[None, :, :]
            best = paths == Paths.BEST
            powers.append(by_way_of.max(1, initial=0) if best else by_way_of.sum(1))
        return powers[hops - 1]

    def _value(self, matrix: Matrix, source: str, target: str) -> float:
        if source in self._place and target in self._place:
            return float(matrix[self._place[source], self._place[target]])
        return 0.0

    def _rows(self, matrix: Matrix) -> list[Rule]:
        found = [
            Rule(source, target, float(matrix[row, column]))
            for source, row in self._place.items()
            for target, column in self._place.items()
            if matrix[row, column] > 0
        ]
        return sorted(found, key=lambda rule: (rule.source, -rule.probability))


def learn_rules(
    links: Iterable[tuple[str, str]], classes: Iterable[str] = ()
) -> ClassRules:
    """The rules of links, each given as the class of its page and of its target.

    `classes` are known even if they have no link.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in classes}
    for source, target in links:
        counts.setdefault(source, Counter())[target] += 1
    return ClassRules(counts)


def load_rules(dumped: bytes, name: str = "the rules") -> ClassRules:
    """Load what `ClassRules.dump` returned; BadInput for anything else."""
    try:
        return ClassRules(msgspec.json.decode(dumped, type=dict[str, dict[str, Count]]))
    except msgspec.DecodeError as error:
        raise BadInput(
            f"{name}: {error}; remove it, and the crawl learns the rules again"
        ) from None
