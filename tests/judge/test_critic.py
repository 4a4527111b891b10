"""The critics and the evidence of sites, against numbers worked out plainly."""

from __future__ import annotations

import numpy as np
import pytest

from judge.learning_pages import crawl
from opilio.judge.critic import (
    SIZE,
    WHOLE,
    CriticRow,
    Critics,
    Lessons,
    critic_row,
    solve_positive,
)
from opilio.judge.site_evidence import MOST, SiteEvidence
from opilio.text.meaning import Rarity

RARITY = Rarity(b"")


class One:
    """A page that was judged."""

    def __init__(self, row: CriticRow) -> None:
        self.row = row


def rows(count: int, dimensions: int = 4) -> list[CriticRow]:
    rng = np.random.default_rng(2)
    found = []
    for page in crawl(count):
        vectors = rng.normal(size=(3, dimensions)).astype(np.float32)
        found.append(critic_row(page, RARITY, vectors))
    return found


def plain(all_rows: list[CriticRow], values: np.ndarray, trust: np.ndarray) -> Critics:
    """The equation as it is written, in float64."""
    middle = float((values * trust).sum() / trust.sum())
    words = np.zeros((len(all_rows), SIZE))
    for each, row in zip(words, all_rows, strict=True):
        np.add.at(each, row.places, row.weights / WHOLE)
    vectors = np.array([row.vector for row in all_rows], np.float64)
    found = []
    for matrix, penalty in ((words, 1.0), (vectors, 0.5)):
        kernel = matrix @ matrix.T + np.diag(penalty / trust)
        found.append(matrix.T @ np.linalg.solve(kernel, values - middle))
    return Critics(middle, *found)


@pytest.mark.parametrize("count", [3, 60])  # fewer than dimensions, and more
def test_both_critics_are_ridge_regressions(count: int):
    pages = [One(row) for row in rows(count)]
    rng = np.random.default_rng(1)
    values = rng.random(count).astype(np.float32)
    trust = (1 + 7 * rng.random(count)).astype(np.float32)
    found = Lessons(4).learn(pages, values, trust)
    expected = plain([page.row for page in pages], values, trust)
    assert found.middle == pytest.approx(expected.middle, abs=1e-6)
    assert found.words == pytest.approx(expected.words, abs=1e-4)
    assert found.vector == pytest.approx(expected.vector, abs=1e-4)
    for page in pages[:5]:
        [one] = [found.by_words(page.row)]
        dense = np.zeros(SIZE)
        np.add.at(dense, page.row.places, page.row.weights / WHOLE)
        assert one == pytest.approx(expected.middle + dense @ expected.words, abs=1e-4)


@pytest.mark.parametrize("pages", [1, 40])
def test_conjugate_gradients_solve_what_elimination_solves(pages: int):
    rng = np.random.default_rng(4)
    rows = rng.random((pages, 9)).astype(np.float32)
    matrix = rows @ rows.T + np.diag(rng.random(pages) + 0.1).astype(np.float32)
    wanted = rng.normal(size=pages).astype(np.float32)
    expected = np.linalg.solve(matrix.astype(np.float64), wanted)
    found = solve_positive(matrix, wanted)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected, abs=2e-5 * np.abs(expected).max())
    assert not solve_positive(matrix, np.zeros_like(wanted)).any()


def test_learning_little_by_little_is_learning_at_once_to_the_last_bit():
    pages = [One(row) for row in rows(120)]
    values = np.random.default_rng(1).random(120).astype(np.float32)
    trust = np.ones(120, np.float32)
    slowly = Lessons(4)
    for count in (1, 2, 30, 31, 90):
        slowly.learn(pages[:count], values[:count], trust[:count])
    some = [*pages[5:60], *pages[80:], *pages[:3]]  # others, in another order
    slowly.learn(some, values[: len(some)], trust[: len(some)])
    found = slowly.learn(pages, values, trust)
    expected = Lessons(4).learn(pages, values, trust)
    assert found.words.tobytes() == expected.words.tobytes()
    assert found.vector.tobytes() == expected.vector.tobytes()
    kernel = slowly._kernel
    exact = slowly._words.astype(np.float64) @ slowly._words.T.astype(np.float64)
    assert (kernel == exact).all()


def test_pages_without_words_or_vectors_teach_no_harm():
    nothing = CriticRow(
        np.zeros(0, np.uint16), np.zeros(0, np.int16), np.zeros(0, np.float32)
    )
    found = Lessons(4).learn(
        [One(nothing)] * 3, np.ones(3, np.float32), np.ones(3, np.float32)
    )
    assert found.middle == 1.0
    assert found.by_words(nothing) == found.by_vector(nothing) == 1.0


def test_how_near_a_site_comes_is_the_equation_of_the_docstring():
    sites = SiteEvidence()
    for site, cosine in (("a", 0.1), ("a", 0.3), ("b", 0.05)):
        sites.add(site, cosine)
    usual = (0.1**4 + 0.3**4 + 0.05**4) / 3
    assert sites.near("a") == pytest.approx(((0.1**4 + 0.3**4 + usual) / 3) ** 0.25)
    assert sites.near("b") == pytest.approx(((0.05**4 + usual) / 2) ** 0.25)
    assert sites.of("a") == 0  # two sites say nothing yet
    sites.add("c", 0.0)
    sites.rescale()
    assert sites.of("a") > 0 > sites.of("b")
    assert sites.of("unknown") == 0


def test_sites_are_kept_through_a_restart_also_those_that_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("opilio.judge.site_evidence.MOST", 10)
    sites = SiteEvidence()
    for number in range(40):
        sites.add(f"site{number % 20}", 0.3 if number % 3 else 0.01 * number)
    again = SiteEvidence()
    again.restore(sites.kept())
    assert len(again.sites) == 10 < MOST
    for site in sites.sites:
        assert again.of(site) == sites.of(site)
    again.add("site3", 0.2)
    sites.add("site3", 0.2)
    assert again.of("site3") == sites.of("site3")
