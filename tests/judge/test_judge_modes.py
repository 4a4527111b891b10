"""Judges by the names that settings and the command line give them."""

import pytest

from judge.learning_pages import make, subject
from opilio.assembly.registry import choose_by_name
from opilio.errors import BadInput
from opilio.judge import JUDGES, Blocks, Cosine


def test_a_mode_is_chosen_with_the_name():
    for name, fixed in (("cosine", Cosine), ("blocks", Blocks)):
        page = make("sky", 1)
        paper = choose_by_name("judge", f"{name},mode=paper", JUDGES)(subject())
        assert paper.judge(page) == fixed(subject(), mode="paper").judge(page)
        assert paper.judge(page).score != fixed(subject()).judge(page).score


def test_the_mode_that_is_the_default_can_be_named():
    for name in ("cosine", "blocks", "association", "ontoclassifier"):
        assert choose_by_name("judge", f"{name},mode=fixed", JUDGES) is JUDGES[name]


def test_an_unknown_mode_is_refused_and_the_known_ones_are_named():
    with pytest.raises(
        BadInput, match=r"'cosine' has no mode 'papr'; it has: fixed .*, paper$"
    ):
        choose_by_name("judge", "cosine,mode=papr", JUDGES)
    for mode in ("paper", "fixed"):
        with pytest.raises(BadInput, match="'bootstrapped' has no modes"):
            choose_by_name("judge", f"bootstrapped,mode={mode}", JUDGES)
    with pytest.raises(BadInput, match="unknown judge 'cosin,mode=paper'; did you"):
        choose_by_name("judge", "cosin,mode=paper", JUDGES)
    with pytest.raises(BadInput, match=r"known: .*blocks,mode=maximum"):
        choose_by_name("judge", "linear,strength=2", JUDGES)
