"""tdmrep.json: its rules, and which of them holds for a page."""

import msgspec
import pytest

from opilio.fetch.tdm_rules import read_tdm_rules, tdm_usage


def usage(rules: list[dict], url: str) -> dict[str, str]:
    found = read_tdm_rules(msgspec.json.encode(rules))
    assert found is not None
    return tdm_usage(msgspec.json.encode(found), url)


RULES = [
    {"location": "/free/$", "tdm-reservation": 0},
    {"location": "*.jpg", "tdm-reservation": "1", "tdm-policy": "https://a.test/p"},
    {"location": "/b%c3%a4r/", "tdm-reservation": 1},
    {"location": "/in/*/deep", "tdm-reservation": 1},
]


@pytest.mark.parametrize(
    ("path", "reserved"),
    [
        ("/free/", "0"),
        ("/free/more", None),
        ("/pictures/bee.jpg", "1"),
        ("/pictures/bee.jpg?size=1", "1"),
        ("/b%C3%A4r/1", "1"),
        ("/in/the/deep", "1"),
        ("/in/deep", None),
        ("/", None),
    ],
)
def test_the_first_rule_that_matches_counts(path: str, reserved: str | None):
    found = usage(RULES, f"https://a.test{path}")
    assert found.get("tdm-reservation") == reserved


def test_a_policy_is_told():
    found = usage(RULES, "https://a.test/bee.jpg")
    assert found == {"tdm-reservation": "1", "tdm-policy": "https://a.test/p"}


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"{}", b"null", b"[" * 100_000, b"\xff\xfe"]
)
def test_what_is_no_such_file_has_no_rules(body: bytes):
    assert read_tdm_rules(body) is None


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"location": "/"},
        {"tdm-reservation": 1},
        {"location": 7, "tdm-reservation": 1},
        {"location": "/", "tdm-reservation": 2},
        {"location": "/", "tdm-reservation": True},
        {"location": "/" * 9999, "tdm-reservation": 1},
    ],
)
def test_what_is_no_rule_is_left_out(rule: dict):
    right = {"location": "/", "tdm-reservation": 1}
    found = read_tdm_rules(msgspec.json.encode([rule, "rule", right]))
    assert found is not None and [one.location for one in found] == ["/"]


def test_many_rules_with_many_wildcards_take_little_time():
    rules = [{"location": "/*a" * 160, "tdm-reservation": 1}] * 5000
    assert usage(rules, "https://a.test/" + "a" * 2000) == {}
