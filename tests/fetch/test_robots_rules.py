"""Rules of robots.txt: the same as another implementation's, in bounded memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from opilio.fetch import robots_rules
from opilio.fetch.robots_rules import is_for_another, read_rules, reduce_file

ORIGIN = "http://example.test"

names = st.sampled_from(["*", "opilio", "OPILIO", "other", "opilio, other"])
SIGNS = "a b / * $ ? = . % & ~ %41 %2f %2A %24 é %c3%a9 index.html"
pieces = st.sampled_from(SIGNS.split(" "))
paths = st.lists(pieces, max_size=6).map(lambda parts: "/" + "".join(parts))
fields = st.sampled_from(["Disallow", "Allow", "disallow ", "ALLOW", "Dissallow"])
rules = st.builds(lambda field, path: f"{field}: {path}", fields, paths)
others = st.sampled_from(
    (
        "",
        "# said",
        "Crawl-delay: 3",
        "Crawl-delay: x",
        "Sitemap: http://a.test/x.xml",
        "Disallow /a",
        "User agent opilio",
        "nonsense",
        "Noindex: /a",
        "Disallow:",
    )
)
lines = st.one_of(rules, rules, rules, others, names.map("User-agent: {}".format))
files = st.lists(lines, max_size=12).map("\n".join)


def other(text: str) -> Protego:
    """Another implementation, told which groups are ours: it has other ideas there."""
    told = []
    for line in text.splitlines():
        if line.lower().startswith(("user-agent", "user agent")):
            name = line[10:].strip(": ").partition(",")[0].lower()
            line = f"User-agent: {name if name in ('*', 'opilio') else 'someone'}"
        told.append(line)
    return Protego.parse("\n".join(told))


@given(files, st.lists(paths, min_size=1, max_size=4))
def test_rules_mean_the_same_as_to_another_implementation(
    text: str, asked: list[str]
) -> None:
    ours, theirs = read_rules(text.encode(), "opilio"), other(text)
    for path in asked:
        url = ORIGIN + path.replace(" ", "%20")
        assert ours.allows(url) == theirs.can_fetch(url, "opilio"), path
    assert ours.delay == theirs.crawl_delay("opilio")
    assert list(ours.sitemaps) == list(theirs.sitemaps)


@given(files, paths)
def test_a_reduced_file_means_the_same(text: str, path: str) -> None:
    reduced = reduce_file(text.encode(), "opilio")
    before, after = read_rules(text.encode(), "opilio"), read_rules(reduced, "opilio")
    url = ORIGIN + path.replace(" ", "%20")
    assert before.allows(url) == after.allows(url)
    assert before.delay == after.delay
    assert reduce_file(reduced, "opilio") == reduced


def test_what_is_said_to_others_is_left_out() -> None:
    text = b"User-agent: x\nDisallow: /x\nUser-agent: opilio\nDisallow: /y # why\n"
    reduced = reduce_file(text, "opilio")
    assert reduced == b"# for opilio\nuser-agent: *\ndisallow: /y\n"
    assert is_for_another(reduced, "opil") and not is_for_another(reduced, "opilio")
    assert not is_for_another(text, "opilio")


def test_a_file_that_says_nothing_to_us_is_known_to_be_for_us() -> None:
    reduced = reduce_file(b"User-agent: x\nDisallow: /x\n", "opilio")
    assert read_rules(reduced, "opilio").allows(f"{ORIGIN}/x")
    # Another name may be forbidden something: the file must be fetched again.
    assert is_for_another(reduced, "x")


def test_a_site_cannot_pretend_that_its_file_was_reduced() -> None:
    sent = b"# for someone\nUser-agent: *\nDisallow: /x\n"
    assert not is_for_another(reduce_file(sent, "opilio"), "opilio")
    assert not read_rules(sent, "opilio").allows(f"{ORIGIN}/x")


def test_rules_after_any_number_of_other_lines_are_obeyed() -> None:
    for line in ("\n", "#\n", "\r\n", "x\n"):
        sent = line * 150_000 + "User-agent: *\nDisallow: /x\n"
        assert not read_rules(sent.encode(), "opilio").allows(f"{ORIGIN}/x"), line


def bomb(line: str, size: int = 512 * 1024) -> bytes:
    """As many different lines as fit."""
    each = len((line % 0).encode()) + 6
    made = "\n".join(line % (10_000_000 + n) for n in range(size // each))
    return b"User-agent: *\nDisallow: /first\n" + made.encode()


def test_a_file_with_too_many_rules_forbids_too_much_rather_than_too_little() -> None:
    rules = read_rules(bomb("Disallow: /%d/x"), "opilio")
    assert rules.size < 30_000
    assert not rules.allows(f"{ORIGIN}/first")
    assert not rules.allows(f"{ORIGIN}/10000000/x")
    assert not rules.allows(f"{ORIGIN}/anything")  # more segments than are kept
    few = read_rules(bomb("Disallow: /shop/%d/x"), "opilio")
    assert not few.allows(f"{ORIGIN}/shop/10030000/x")
    assert not few.allows(f"{ORIGIN}/shop/other")
    assert few.allows(f"{ORIGIN}/about")


def test_too_many_wildcards_are_bounded() -> None:
    rules = read_rules(bomb("Disallow: /*a*%d*b*c"), "opilio")
    assert rules.size <= robots_rules.WILDCARDS + robots_rules.SHORTENED + 1
    assert not rules.allows(f"{ORIGIN}/xa10000001b-c")
    assert not rules.allows(f"{ORIGIN}/anything")
    allowed = read_rules(bomb("Allow: /*a*%d*b*c"), "opilio")
    assert allowed.allows(f"{ORIGIN}/anything")
    assert not allowed.allows(f"{ORIGIN}/first")


def test_reduced_files_are_small() -> None:
    for line in ("Disallow: /%d/x", "Allow: /%d$", "Sitemap: http://a.test/%d.xml"):
        assert len(reduce_file(bomb(line), "opilio")) < 300_000
    assert reduce_file(bomb("User-agent: x%d\nDisallow: /"), "opilio") < b"#" * 99
