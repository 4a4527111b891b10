"""The least and greatest values that options of the papers' strategies may have."""

import msgspec
import pytest

from opilio.strategies import load_strategy, strategies


@pytest.mark.parametrize(
    ("strategy", "option", "allowed", "refused"),
    [
        ("mcore", "min_ontrel", [0, 99], [-0.1]),
        ("mcore", "min_larel", [0, 99], [-0.1]),
        ("mcore", "context_length", [1, 10_000], [0, 10_001]),
        ("mcore", "hops", [1, 10], [0, 11]),
        ("ordering", "backlinks", [0, 99], [-0.1]),
        ("ordering", "k", [0, 99], [-1]),
        ("weight-table", "page_threshold", [0, 1], [-0.1, 1.1]),
        ("weight-table", "link_threshold", [0, 4], [-0.1, 4.1]),
        ("blocks", "mu", [0, 1], [-0.1, 1.1]),
        ("blocks", "limit", [0, 1], [-0.1, 1.1]),
        ("blocks", "decay", [0, 1], [-0.1, 1.1]),
        ("blocks", "max_level", [0, 99], [-1]),
    ],
)
def test_an_option_has_limits(strategy, option, allowed, refused):
    options = load_strategy(strategies()[strategy]).Options
    for value in allowed:
        assert getattr(msgspec.convert({option: value}, options), option) == value
    for value in refused:
        with pytest.raises(msgspec.ValidationError, match=option):
            msgspec.convert({option: value}, options)
