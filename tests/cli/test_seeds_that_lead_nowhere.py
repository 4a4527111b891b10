"""Seeds that forbid, or lead out of scope: the end, `status` and `explain` say so."""

import msgspec
import pytest

from in_process import run
from opilio.cli.link_reasons import REASONS, reason_in_words
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.limits.followable_links import obstacles
from opilio.limits.scope import Scope
from opilio.records import Link, Page
from opilio.settings import ScopeSettings as Rules

BEES = "The bee makes honey in the hive. " * 20
SILENT = '<meta name="robots" content="noindex, nofollow"><title>'
URL = "http://seed.test/"
TOPIC = """
name = "bees"
keywords = ["bee", "honey", "hive"]
seeds = ["http://seed.test/", "http://closed.test/", "http://gone.test/"]
[scope]
domains = ["seed.test", "gone.test"]
"""
WEB = SmallWeb(
    {
        "http://seed.test/": page("Bees", BEES, {"http://far.test/": "bees"}),
        "http://closed.test/": page("Hive", f"hive {BEES}", {"/a": "bees"}).replace(
            "<title>", SILENT
        ),
    }
)


def test_the_end_the_status_and_explain_say_what_is_wrong_with_seeds(crawled_once):
    life, ended = crawled_once
    told = {seed["url"]: seed["obstacles"] for seed in ended.json()["seeds"]}
    assert told == {
        "http://gone.test/": ["http_404"],
        "http://seed.test/": ["links_out_of_scope"],
        "http://closed.test/": ["out_of_scope", "noindex", "nofollow"],
    }
    status = run("status", life.folder)
    lines = [line.strip() for line in status.out.splitlines()]
    assert "http://seed.test/: has only links outside [scope]" in lines
    assert "http://gone.test/: answered 404 (Not Found)" in lines
    assert any(
        line.startswith("http://closed.test/: is outside [scope] and asks not to be")
        for line in lines
    )
    assert (
        run("status", life.folder, "--json").json()["seeds"] == (ended.json()["seeds"])
    )
    shown = run("explain", life.folder, "http://seed.test/").out
    assert "1, 0 of them followed" in shown
    assert "The page has only links outside [scope]." in shown
    shown = run("explain", life.folder, "http://closed.test/").out
    assert "The page asks that its links are not followed (nofollow)." in shown
    shown = run("explain", life.folder, "http://gone.test/").out
    assert "unusable: answered 404 (Not Found)" in shown


@pytest.fixture
async def crawled_once(crawled):
    life = await crawled(WEB, topic_text=TOPIC)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    return life, ended


def read(*links: Link, **facts: bool) -> Page:
    bare = Page(URL, "", "en", "utf-8", 9, {}, 0.0, 0, links)
    return msgspec.structs.replace(bare, **facts)


NEAR, FAR = Link("http://seed.test/a", 1), Link("http://far.test/", 2)
MARKED = Link("http://seed.test/b", 3, rel="nofollow")


@pytest.mark.parametrize(
    ("found", "links", "facts"),
    [
        ([], [NEAR, FAR, MARKED], {}),
        (["noindex"], [NEAR], {"noindex": True}),
        (["nofollow"], [NEAR], {"nofollow": True}),
        (["no_links"], [], {}),
        (["no_links"], [Link(URL, 4)], {}),
        (["links_out_of_scope"], [FAR], {}),
        (["links_nofollow"], [MARKED], {}),
        (["links_forbidden"], [MARKED, FAR], {}),
    ],
)
def test_what_keeps_a_page_from_leading_on_is_named(found, links, facts):
    scope = Scope(Rules(domains=("seed.test",)))
    assert obstacles(read(*links, **facts), URL, scope) == found


def test_reasons_are_words():
    assert reason_in_words("http_503") == "answered 503 (Service Unavailable)"
    assert reason_in_words("http_999") == "answered 999"
    assert reason_in_words("of another program") == "of another program"
    assert all(" " in words or words == "TLS failure" for words in REASONS.values())
