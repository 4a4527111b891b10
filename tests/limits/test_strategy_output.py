"""Faults of someone's strategy are told by its name and by what it gave."""

from pathlib import Path

import numpy as np
import pytest

from crawling import opilio, with_strategy
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.limits.strategy_output import (
    as_list,
    check_verdict,
    is_promise,
    refuse_links,
    refuse_revisions,
)
from opilio.records import Link, Page, Ranked, Verdict

LINK = Link("http://a.test/", 1)
JUDGED = Page("http://a.test/", "", "", "", 0, {}, 0.0, 0, ())
THEIRS = """
from opilio.settings import Section
from opilio.strategies.best_first import BestFirst
from opilio.records import Ranked

class Theirs(BestFirst):
    def rank(self, page, verdict, lease):
        return [Ranked(link, {promise}) for link in page.links]

    def revise(self):
        return {revisions}
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            [Ranked(LINK, None)],
            "mine returned None .* as the promise of http://a.test/",
        ),
        ([Ranked(LINK, "0.5")], r"'0\.5' \(of type str\) as the promise"),
        ([Ranked(LINK, float("nan"))], "nan"),
        ([Ranked(LINK, float("inf"))], "inf"),
        ([Ranked(LINK, 1.0), LINK], "which is not a Ranked"),
        ([Ranked(LINK, "x" * 10_000)], "…"),
    ],
    ids=["None", "str", "nan", "inf", "a link", "long"],
)
def test_a_wrong_promise_is_named(given: list, told: str):
    with pytest.raises(BadInput, match=told) as caught:
        refuse_links("mine", given)
    assert len(str(caught.value)) < 300


def test_what_can_be_ordered_is_a_promise():
    assert all(map(is_promise, (1, 0.5, True, np.float64(2), np.float32(2), -3.0)))
    refuse_links("mine", [Ranked(LINK, np.float32(0.5))])


def test_no_links_at_all_and_wrong_revisions_are_named():
    with pytest.raises(BadInput, match="mine returned None instead of links"):
        as_list("mine", None)
    with pytest.raises(BadInput, match=r"mine returned 'high' .* new promise"):
        refuse_revisions("mine", [(1, 0.5), (2, "high")])


def crawl_with(promise: str, revisions: str) -> str:
    return THEIRS.replace("{promise}", promise).replace("{revisions}", revisions)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            crawl_with("None", "()"),
            "theirs returned None (of type NoneType)",
        ),
        (
            crawl_with("1.0", "[(1, float('nan'))]"),
            "theirs returned nan (of type float)",
        ),
    ],
    ids=["rank", "revise"],
)
async def test_a_crawl_ends_with_what_the_strategy_gave(
    crawled, tmp_path: Path, code: str, told: str
):
    web = SmallWeb({"http://seed.test/": page("Bees", "honey", {"/a": "honey"})})
    life = await crawled(web)
    env = with_strategy(tmp_path / "theirs", code)
    ended = await opilio(*life.command("--strategy", "theirs"), env=env)
    assert ended.code == 2
    assert told in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("score", [0, 1, 0.5, 1 + 1e-12, np.float32(0.5)])
def test_a_score_may_be_any_number_from_0_to_1(score):
    check_verdict("mine", Verdict(score, True), JUDGED)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (None, r"returned None \(of type NoneType\) as the verdict of http://"),
        (0.5, r"returned 0.5 \(of type float\) as the verdict"),
        (Verdict(1.5, True), r"returned 1.5 \(of type float\) as the score of http://"),
        (Verdict(float("nan"), True), "returned nan"),
        (Verdict("1", True), r"returned '1' \(of type str\) as the score"),
    ],
)
def test_what_is_no_verdict_is_refused_with_the_judge_and_the_page(verdict, said):
    with pytest.raises(BadInput, match=f"the judge mine {said}"):
        check_verdict("mine", verdict, JUDGED)
