"""The papers' experiments on small webs: what was seen there must not vanish.

The webs are pinned by their seeds. Floors are half of what was measured on them, or
less; where nothing was shown, as of blocks and PageRank, there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from opilio.cli import app
from opilio.lab.reproduce.c_website_model import precision, queries
from opilio.lab.reproduce.d_weight_table import neighbour
from opilio.lab.reproduce.experiment import (
    Claim,
    ClaimVerdict,
    Figures,
    finding,
    judged,
)
from opilio.lab.reproduce.interest import QUERIES, query_log, share_of_second
from opilio.lab.reproduce.runner import EXPERIMENTS, on_synthetic_webs
from opilio.lab.reproduce.searched_table import with_searched_table
from opilio.lab.reproduce.tables import markdown
from opilio.lab.seeds_and_targets import Ground
from opilio.lab.synthetic.dials import Dials
from opilio.topic import Topic, load_topic

SEED = 1
pytestmark = pytest.mark.timeout(300)  # they are long where others work as well


def differences(
    folder: Path, letter: str, dials: Dials, **changes: Any
) -> Mapping[str, float]:
    """Claim -> mean difference of its two arms, on a small web."""
    small = replace(EXPERIMENTS[letter], webs={"small": dials}, **changes)
    outcome = on_synthetic_webs(small, "small", folder, jobs=1, seeds=(SEED,))
    return {each.claim.text: each.paired.mean for each in outcome.findings}


def test_transcription_helps_where_pages_have_few_links(tmp_path: Path) -> None:
    dials = Dials(pages=600, hosts=12, topics=6, hindi=0.2, links=4)
    found = differences(tmp_path, "A", dials, topics=2, budget="1R")
    assert found["transcription helps on mixed pages"] > FLOORS["A"]


def test_an_ontology_beats_both_pagerank_and_breadth_first(tmp_path: Path) -> None:
    dials = Dials(pages=300, hosts=8, topics=4)
    found = differences(tmp_path, "B", dials, topics=2, budget="60")
    assert found["the ontology beats PageRank"] > FLOORS["B"]
    assert found["the ontology beats breadth-first"] > FLOORS["B"]


def test_a_table_that_follows_its_users_beats_one_that_does_not(tmp_path: Path) -> None:
    dials = Dials(pages=600, hosts=8, topics=4)
    found = differences(tmp_path, "D", dials, topics=1, budget="200")
    assert found["the dynamic table beats the static one"] > FLOORS["D dynamic"]
    assert found["the static table beats none"] > FLOORS["D static"]


def test_tunnels_lead_to_pages_that_nothing_else_does(tmp_path: Path) -> None:
    dials = Dials(pages=400, hosts=8, topics=8, mixed=0.3, hidden=0.1)
    found = differences(tmp_path, "E", dials, topics=1)
    assert found["tunnelling finds more targets"] > FLOORS["E"]
    assert found["so it does without blocks"] > FLOORS["E"]


def test_keywords_and_their_pairs_are_asked() -> None:
    bees = Topic(name="bees", keywords=("bee", "hive", "wax"))
    expected = ["bee", "hive", "wax", "bee hive", "bee wax", "hive wax"]
    assert queries(bees) == expected
    many = Topic(name="many", keywords=tuple("abcdefghij"))
    assert len(queries(many)) == 8


def test_precision_at_ten_counts_missing_results_as_wrong() -> None:
    assert precision(["a", "b", "x"], {"a", "b", "c"}) == pytest.approx(0.2)
    assert precision([str(n) for n in range(20)], {"1", "15"}) == pytest.approx(0.1)


def test_the_static_table_is_tf_df_over_search_results() -> None:
    """Equation 2: w = tf·df over the results, in parts of the greatest."""
    texts = [
        ["bee", "hive", "bee", "the"],
        ["bee", "hive", "honey"],
        ["chess", "rook", "board"],
    ]
    topic = with_searched_table(Topic(name="bees", keywords=("x",)), texts)
    # bee: 3 times in 2 results; hive: 2 in 2; honey: once in one
    assert topic.weights() == {
        "bee": 1.0,
        "hive": pytest.approx(4 / 6),
        "honey": pytest.approx(1 / 6),
    }


FLOORS = {"A": 0.005, "B": 0.15, "D dynamic": 0.12, "D static": 0.03, "E": 0.04}

CLAIM = Claim("a beats b", "a", "b", "harvest")


def figures(a: list[float], b: list[float]) -> list[Figures]:
    return [
        Figures(arm, str(group), {"harvest": value})
        for arm, values in (("a", a), ("b", b))
        for group, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([0.5, 0.6, 0.7], [0.4, 0.5, 0.5], ClaimVerdict.SHOWN),
        ([0.4, 0.5, 0.5], [0.5, 0.6, 0.7], ClaimVerdict.CONTRADICTED),
        ([0.5, 0.6, 0.4], [0.6, 0.4, 0.5], ClaimVerdict.NOT_SHOWN),
        ([0.9], [0.1], ClaimVerdict.NOT_SHOWN),  # of one group nobody can tell
    ],
)
def test_a_verdict_is_what_the_interval_says(
    a: list[float], b: list[float], verdict: ClaimVerdict
) -> None:
    assert finding(CLAIM, figures(a, b)).verdict is verdict


def test_groups_that_only_one_arm_has_are_not_compared() -> None:
    both = [*figures([0.5, 0.6], [0.4, 0.5]), Figures("a", "more", {"harvest": 0.0})]
    assert finding(CLAIM, both).paired.mean == pytest.approx(0.1)


def test_one_claim_that_is_contradicted_decides_the_verdict() -> None:
    claims = (CLAIM, Claim("b beats a", "b", "a", "harvest"))
    experiment = replace(EXPERIMENTS["B"], claims=claims, measures=("harvest",))
    outcome = judged(experiment, figures([0.5, 0.6], [0.4, 0.5]), "kind", ["a web"])
    assert outcome.verdict is ClaimVerdict.CONTRADICTED
    aside = replace(experiment, claims=(CLAIM, Claim("b", "b", "a", "harvest", False)))
    outcome = judged(aside, figures([0.5, 0.6], [0.4, 0.5]), "kind", ["a web"])
    assert outcome.verdict is ClaimVerdict.SHOWN
    assert "| (b) | harvest | -0.100 (-0.100 to -0.100) | 0–0–2 | contradicted |" in (
        markdown([outcome])
    )


@given(st.integers(1, 10_000).map(lambda quarter: 4 * quarter))
def test_interest_drifts_in_the_second_quarter(budget: int) -> None:
    shares = [share_of_second(n, budget) for n in (0, budget // 4, budget // 2, budget)]
    assert shares == [0, 0, 1, 1]
    assert share_of_second(3 * budget // 8, budget) == pytest.approx(
        0.5, abs=4 / budget
    )


def test_the_log_is_about_what_users_turn_to() -> None:
    log = query_log(["bee"], ["lava"], 400, "seed")
    assert set(log[0].queries) == {"bee"}
    assert set(log[-1].queries) == {"lava"}
    halfway = next(batch for batch in log if batch.after == 150)
    assert halfway.queries.count("lava") == QUERIES // 2
    assert log == query_log(["bee"], ["lava"], 400, "seed")
    assert log != query_log(["bee", "hive"], ["lava", "ash"], 400, "another")


def test_a_neighbour_is_another_topic_of_the_web(ground: Ground) -> None:
    for topic in ground.web.topics:
        assert neighbour(ground, topic) in set(ground.web.topics) - {topic}
        assert load_topic(ground.web.topics[topic]).keywords


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["F"], "there are A, B, C, D, E"), (["A", "--mixed-web", "x"], "--dictionary")],
)
def test_what_cannot_be_reproduced_is_said_at_once(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    out = ["-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["lab", "reproduce", *arguments, *out])
    assert result.exit_code != 0
    assert told in str(result.exception)
    assert not (tmp_path / "out").exists()
