"""Options of strategies that cannot be are refused before anything is made."""

import pytest

from crawling import opilio
from opilio.lab.synthetic.small import SmallWeb


@pytest.mark.parametrize(
    ("strategy", "option", "said"),
    [
        ("ordering", "b1=inf", "b1 is inf"),
        ("random", "seed=99999999999999999999999", "seed"),
        ("blocks", "mu=5", "mu: expected a number from 0 to 1, got '5'"),
        ("blocks", "mode=foo", "mode: expected one of 'fixed', 'paper', got 'foo'"),
        ("blocks", "nothing=1", "unknown key 'nothing'"),
        ("blocks", "mu", "NAME=VALUE"),
    ],
)
async def test_an_impossible_option_is_refused(crawled, strategy, option, said):
    life = await crawled(SmallWeb({}))
    command = life.command("--strategy", strategy, "--option", option)
    ended = await opilio(*command)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    assert not life.folder.exists()
