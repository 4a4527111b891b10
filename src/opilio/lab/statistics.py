"""Tests whether one crawler is better than another on the same tasks.

Tasks differ far more than crawlers do, so figures are compared task by task. For the
differences dᵢ = aᵢ - bᵢ of n tasks, more being better:

    mean       d̄ = (1/n)·Σ dᵢ
    interval   between the quantiles α and 1 - α of the means of 10,000 samples of n
               tasks, drawn from the n tasks with replacement (percentile bootstrap:
               Efron 1979), expanded for few tasks (Hesterberg 2015):
               α = Φ(-√(n/(n-1))·t),  t the 0.975 quantile of Student's t with n-1
               degrees of freedom; of many tasks α is 0.025
    p          two-sided, of Wilcoxon's signed ranks (1945); equal pairs are dropped

Repetitions of a topic are alike; counting them as separate tasks would make the
interval too narrow. Their group is the topic: figures are averaged by group first, and
the groups are what is resampled, ranked and counted. Each group counts the same.

No sample mean lies outside the figures, so for two or three tasks the interval spans
the smallest and the largest figure, and is still too narrow: docs/reference/measures.md
says how often it covers the truth.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
NORMAL = NormalDist()
TOGETHER = 64  # columns at a time; a whole long curve would need much memory
DIGITS = 12  # smaller differences are rounding errors

Numbers = NDArray[np.float64]
Groups = Sequence[Hashable]


class Paired(msgspec.Struct, frozen=True, kw_only=True):
    """How a does against b, over the tasks or groups that both have."""

    mean: float  # of a - b
    low: float  # of its 95 % interval; None if there is only one task
    high: float
    p: float
    wins: int  # where a has more than b
    ties: int
    losses: int


def compare(
    a: Sequence[float], b: Sequence[float], seed: int, groups: Groups | None = None
) -> Paired:
    """Compare a with b; a[i] and b[i] are of the same task, which is in groups[i]."""
    if len(a) != len(b):
        raise ValueError(
            f"{len(a)} figures against {len(b)}; they are compared in pairs"
        )
    each = _by_group(np.subtract(a, b, dtype=np.float64)[:, np.newaxis], groups)
    low, high = _interval(each, seed)
    differences = each[:, 0]
    return Paired(
        mean=float(differences.mean()),
        low=float(low[0]),
        high=float(high[0]),
        p=signed_rank(differences),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
    )


def beats(paired: Paired) -> bool:
    """Whether a is better than b: the whole interval is above 0."""
    return paired.low > 0


def band(
    curves: Sequence[Sequence[float]] | Numbers,
    seed: int = 0,
    groups: Groups | None = None,
) -> tuple[Numbers, Numbers, Numbers]:
    """Mean of curves, one a task, and the ends of its 95 % interval at each point."""
    each = _by_group(np.array(curves, np.float64), groups)
    low, high = _interval(each, seed)
    return each.mean(axis=0), low, high


def signed_rank(differences: Numbers) -> float:
    """The p of Wilcoxon's signed ranks; 1 if all differences are 0.

    W⁺ = Σ rᵢ over dᵢ > 0, with rᵢ the rank of |dᵢ|, or the mean rank of equal ones.
    If neither a nor b were better, each rᵢ would be in the sum with chance ½; p is the
    chance that W⁺ is then as far from its mean as it is here, or farther. It is exact:
    the chances of all sums are worked out rank by rank.
    """
    unequal = differences[differences != 0]
    size = np.abs(unequal)[:, np.newaxis]
    # Twice the rank, which is a whole number also among equals.
    ranks = (size > size.T).sum(axis=1) + (size >= size.T).sum(axis=1) + 1
    chances = np.ones(1)
    for rank in ranks.tolist():
        without, with_it = np.pad(chances, (0, rank)), np.pad(chances, (rank, 0))
        chances = (without + with_it) / 2
    from_mean = np.abs(2 * np.arange(len(chances)) - ranks.sum())
    here = from_mean[ranks[unequal > 0].sum()]
    return min(1.0, float(chances[from_mean >= here].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p of each of m comparisons, given that so many were made (Holm 1979).

    Of p₁ ≤ … ≤ pₘ:   p̃ᵢ = max over j ≤ i of min(1, (m-j+1)·pⱼ)
    """
    p = np.array(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    raised = np.minimum(1.0, p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(raised)
    return [float(each) for each in adjusted]


def student(freedom: float) -> float:
    """The 0.975 quantile of Student's t: z, and what few degrees ν of freedom add.

    t = z + (z³+z)/4ν + (5z⁵+16z³+3z)/96ν² + (3z⁷+19z⁵+17z³-15z)/384ν³
          + (79z⁹+776z⁷+1482z⁵-1920z³-945z)/92160ν⁴

    (Cornish and Fisher; Abramowitz and Stegun 26.7.5.) It is too small by 11 % for
    ν = 1, where nothing depends on it, and by less than 1 % for all others.
    """
    z = NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term * freedom**-power for power, term in enumerate(terms))


def tails(tasks: int) -> tuple[float, float]:
    """The quantiles of the sample means that are the ends of the interval for n tasks.

    Samples vary too little by the factor √((n-1)/n), which √(n/(n-1)) corrects; the
    true variance of tasks is unknown, which t accounts for.
    """
    alpha = NORMAL.cdf(-sqrt(tasks / (tasks - 1)) * student(tasks - 1))
    return alpha, 1 - alpha


def _by_group(values: Numbers, groups: Groups | None) -> Numbers:
    """The mean row of each group, in the order in which groups come first."""
    if not len(values) or not np.isfinite(values).all():
        raise ValueError("figures to compare are finite numbers, one task at least")
    if groups is not None:
        if len(groups) != len(values):
            raise ValueError(f"{len(groups)} groups of {len(values)} tasks")
        numbers = {group: n for n, group in enumerate(dict.fromkeys(groups))}
        member = np.zeros((len(numbers), len(values)))
        member[[numbers[group] for group in groups], np.arange(len(values))] = 1
        values = member @ values / member.sum(axis=1, keepdims=True)
    return np.round(values, DIGITS)


def _interval(values: Numbers, seed: int) -> tuple[Numbers, Numbers]:
    """The bootstrap interval of the mean of each column; rows are resampled."""
    count, columns = values.shape
    if count == 1:  # one task cannot tell how much tasks differ
        return np.full(columns, -np.inf), np.full(columns, np.inf)
    weights = _weights(count, seed)
    parts = np.array_split(values, columns // TOGETHER + 1, axis=1)
    ends = [np.quantile(weights @ part, tails(count), axis=0) for part in parts]
    low, high = np.concatenate(ends, axis=1)
    return low, high


@lru_cache(maxsize=2)  # a report makes hundreds of comparisons of as many tasks
def _weights(count: int, seed: int) -> Numbers:
    """The share that each of `count` things has in each sample, a row a sample."""
    draws = np.random.default_rng(seed).integers(count, size=(RESAMPLES, count))
    places = draws + count * np.arange(RESAMPLES)[:, np.newaxis]
    times = np.bincount(places.ravel(), minlength=RESAMPLES * count)
    return times.reshape(RESAMPLES, count) / count
