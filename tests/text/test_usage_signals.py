"""What sites say about the use of their pages, and what that reserves."""

import pytest

from opilio.fetch.robots_rules import read_rules, reduce_file, usage_in
from opilio.text.usage_signals import page_usage, reservation, reserved_purposes


@pytest.mark.parametrize(
    ("usage", "reserved"),
    [
        ({}, set()),
        ({"content-usage": "train-ai=n"}, {"ai-train"}),
        ({"content-usage": "train-ai=y, search=n"}, {"search"}),
        ({"robots.txt content-signal": "search=yes, ai-train=no"}, {"ai-train"}),
        ({"content-signal": "ai-input=no,ai-train=NO"}, {"ai-input", "ai-train"}),
        ({"tdm-reservation": "1"}, {"ai-input", "ai-train"}),
        ({"tdm-reservation": "0"}, set()),
        ({"robots": "noai, noimageai"}, {"ai-input", "ai-train"}),
        ({"robots": "noimageai"}, set()),
        ({"creative-commons": "by-nc/4.0"}, set()),
        ({"content-usage": "something=n"}, set()),  # unknown stays unknown
        ({"robots.txt license": "https://a.test/license.xml"}, set()),
    ],
)
def test_what_signals_reserve(usage: dict[str, str], reserved: set[str]):
    assert reserved_purposes(usage) == reserved
    for purpose in ("search", "ai-input", "ai-train", "research"):
        assert bool(reservation(usage, purpose)) == (purpose in reserved)


def test_a_page_tells_its_signals_in_headers_meta_elements_and_licences():
    headers = [
        ("content-type", "text/html"),
        ("content-usage", "train-ai=n"),
        ("x-robots-tag", "noindex, noai"),
        ("tdm-reservation", "1"),
    ]
    metas = {"robots": ["NoImageAI"], "tdm-policy": ["https://a.test/policy"]}
    licences = ["https://creativecommons.org/licenses/by-sa/4.0/deed"]
    assert page_usage(headers, metas, licences) == {
        "content-usage": "train-ai=n",
        "tdm-reservation": "1",
        "tdm-policy": "https://a.test/policy",
        "robots": "noai, noimageai",
        "creative-commons": "by-sa/4.0",
    }
    assert page_usage([], {}, []) == {}


ROBOTS = b"""
User-agent: GPTBot
Content-Signal: ai-train=no
Disallow: /

User-agent: *
Content-Signal: search=yes, ai-train=no
Content-Usage: train-ai=y
Content-Usage: /private/ train-ai=n
Disallow: /secret

License: https://a.test/license.xml
"""


@pytest.mark.parametrize("reduced", [False, True])
def test_robots_txt_tells_signals_and_rules_apart(reduced: bool):
    body = reduce_file(ROBOTS, "opilio") if reduced else ROBOTS
    assert usage_in(body, "opilio", "http://a.test/x") == {
        "content-signal": "search=yes, ai-train=no",
        "content-usage": "train-ai=y",
        "license": "https://a.test/license.xml",
    }
    assert usage_in(body, "opilio", "http://a.test/private/x")["content-usage"] == (
        "train-ai=n"
    )
    rules = read_rules(body, "opilio")
    assert rules.allows("http://a.test/private/x")
    assert not rules.allows("http://a.test/secret")
    assert rules.size == 1
