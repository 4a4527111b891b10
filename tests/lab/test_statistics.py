"""Comparisons: published answers, what must hold for any figures, and coverage."""

from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.lab.statistics import (
    Paired,
    band,
    beats,
    compare,
    holm,
    signed_rank,
    student,
    tails,
)

# Darwin (1876), "The Effects of Cross and Self Fertilisation", table of Zea mays:
# heights of crossed less self-fertilised plants, in eighths of an inch. Fisher, "The
# Design of Experiments" (1935), §15, works with them: their sum is 314.
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


@pytest.fixture(scope="module")
def stats():
    """scipy.stats, imported by the tests that compare with it."""
    return import_module("scipy.stats")


FIGURES = st.lists(
    st.tuples(st.integers(-20, 20), st.integers(-20, 20)), min_size=2, max_size=12
)
quick = settings(max_examples=25)


def columns(pairs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """Figures of a and b, in quarters: their sums are exact."""
    return [a / 4 for a, _ in pairs], [b / 4 for _, b in pairs]


def test_darwins_maize_has_the_published_mean_and_p():
    # p: the example in the documentation of scipy.stats.wilcoxon, exact for n = 15.
    paired = compare(MAIZE, [0] * 15, seed=0)
    assert paired.mean == pytest.approx(314 / 15)
    assert paired.p == pytest.approx(0.041259765625)
    assert (paired.wins, paired.ties, paired.losses) == (13, 0, 2)


def test_the_interval_is_that_of_another_percentile_bootstrap(stats):
    alpha, _ = tails(15)
    other = stats.bootstrap(
        (MAIZE,),
        np.mean,
        confidence_level=1 - 2 * alpha,
        method="percentile",
        n_resamples=20_000,
        rng=5,
    ).confidence_interval
    paired = compare(MAIZE, [0] * 15, seed=0)
    assert paired.low == pytest.approx(other.low, abs=1.0)
    assert paired.high == pytest.approx(other.high, abs=1.0)


@pytest.mark.parametrize("freedom", [2, 3, 4, 9, 19, 100])
def test_the_quantile_of_students_t_is_that_of_scipy(freedom: int, stats):
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=0.01)
    if freedom > 3:
        assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-3)


@pytest.mark.parametrize("tasks", [2, 3, 4, 5, 20, 1000])
def test_the_interval_ends_at_the_expanded_quantiles(tasks: int, stats):
    # Hesterberg, "What Teachers Should Know About the Bootstrap" (2015).
    factor = np.sqrt(tasks / (tasks - 1))
    alpha = stats.norm.cdf(-factor * stats.t.ppf(0.975, tasks - 1))
    assert tails(tasks)[0] == pytest.approx(alpha, rel=0.02, abs=1e-7)
    assert sum(tails(tasks)) == 1


def test_of_many_tasks_the_interval_is_the_plain_one():
    assert tails(10_000) == pytest.approx((0.025, 0.975), abs=1e-4)


def test_of_three_tasks_the_interval_is_from_the_least_to_the_greatest():
    paired = compare([2, 9, 4], [0, 0, 0], seed=0)
    assert (paired.low, paired.high) == pytest.approx((2, 9))


def test_of_two_tasks_the_interval_is_from_one_to_the_other():
    # Of the four samples of two tasks one is twice the first, one twice the second.
    paired = compare([3, 7], [1, 1], seed=0)
    assert (paired.low, paired.mean, paired.high) == (2, 4, 6)


def all_signs(differences: list[int], rankdata) -> float:
    """The p of Wilcoxon's signed ranks, by trying all signs of the ranks."""
    ranks = rankdata(np.abs(differences))
    centre = ranks.sum() / 2
    off = abs(ranks[np.array(differences) > 0].sum() - centre)
    sums = [np.dot(ranks, signs) for signs in product((0, 1), repeat=len(ranks))]
    return float(np.mean([abs(each - centre) >= off for each in sums]))


@quick
@given(st.lists(st.integers(-9, 9), max_size=8), st.integers(1, 9))
def test_p_is_exact_also_with_ties(stats, some: list[int], another: int):
    differences = [*some, another]
    expected = all_signs([each for each in differences if each], stats.rankdata)
    assert signed_rank(np.array(differences, float)) == pytest.approx(expected)


@pytest.mark.parametrize("tasks", [1, 2, 5, 20, 50])
def test_p_is_that_of_scipy(tasks: int, stats):
    differences = np.random.default_rng(tasks).normal(0.3, 1, tasks)
    expected = stats.wilcoxon(differences, method="exact").pvalue
    assert signed_rank(differences) == pytest.approx(expected)


def test_p_of_many_tasks_is_near_the_normal_approximation(stats):
    differences = np.random.default_rng(1).normal(0.1, 1, 200)
    expected = stats.wilcoxon(differences, method="asymptotic").pvalue
    assert signed_rank(differences) == pytest.approx(expected, rel=0.02)


def test_equal_figures_are_no_evidence():
    paired = compare([0.3, 0.5], [0.3, 0.5], seed=0)
    assert paired == Paired(mean=0, low=0, high=0, p=1.0, wins=0, ties=2, losses=0)
    assert not beats(paired)


def test_rounding_is_no_difference():
    assert compare([0.1 + 0.2, 1], [0.3, 1], seed=0).ties == 2


def test_a_single_task_says_nothing_about_others():
    paired = compare([0.9], [0.1], seed=0)
    assert (paired.low, paired.high) == (-np.inf, np.inf)
    assert not beats(paired)


def test_a_beats_b_only_where_the_interval_excludes_zero():
    sure = compare([3, 4, 5, 4, 3], [1, 2, 3, 1, 1], seed=0)
    assert beats(sure)
    assert not beats(compare([1, 2, 3, 1, 1], [3, 4, 5, 4, 3], seed=0))
    unsure = compare([3, 0, 3, 0], [0, 2, 0, 2], seed=0)
    assert unsure.mean > 0 > unsure.low
    assert not beats(unsure)


@quick
@given(FIGURES)
def test_b_against_a_is_a_against_b_turned_round(pairs: list[tuple[int, int]]):
    a, b = columns(pairs)
    one, other = compare(a, b, seed=1), compare(b, a, seed=1)
    assert other.mean == -one.mean
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert other.p == pytest.approx(one.p)
    assert (other.wins, other.ties, other.losses) == (one.losses, one.ties, one.wins)


@quick
@given(FIGURES, st.integers(-20, 20))
def test_a_bonus_for_one_shifts_the_interval_by_as_much(
    pairs: list[tuple[int, int]], bonus: int
):
    a, b = columns(pairs)
    one, other = compare(a, b, 1), compare([each + bonus for each in a], b, 1)
    assert other.mean == pytest.approx(one.mean + bonus)
    assert other.low == pytest.approx(one.low + bonus)
    assert other.high == pytest.approx(one.high + bonus)


@quick
@given(FIGURES)
def test_the_mean_lies_in_its_interval_and_the_interval_in_the_figures(
    pairs: list[tuple[int, int]],
):
    a, b = columns(pairs)
    paired = compare(a, b, seed=1)
    least, most = min(np.subtract(a, b)), max(np.subtract(a, b))
    slack = 1e-9
    assert least - slack <= paired.low <= paired.mean + slack
    assert paired.mean - slack <= paired.high <= most + slack


def test_the_same_seed_gives_the_same_interval_and_another_nearly():
    one, same, other = (compare(MAIZE, [0] * 15, seed) for seed in (1, 1, 2))
    assert one == same
    assert one.low != other.low
    assert one.low == pytest.approx(other.low, abs=1.0)


def test_repetitions_of_a_topic_count_as_one():
    once = compare([3, 5, 4], [1, 6, 2], seed=0)
    often = compare(
        [3] * 4 + [5] * 4 + [4] * 4, [1] * 4 + [6] * 4 + [2] * 4, 0, "x" * 12
    )
    grouped = compare(
        [3, 5, 4, 3, 5, 4],
        [1, 6, 2, 1, 6, 2],
        seed=0,
        groups=[("web", "a"), ("web", "b"), ("web", "c")] * 2,
    )
    assert grouped == once
    assert (often.wins, often.low) == (1, -np.inf)


def test_a_group_has_the_mean_of_its_tasks():
    paired = compare([1, 2, 9], [0, 0, 0], seed=0, groups=["a", "a", "b"])
    assert paired.mean == (1.5 + 9) / 2
    assert (paired.low, paired.high) == (1.5, 9)


@pytest.mark.parametrize(
    ("a", "b", "groups", "complaint"),
    [
        ([1, 2], [1], None, "2 figures against 1"),
        ([], [], None, "one task at least"),
        ([1, float("nan")], [1, 1], None, "finite"),
        ([1, 2], [1, 1], ["x"], "1 groups of 2 tasks"),
    ],
)
def test_figures_that_are_not_pairs_are_refused(a, b, groups, complaint: str):
    with pytest.raises(ValueError, match=complaint):
        compare(a, b, 0, groups)


def coverage(tasks: int, groups: int, shared: float, by_group: bool) -> float:
    """How often the interval covers the true difference of 0, in 400 experiments.

    Figures of a group have something in common; `shared` is its standard deviation.
    """
    chance = np.random.default_rng(11)
    of = np.arange(tasks) % groups
    covered = 0
    for _ in range(400):
        common = shared * chance.normal(size=groups)
        figures = common[of] + chance.normal(size=tasks)
        names = of.tolist() if by_group else None
        paired = compare(figures.tolist(), [0] * tasks, 0, names)
        covered += paired.low <= 0 <= paired.high
    return covered / 400


# The standard error of 400 experiments is 0.011. Unexpanded, the interval covers the
# truth 83, 90 and 93 times in a hundred.
@pytest.mark.parametrize(
    ("tasks", "least", "most"), [(5, 0.88, 0.95), (10, 0.92, 0.98), (20, 0.92, 0.98)]
)
def test_the_interval_covers_the_truth_about_19_times_in_20(
    tasks: int, least: float, most: float
):
    covered = coverage(tasks=tasks, groups=tasks, shared=0, by_group=False)
    assert least <= covered <= most


def test_groups_keep_the_interval_honest_where_tasks_are_alike():
    assert 0.90 <= coverage(tasks=40, groups=10, shared=2, by_group=True) <= 0.98
    assert coverage(tasks=40, groups=10, shared=2, by_group=False) < 0.80


def test_holms_correction_is_that_of_the_worked_example():
    # Wikipedia, "Holm-Bonferroni method", example: four hypotheses with these p.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=10))
def test_holm_raises_p_to_at_most_bonferronis_and_keeps_their_order(p: list[float]):
    adjusted = holm(p)
    for before, after in zip(p, adjusted, strict=True):
        assert before <= after <= min(1, len(p) * before) or after == max(adjusted)
        assert after <= 1
    order = sorted(range(len(p)), key=p.__getitem__)
    raised = [adjusted[each] for each in order]
    assert raised == sorted(raised)
    if p:
        assert min(adjusted) == pytest.approx(min(1, len(p) * min(p)))


def test_a_band_is_the_interval_at_each_point():
    curves = np.random.default_rng(3).random((9, 130))
    mean, low, high = band(curves, seed=4)
    np.testing.assert_allclose(mean, curves.mean(axis=0))
    for point in (0, 64, 129):
        paired = compare(curves[:, point].tolist(), [0] * 9, seed=4)
        assert (low[point], high[point]) == pytest.approx((paired.low, paired.high))


def test_a_band_has_one_curve_for_each_group():
    curves = [[0, 1], [0, 3], [4, 4]]
    mean, low, high = band(curves, groups=["a", "a", "b"])
    assert (mean.tolist(), low.tolist(), high.tolist()) == ([2, 3], [0, 2], [4, 4])
