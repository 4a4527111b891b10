"""Which URLs belong to a crawl."""

import pytest

from opilio import settings
from opilio.errors import BadInput
from opilio.limits.scope import Scope
from opilio.text import urls


def allows(url: str, **rules: tuple[str, ...]) -> bool:
    return Scope(settings.ScopeSettings(**rules)).allows(url)


def test_an_empty_scope_allows_everything() -> None:
    assert allows("http://anything.org/at?all")


@pytest.mark.parametrize("domain", ["ex.com", "EX.com.", ".ex.com", "*.ex.com"])
def test_a_domain_stands_for_all_its_hosts(domain: str) -> None:
    assert allows("http://ex.com/", domains=(domain,))
    assert allows("https://a.b.ex.com:8443/c", domains=("x.org", domain))
    assert not allows("http://notex.com/", domains=(domain,))
    assert not allows("http://ex.com.evil.org/", domains=(domain,))
    assert not allows("http://com/", domains=(domain,))


def test_a_host_may_be_named_with_its_port_as_an_address_or_in_any_script() -> None:
    assert allows("http://127.0.0.1:8000/", domains=("127.0.0.1:8000",))
    assert not allows("http://127.0.0.1:8001/", domains=("127.0.0.1:8000",))
    assert allows("http://127.0.0.1:8001/", domains=("127.0.0.1",))
    assert allows("http://[::1]:8001/", domains=("[::1]",))
    assert allows("http://www.xn--bcher-kva.de/", domains=("bücher.de",))


def test_an_excluded_domain_wins() -> None:
    rules = {"domains": ("ex.com",), "exclude_domains": ("ads.ex.com",)}
    assert allows("http://www.ex.com/", **rules)
    assert not allows("http://ads.ex.com/", **rules)
    assert not allows("http://a.ads.ex.com/", **rules)


@pytest.mark.parametrize(
    "name", ["", "*", "a b", "ex.com/path", "http://ex.com", "a?b"]
)
def test_a_rule_that_names_no_host_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"scope\.exclude_domains: "):
        Scope(settings.ScopeSettings(exclude_domains=(name,)))


@pytest.mark.parametrize(
    ("pattern", "path", "excluded"),
    [
        ("/login*", "/login", True),
        ("/login*", "/login/now?next=x", True),
        ("/login*", "/a/login", False),
        ("*.zip", "/a/b.zip", True),
        ("*.zip", "/a/b.zip?mirror=1", True),
        ("*.zip", "/a/b.zip.html", False),
        ("*print=1*", "/a?print=1&x", True),
        ("/a/?", "/a/b", True),
        ("/a/?", "/a/bc", False),
        ("/[ab]/*", "/b/x", True),
        ("/[!ab]/*", "/b/x", False),
        ("/a.b", "/aXb", False),
        ("/A", "/a", False),
        ("/हिन्दी/*", urls.canonical("http://ex.com/हिन्दी/x")[13:], True),
        ("/a b", "/a%20b", True),
    ],
)
def test_a_pattern_excludes_paths(pattern: str, path: str, excluded: bool) -> None:
    url = "http://ex.com" + path
    assert allows(url, exclude_paths=(pattern,)) is not excluded


def test_many_stars_cannot_make_a_pattern_slow() -> None:
    # A backtracking matcher would need longer than the universe has been there.
    pattern = "*a" * 60 + "*b"
    assert allows("http://ex.com/" + "a" * 2000, exclude_paths=(pattern,))
