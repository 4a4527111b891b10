"""Redirects that can be foreseen: the rules, what breaks them, and whole crawls."""

from __future__ import annotations

from itertools import product

import pytest

from opilio.fetch.expected_redirects import HOSTS, ExpectedRedirects
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.text import urls

ONE = (
    "[crawl]\nin_flight = 1\nnear_copies = false\n"
    "[politeness]\ndelay = 0.0\n[store]\nmin_free = 0\n"
)
BEES = "The bee makes honey in the hive. " * 20


def expected(rules: ExpectedRedirects, url: str) -> str:
    return rules.expect(url, urls.fingerprint(url))


@pytest.mark.parametrize(
    ("moved", "onward"),
    [
        ("http://a.test/{}", "https://a.test/{}"),
        ("http://a.test/docs/{}/index.html", "http://a.test/docs/{}/"),
        ("http://a.test/docs/{}", "http://a.test/docs/{}/"),
        ("http://a.test/docs/{}/", "http://a.test/docs/{}"),
        ("http://a.test/{}/index.html", "https://a.test/{}/"),
    ],
)
def test_two_redirects_of_a_kind_foretell_the_third(moved: str, onward: str) -> None:
    rules = ExpectedRedirects()
    assert expected(rules, moved.format("one")) == ""
    for name in ("one", "two"):
        rules.note(moved.format(name), onward.format(name))
    assert expected(rules, moved.format("three")) == onward.format("three")
    assert expected(rules, onward.format("three")) == ""
    assert expected(rules, moved.format("three").replace("a.test", "b.test")) == ""


def test_what_does_not_follow_a_rule_teaches_none() -> None:
    rules = ExpectedRedirects()
    for number in range(9):
        rules.note(f"http://a.test/{number}", f"http://a.test/new/{number}/x")
        rules.note(f"http://a.test/p{number}", "http://a.test/")
        rules.note(f"http://a.test/q{number}", f"https://b.test/q{number}")
    for url in ("http://a.test/9", "http://a.test/p9", "http://a.test/q9"):
        assert expected(rules, url) == ""


def test_a_page_breaks_the_rule_for_good() -> None:
    rules = ExpectedRedirects()
    for name in ("one", "two"):
        rules.note(f"http://a.test/{name}", f"http://a.test/{name}/")
    rules.note_page("http://a.test/file.txt")  # says nothing about folders
    assert expected(rules, "http://a.test/three") == "http://a.test/three/"
    rules.note_page("http://a.test/four")
    rules.note("http://a.test/five", "http://a.test/five/")
    assert expected(rules, "http://a.test/three") == ""


def test_hosts_of_a_domain_that_go_to_https_speak_for_the_others() -> None:
    rules = ExpectedRedirects()
    for number in range(HOSTS):
        assert expected(rules, "http://new.site.com/") == ""
        rules.note(f"http://h{number}.site.com/", f"https://h{number}.site.com/")
    assert expected(rules, "http://new.site.com/x") == "https://new.site.com/x"
    assert expected(rules, "http://elsewhere.com/") == ""
    assert expected(rules, "http://new.site.com:8080/") == ""
    rules.note_page("http://plain.site.com/")
    assert expected(rules, "http://plain.site.com/") == ""
    assert expected(rules, "http://new.site.com/x") == ""
    assert expected(rules, "http://h1.site.com/x") == "https://h1.site.com/x"


def test_a_doubted_address_is_asked() -> None:
    rules = ExpectedRedirects()
    rules.note("http://a.test/", "https://a.test/")
    rules.doubt(urls.fingerprint("http://a.test/x"))
    assert expected(rules, "http://a.test/x") == ""
    assert expected(rules, "http://a.test/y") == "https://a.test/y"


def test_rules_survive_a_restart() -> None:
    rules, again = ExpectedRedirects(), ExpectedRedirects()
    assert rules.dump() is None
    rules.note("http://a.test/", "https://a.test/")
    learnt = rules.dump()
    assert learnt and rules.dump() is None
    again.load(learnt)
    assert expected(again, "http://a.test/x") == "https://a.test/x"


def folders(names: str, exception: str = "") -> dict[str, object]:
    """A web whose folders are linked without their slash."""
    web: dict[str, object] = {
        "http://seed.test/": page("Bees", BEES, {f"/docs/{n}": n for n in names}),
    }
    for name, slash in product(names, ("", "/")):
        url = f"http://seed.test/docs/{name}{slash}"
        if name == exception:
            if not slash:
                web[url] = page(f"Bees {name}", BEES + name * 9)
        elif slash:
            web[url] = page(f"Bees {name}", BEES + name * 9)
        else:
            web[url] = redirect(f"/docs/{name}/")
    return web


async def test_a_crawl_asks_no_more_than_two_folders_for_their_slash(crawled):
    life = await crawled(SmallWeb(folders("abcdefgh")), settings_text=ONE)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    states = life.states()
    for name in "abcdefgh":
        assert states[f"http://seed.test/docs/{name}/"] == ("kept", None)
    asked = [states[f"http://seed.test/docs/{name}"] for name in "abcdefgh"]
    assert sorted(asked) == [("copy", "redirect")] * 2 + [("parked", "moved")] * 6
    assert ended.json()["pages"] == 9


async def test_a_page_is_not_lost_if_its_redirect_was_foreseen_wrongly(crawled):
    life = await crawled(
        SmallWeb(folders("abcdefgh", exception="h")), settings_text=ONE
    )
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    states = life.states()
    assert states["http://seed.test/docs/h"] == ("kept", None)
    assert sum(state == "kept" for state, _ in states.values()) == 9
