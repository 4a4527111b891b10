"""What tells a term of an ontology from other words, by hand-worked numbers."""

from __future__ import annotations

from collections import Counter
from math import log, log1p

import numpy as np
import pytest

from opilio.topic.ontology.term_counts import TermCounts
from opilio.topic.ontology.termhood import Termhood, fit, sigmoid

LABELS = ("elm tree", "oak tree", "root")
OTHERS = ("cedar root", "palm tree", "root of oak", "root xylem", "spree")


def counted() -> TermCounts:
    counts = TermCounts(
        pages=Counter(dict.fromkeys((*LABELS, *OTHERS), 3)),
        times=Counter(dict.fromkeys((*LABELS, *OTHERS), 6)),
        forms={key: Counter({key: 1}) for key in (*LABELS, *OTHERS)},
    )
    counts.near["palm tree"] = 2
    counts.anchors["palm tree"] = 2
    counts.headings["palm tree"] = 1
    counts.capital["palm tree"] = 1
    counts.first["palm tree"] = 3
    counts.last["palm tree"] = 4
    return counts


def features(key: str) -> list[float]:
    return Termhood(counted(), LABELS, "en").features(key)


def test_the_features_of_a_candidate():
    """Three of eight candidates are terms, and two of three that end with -ree; four,
    with the spree, of which the candidate itself is left out."""
    ending = (2 + 5 * 3 / 8) / (4 - 1 + 5)
    expected = {
        "pages": log(3),
        "times a page": log(2),
        "pages near a concept": 2 / 3,
        "as an anchor": log1p(2),
        "as a heading": log1p(1),
        "as a title": 0.0,
        "pages as an anchor": 2 / 3,
        "with a capital": 1 / 6,
        "first of its phrase": 3 / 6,
        "last of its phrase": 4 / 6,
        "two words": 1.0,
        "more words": 0.0,
        "words that labels have": 1 / 2,  # tree
        "the rarest of these": 0.0,
        "labels that end so": log1p(2),
        "ends with a label": 0.0,
        "begins with a label": 0.0,
        "has an ordinary word": 0.0,
        "ending": log(ending),
        "length": 0.9,
    }
    assert features("palm tree") == pytest.approx(list(expected.values()))


def test_a_label_does_not_count_for_itself():
    found = features("oak tree")
    assert found[12:15] == pytest.approx([1 / 2, 0.0, log1p(1)])
    assert found[18] == pytest.approx(log((2 - 1 + 5 * 3 / 8) / (4 - 1 + 5)))
    assert features("root")[15:17] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("key", "two", "more", "ends", "begins"),
    [
        ("cedar root", 1, 0, 1, 0),
        ("root xylem", 1, 0, 0, 1),
        ("root of oak", 0, 1, 0, 1),
        ("spree", 0, 0, 0, 0),
    ],
)
def test_words_of_a_candidate_may_be_labels(key, two, more, ends, begins):
    found = features(key)
    assert [*found[10:12], *found[15:17]] == [two, more, ends, begins]
    assert found[17] == ("root" in key)  # an ordinary word


def test_chances_are_learnt_from_twenty_labels_on_standardised_features():
    labels = [f"{one}{two}ora" for one in "bcdfg" for two in "aeio"]
    words = [f"{one}{two}s" for one in "bcdfghk" for two in "aeiou"]
    counts = TermCounts(
        pages=Counter({key: 2 + n % 5 for n, key in enumerate((*labels, *words))}),
        times=Counter({key: 9 + n % 7 for n, key in enumerate((*labels, *words))}),
        forms={key: Counter({key: 1}) for key in (*labels, *words)},
    )
    assert Termhood(counts, labels[:19], "en").chances() == {}
    termhood = Termhood(counts, labels, "en")
    rows = np.array([termhood.features(key) for key in termhood.keys])
    varied = rows[:, rows.std(axis=0) > 0]
    varied = (varied - varied.mean(axis=0)) / varied.std(axis=0)
    varied = np.column_stack([varied, np.ones(len(rows))])
    known = np.array([key in labels for key in termhood.keys])
    expected = sigmoid(varied @ fit(varied, known.astype(float)))
    found = termhood.chances()
    assert found.keys() == set(words)
    assert found == pytest.approx(
        dict(zip(np.array(termhood.keys)[~known], expected[~known], strict=True)),
        abs=1e-6,
    )


def test_a_logistic_regression_is_held_near_zero_but_for_its_constant():
    """At the optimum of Σ loss + ½·‖w‖², Σ (y − chance)·x = w; of the constant, 0."""
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.normal(size=(60, 3)), np.ones(60)])
    labels = (rows[:, 0] + rng.normal(size=60) > 1).astype(float)
    weights = fit(rows, labels)
    slope = rows.T @ (labels - sigmoid(rows @ weights))
    assert slope == pytest.approx([*weights[:3], 0.0], abs=1e-6)
    assert weights[0] > 1
