"""The canonical form, joining, sites, templates and scope."""

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opilio.text import urls
from opilio.text.link_joiner import Joiner

# Text that a URL parser trips over more often than over random text.
PIECES = [
    *"/?#&=;:@.%\\ \t\n[]|~+'\"<>{}^`",
    "//",
    "/../",
    "/./",
    "../",
    "..;jsessionid=1",
    ";jsessionid=1",
    "%2e",
    "%2F",
    "%7e",
    "%",
    "%25",
    "2",
    "45",
    "http:",
    "HTTPS://",
    "http://ex.com",
    "javascript:",
    "mailto:",
    "data:,",
    "user:pw@",
    "ex.com",
    "Bücher.de",
    "हिन्दी",
    "127.0.0.1",
    "0x7f.1",
    "[::1]",
    ":80",
    ":8080",
    "utm_source=x",
    "PHPSESSID=1",
    "sid=abc",
    "a=1",
    "b=%C3%A9",
    "a",
    "Page-1_x.html",
    "\ud800",
    "\u3002",
]
hostile = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text()
absolute = hostile.map(lambda rest: "http://ex.com" + rest) | hostile


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        # papers.md B.4-4 and D test 5
        ("http://uiet.puchd.ac.in:80/", "http://uiet.puchd.ac.in/"),
        ("HTTP://Ex.com:80/a/../b#x", "http://ex.com/b"),
        # case, port, path, fragment
        ("https://EX.com:443", "https://ex.com/"),
        ("https://ex.com:80/", "https://ex.com:80/"),
        ("http://ex.com/A/./B/../c", "http://ex.com/A/c"),
        ("http://ex.com/a/%2E%2e/b", "http://ex.com/b"),
        ("http://ex.com/../../a", "http://ex.com/a"),
        ("http://ex.com?a", "http://ex.com/?a"),
        ("http://ex.com/#", "http://ex.com/"),
        ("http://ex.com/a//b", "http://ex.com/a//b"),
        # hostile-web.md row 34
        ("http:\\\\ex.com\\a", "http://ex.com/a"),
        ("  http://ex.com/a\tb\nc  ", "http://ex.com/abc"),
        ("http://user:pass@ex.com/", "http://ex.com/"),
        ("http://a@b@ex.com/", "http://ex.com/"),
        ("http://Bücher.de/", "http://xn--bcher-kva.de/"),
        ("http://ex\uff0ecom/", "http://ex.com/"),
        ("http://аpple.com/", "http://xn--pple-43d.com/"),  # Cyrillic а
        ("http://ex.com./", "http://ex.com/"),
        ("http://ex.com.:8080/", "http://ex.com:8080/"),
        # hostile-web.md row 24
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0/", "http://0.0.0.0/"),
        ("http://0177.0.0.01:8000/", "http://127.0.0.1:8000/"),
        ("http://127.1.:80/", "http://127.0.0.1/"),
        ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://[0:0:0:0:0:ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://u@[::1]:8080/", "http://[::1]:8080/"),
        # escapes
        ("http://ex.com/%7Euser/%41%2d", "http://ex.com/~user/A-"),
        ("http://ex.com/a%2fb%c3%a9", "http://ex.com/a%2Fb%C3%A9"),
        ("http://ex.com/é ", "http://ex.com/%C3%A9"),
        ("http://ex.com/100%", "http://ex.com/100%25"),
        ("http://ex.com/%2%45", "http://ex.com/%252E"),
        ("http://ex.com/?q=%7e%3d%zz", "http://ex.com/?q=~%3D%25zz"),
        # queries; hostile-web.md row 37
        ("http://ex.com/?b=2&a=1", "http://ex.com/?a=1&b=2"),
        ("http://ex.com/?b=1&a=2&b=0", "http://ex.com/?a=2&b=1&b=0"),
        ("http://ex.com/?&&a=1&", "http://ex.com/?a=1"),
        ("http://ex.com/a?", "http://ex.com/a"),
        ("http://ex.com/?a&b=", "http://ex.com/?a&b="),
        ("http://ex.com/a?utm_source=x&UTM_Medium=y", "http://ex.com/a"),
        ("http://ex.com/?gclid=1&a=1&fbclid=2", "http://ex.com/?a=1"),
        ("http://ex.com/?PHPSESSID=abc&a=1", "http://ex.com/?a=1"),
        ("http://ex.com/?a=1&jsessionid=abc", "http://ex.com/?a=1"),
        ("http://ex.com/?ASPSESSIONIDABCD=abc", "http://ex.com/"),
        ("http://ex.com/?utm%5Fsource=x", "http://ex.com/"),
        ("http://ex.com/?sid=8ab3f0c2", "http://ex.com/"),
        ("http://ex.com/?sid=42", "http://ex.com/?sid=42"),
        ("http://ex.com/?side=1&consid=2", "http://ex.com/?consid=2&side=1"),
        ("http://ex.com/a;jsessionid=1?b", "http://ex.com/a?b"),
        ("http://ex.com/a;JSESSIONID=1/b;v=2", "http://ex.com/a/b;v=2"),
        ("http://ex.com/a/..;jsessionid=1/b", "http://ex.com/b"),
    ],
)
def test_the_canonical_form_is(url: str, expected: str) -> None:
    """Meenu et al., section 3.2.7: "We store all URLs seen by crawler in canonical
    form"."""
    assert urls.canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ex.com",
        "//ex.com/",
        "ftp://ex.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http://",
        "http://ex.com:99999/",
        "http://a b/",
        "http://a%00b/",
        "http://1.2.3.4.5/",
        "http://[::g]/",
        "http://a..b/",
        "http://127.0.0.1../",
        "http://./",
        "http://" + "a" * 64 + ".com/",
        "http://" + "a." * 130 + "com/",
        "http://ex.com/" + "a" * urls.MAX_LENGTH,
        "http://ex.com/\ud800",
    ],
)
def test_no_canonical_form_has(url: str) -> None:
    with pytest.raises(ValueError):
        urls.canonical(url)
    assert urls.join("", url) == ""


@given(absolute)
@example("http://ex.com/%2%45%2%35")
@example("http://ex.com/..;jsessionid=1/..;jsessionid=2;sessionid=3")
def test_the_canonical_form_is_its_own_canonical_form(url: str) -> None:
    once = urls.join("", url)
    if once:
        assert urls.canonical(once) == once
        assert once.isascii()
        assert once.startswith(("http://", "https://"))
        assert ada_url.normalize_url(once) == once
        assert "#" not in once
        assert "@" not in urls.host(once)


@given(st.lists(st.sampled_from(["a=1", "b=2", "c", "d=", "e=x%2F"]), unique=True))
def test_the_order_of_parameters_does_not_matter(pairs: list[str]) -> None:
    forwards = urls.canonical("http://ex.com/?" + "&".join(pairs))
    backwards = urls.canonical("http://ex.com/?" + "&".join(reversed(pairs)))
    assert forwards == backwards
    assert urls.fingerprint(forwards) == urls.fingerprint(backwards)


@pytest.mark.parametrize(
    ("base", "href", "expected"),
    [
        ("http://ex.com/a/b", "c", "http://ex.com/a/c"),
        ("http://ex.com/a/b", "", "http://ex.com/a/b"),
        ("http://ex.com/a/b?q=1#f", "#top", "http://ex.com/a/b?q=1"),
        ("http://ex.com/a/b?q=1", "?r=2", "http://ex.com/a/b?r=2"),
        ("http://ex.com/a/b/", "../../../c", "http://ex.com/c"),
        ("http://ex.com/a/b/", "..", "http://ex.com/a/"),
        ("http://ex.com/a/b", "/c/./d/../e", "http://ex.com/c/e"),
        ("http://ex.com/a/b", "/", "http://ex.com/"),
        ("https://ex.com/", "//other.com/x", "https://other.com/x"),
        ("https://ex.com/", "\\\\other.com\\x", "https://other.com/x"),
        ("https://ex.com/", "/\\other.com", "https://other.com/"),
        ("http://ex.com/a/b", "http:c", "http://ex.com/a/c"),
        ("https://ex.com/a/b", "http:c", "http://c/"),
        ("http://ex.com/a", "https:/x.com/", "https://x.com/"),
        ("http://ex.com/a/b", " c \n", "http://ex.com/a/c"),
        ("http://ex.com/a/b", "j\tava", "http://ex.com/a/java"),
        ("http://ex.com/a/b", "c d", "http://ex.com/a/c%20d"),
        ("http://ex.com/a/b", "./c:d", "http://ex.com/a/c:d"),
        ("http://ex.com/a/b", "http://ex.com/c/.hidden", "http://ex.com/c/.hidden"),
        ("http://ex.com/a/b", "http://ex.com/c/../d", "http://ex.com/d"),
        ("http://ex.com/a/b", "http://ex.com//c", "http://ex.com//c"),
        ("http://ex.com/a/b", "http://ex.com.evil.org/c", "http://ex.com.evil.org/c"),
        ("http://ex.com:8080/a", "b", "http://ex.com:8080/b"),
        ("http://u:p@ex.com/a", "b", "http://ex.com/b"),
        ("http://ex.com/a", "javascript:void(0)", ""),
        ("http://ex.com/a", "JaVaScRiPt:void(0)", ""),
        ("http://ex.com/a", "java\nscript:void(0)", ""),
        ("http://ex.com/a", "mailto:a@b.c", ""),
        ("http://ex.com/a", "data:text/html,x", ""),
        ("http://ex.com/a", "tel:123", ""),
        ("http://ex.com/a", "ftp://ex.com/", ""),
        ("http://ex.com/a", "//", ""),
        ("http://ex.com/a", "http://a b/", ""),
        ("http://ex.com/a", "http://%/", ""),
        ("about:blank", "a", ""),
    ],
)
def test_a_link_means(base: str, href: str, expected: str) -> None:
    assert urls.join(base, href) == expected
    found = Joiner(base)[href]
    assert found == (expected, urls.fingerprint(expected) if expected else 0)


@given(hostile, hostile)
def test_joining_never_raises(base: str, href: str) -> None:
    joined = urls.join(base, href)
    assert joined == "" or urls.canonical(joined) == joined
    url, _ = Joiner(base)[href]
    assert url == "" or urls.canonical(url) == url


@given(absolute, st.lists(hostile, max_size=5))
@example("http://ex.com/a/b/c", ["../../../../d", "/e", "f/g.h", "http://ex.com/i"])
@example("http://ex.com/a?b/c", ["d", "?e", "", "#f", "../g", "#\ud800"])
def test_the_quick_way_of_joining_gives_what_the_parser_gives(
    page: str, hrefs: list[str]
) -> None:
    base = urls.join("", page)
    joiner = Joiner(page)
    expected = [urls.join(base, href) for href in [*hrefs, *hrefs]]
    assert [url for url, _ in joiner.join_all([*hrefs, *hrefs])] == expected
    assert [joiner[href][0] for href in [*hrefs, *hrefs]] == expected


@given(
    st.from_regex(r"https?://[a-z0-9.-]{1,12}\.[a-z]{1,4}(/[\w~,./%;?-]{0,12})?")
    | st.from_regex(
        r"\Ahttps?://([0-3]?\d?\d\.){1,4}\d{1,3}(:\d{0,6})?/?\Z", fullmatch=True
    )
    | st.from_regex(r"https?://ex\.com:\d{1,6}/a", fullmatch=True)
)
@example("http://127.0.0.1:8080/a")
@example("http://256.0.0.1/")
@example("http://1.2.3.04/")
@example("https://ex.com:65536/")
@example("http://ex.com/a/../b")
@example("http://ex.com/a/.")
@example("http://xn--a.com/")
@example("http://ex.com/" + "a" * urls.MAX_LENGTH)
@example("http://" + "a" * 64 + ".com/")
def test_the_quick_way_to_a_page_gives_what_the_parser_gives(url: str) -> None:
    assert urls.page(url) == urls.join("", url)


@pytest.mark.parametrize(
    ("base_href", "expected"),
    [
        ("", "http://ex.com/a/x"),
        ("/c/", "http://ex.com/c/x"),
        ("../d/", "http://ex.com/d/x"),
        ("https://other.com/e/f?g", "https://other.com/e/x"),
        ("//other.com", "http://other.com/x"),
        ("javascript:alert(1)", "http://ex.com/a/x"),
        ("http://a b/", "http://ex.com/a/x"),
    ],
)
def test_the_base_of_a_page_counts(base_href: str, expected: str) -> None:
    assert Joiner("http://ex.com/a/b", base_href)["x"][0] == expected


def test_a_page_without_a_usable_address_still_has_absolute_links() -> None:
    joiner = Joiner("about:blank")
    assert joiner["http://ex.com/a"][0] == "http://ex.com/a"
    assert joiner["a"] == joiner["/a"] == joiner[""] == joiner["#a"] == ("", 0)


def test_a_base_with_endless_folders_is_still_a_base() -> None:
    base = "http://ex.com/" + "a/" * 3000
    joiner = Joiner("http://ex.com/", base)
    assert joiner["../b"][0] == base[:-2] + "b"
    assert joiner["/b"][0] == "http://ex.com/b"


def test_a_very_long_link_is_joined_and_an_endless_one_is_cut() -> None:
    joiner = Joiner("http://ex.com/a")
    long = "?q=" + "x" * 2000
    assert joiner[long][0] == "http://ex.com/a" + long
    cut = joiner["?q=" + "x" * 10 * urls.MAX_LENGTH][0]
    assert urls.MAX_LENGTH <= len(cut) < 2 * urls.MAX_LENGTH
    assert joiner["x#" + "y" * urls.MAX_LENGTH][0] == "http://ex.com/x"


@given(st.text() | st.binary())
def test_a_fingerprint_fits_into_64_signed_bits(text: str | bytes) -> None:
    assert -(2**63) <= urls.fingerprint(text) < 2**63


def test_fingerprints_are_xxh3_and_of_both_signs() -> None:
    assert urls.fingerprint("") == 0x2D06800538D394C2  # XXH3's own test vector
    assert urls.fingerprint("é") == urls.fingerprint("é".encode())
    signs = {urls.fingerprint(str(number)) < 0 for number in range(20)}
    assert signs == {True, False}


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("http://ex.com/a/b?c//d", "ex.com", "http://ex.com"),
        ("https://ex.com:8443/", "ex.com:8443", "https://ex.com:8443"),
        ("http://[::1]:8080/", "[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_url_has_a_host_and_an_origin(url: str, host: str, origin: str) -> None:
    assert urls.host(url) == host
    assert urls.origin(url) == origin


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.ex.com", "ex.com"),
        ("ex.com:8080", "ex.com"),
        ("a.b.ex.co.uk", "ex.co.uk"),
        ("uiet.puchd.ac.in", "puchd.ac.in"),
        ("alice.github.io", "alice.github.io"),
        ("www.alice.github.io", "alice.github.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("www.xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("[2001:db8::1]:8080", "[2001:db8::1]"),
        ("localhost", "localhost"),
        ("localhost:8000", "localhost"),
        ("a.test", "a.test"),
        ("x.y.a.test", "a.test"),
    ],
)
def test_the_registrable_domain_is(host: str, expected: str) -> None:
    assert urls.domain(host) == expected


def test_hosts_of_one_registrable_domain_are_one_site() -> None:
    assert urls.same_site("http://www.ex.co.uk/a", "https://ex.co.uk:8443/b")
    assert not urls.same_site("http://a.co.uk/", "http://b.co.uk/")
    assert not urls.same_site("http://alice.github.io/", "http://bob.github.io/")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://user:secret@proxy:8080/", "http://proxy:8080/"),
        ("socks5://a:b@c@proxy:1", "socks5://proxy:1"),
        ("user:secret@proxy:8080", "proxy:8080"),
        ("http://proxy:8080/a@b", "http://proxy:8080/a@b"),
        ("proxy:8080", "proxy:8080"),
        ("", ""),
    ],
)
def test_credentials_are_cut_out(url: str, expected: str) -> None:
    assert urls.redact(url) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://ex.com/p/1", "http://ex.com/p/20"),
        ("http://ex.com/2024/01/x", "http://ex.com/1999/12/x"),
        ("http://ex.com/?a=1&b=x", "http://ex.com/?a=2&b="),
        ("http://ex.com/?p1=x", "http://ex.com/?p2=x"),
        ("http://ex.com/?token", "http://ex.com/?ticket"),
        ("http://ex.com/p/0", "http://ex.com/p/7"),
    ],
)
def test_variants_share_a_template(one: str, other: str) -> None:
    assert urls.template(one) == urls.template(other) != 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://ex.com/p/1", "http://ex.com/q/1"),
        ("http://ex.com/p1", "http://other.com/p1"),
        ("http://ex.com/?a=1", "http://ex.com/?b=1"),
        ("http://ex.com/?a=1", "http://ex.com/x?a=1"),
        ("http://ex.com/1%E0%A4%B9", "http://ex.com/1%E0%A4%AA"),  # ह and प
    ],
)
def test_pages_of_different_kinds_have_different_templates(
    one: str, other: str
) -> None:
    assert urls.template(one) != urls.template(other)


@pytest.mark.parametrize(
    "url",
    [
        "http://ex.com/",
        "http://web2.ex.com/about",
        "http://127.0.0.1:8080/about",
        "http://ex.com/%E0%A4%B9%25",
    ],
)
def test_a_url_without_digits_and_query_has_no_template(url: str) -> None:
    assert urls.template(url) == 0


@pytest.mark.parametrize(
    ("url", "home"),
    [
        ("http://ex.com/", True),
        ("http://ex.com/index.html", True),
        ("http://ex.com/en/", True),
        ("http://ex.com/_/index.html", True),
        ("http://ex.com/docs/", False),
        ("http://ex.com/a", False),
        ("http://ex.com/?page=2", False),
    ],
)
def test_home_pages_are_known_by_their_address(url: str, home: bool):
    assert urls.is_home(url) == home
