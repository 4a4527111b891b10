"""What is said of a setting that cannot be: where it is, and what would do."""

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from opilio.errors import BadInput
from opilio.settings import Section, Settings, Some, build_section


class Part(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table in an array."""

    term: str
    weight: float = 1.0


class Odd(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One field of each kind."""

    mode: Literal["fixed", "paper"] = "fixed"
    count: Some = 1
    size: Annotated[int, Meta(ge=1, le=256)] = 1
    rate: Annotated[float, Meta(gt=0)] = 1.0
    share: Annotated[float, Meta(ge=0, lt=1)] = 0.5
    free: float = 0.0
    on: bool = False
    phases: Annotated[str, Meta(pattern="^1?2?3?$")] = "123"
    names: tuple[str, ...] = ()
    parts: tuple[str | Part, ...] = ()
    inner: Settings = Settings()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "foo"}, "mode: expected one of 'fixed', 'paper', got 'foo'"),
        ({"mode": 3}, "mode: expected one of 'fixed', 'paper', got 3"),
        ({"count": "0"}, "count: expected a whole number of at least 1, got '0'"),
        ({"count": 1.5}, "count: expected a whole number of at least 1, got 1.5"),
        ({"size": 257}, "size: expected a whole number from 1 to 256, got 257"),
        ({"rate": 0}, "rate: expected a number above 0, got 0"),
        ({"share": 1}, "share: expected a number of at least 0 and below 1, got 1"),
        ({"free": "x"}, "free: expected a number, got 'x'"),
        ({"on": "maybe"}, "on: expected true or false, got 'maybe'"),
        ({"phases": "9"}, "phases: expected text that matches ^1?2?3?$, got '9'"),
        ({"names": [3]}, "names[0]: expected `str`, got `int`"),
        (
            {"parts": ["a", {"term": "b", "weight": "much"}]},
            "parts[1].weight: expected a number, got 'much'",
        ),
        ({"parts": [{}]}, "missing required field `term`; add it"),
        (
            {"inner": {"crawl": {"max_pages": -1}}},
            "inner.crawl.max_pages: expected a whole number of at least 0, got -1",
        ),
        ({"inner": {"options": {"a": [1]}}}, "inner.options[...]: expected"),
        ({"count": "x" * 99}, f"got '{'x' * 59}…"),
    ],
)
def test_the_message_says_what_would_do(given: dict[str, Any], said: str):
    with pytest.raises(BadInput) as caught:
        build_section(given, Odd, "crawl.toml", strict=False)
    assert str(caught.value).startswith("crawl.toml: ")
    assert said in str(caught.value)
