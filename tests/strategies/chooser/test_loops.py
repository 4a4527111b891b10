"""The compiled loops do what those in numpy do."""

from __future__ import annotations

import json
from types import ModuleType

import msgspec
import numpy as np
import pytest

from opilio.records import LinkPart
from opilio.strategies.shared.chooser import loops, plain_rows, plain_scores
from opilio.strategies.shared.chooser.visits import section_place, words_in
from opilio.vectors import codes
from strategies.chooser_pages import Crawl, chooser, link

compiled = pytest.importorskip(
    "opilio.strategies.shared.chooser._rows", reason="nothing is compiled"
)
compiled_scores = pytest.importorskip(
    "opilio.strategies.shared.chooser._scores", reason="nothing is compiled"
)
BOTH = (plain_rows, compiled)
BOTH_SCORES = (plain_scores, compiled_scores)
ROWS = ("find", "insert", "link_rows", "distinct", "sort_out", "enter")
SCORES = ("raw", "add_words", "weigh", "tell")


def test_what_is_compiled_is_used():
    assert compiled.EDITION == plain_rows.EDITION
    assert compiled_scores.EDITION == loops.SCORES_EDITION
    assert all(getattr(loops, name) is getattr(compiled, name) for name in ROWS)
    used = [getattr(loops, name) for name in SCORES]
    assert used == [getattr(compiled_scores, name) for name in SCORES]


def test_links_are_sorted_out_alike():
    links = [link(f"http://h.test/{number}") for number in range(5)]
    slots = np.array([-2, 3, -1, 1, 0])
    parents = np.array([1, 4, 0, 3], np.uint8)
    for each in BOTH:
        ahead = np.zeros(5, np.int64)
        teaching, settled, known = each.sort_out(links, slots, parents, ahead)
        assert teaching == [links[1], links[2], links[4]]
        assert settled == [links[0].fingerprint, links[3].fingerprint]
        assert known == [1]
        assert ahead[:3].tolist() == [3, -1, 0]


def test_links_are_taken_once():
    first, left_out, last = (link(f"http://h.test/{number}") for number in range(3))
    again = link("http://h.test/0", "another anchor")
    links = (first, left_out, last, again)
    plain, fast = [each.distinct(links, left_out.fingerprint) for each in BOTH]
    assert plain == fast
    prints = [first.fingerprint, last.fingerprint]
    assert fast == ([again, last], prints, np.array(prints, "<i8").tobytes())


def test_words_and_terms_of_links_are_the_same():
    links = [
        link("http://h.test/1", "bright stars and a planet", terms={"star": 2}),
        link("http://h.test/2", "one two three four five six seven eight"),
        link("https://h.test:8080/3", terms={"other": 1}),
        link("http://h.test.org/", "a planet"),
        link("http://h.test/stars/5", "a planet"),
    ]
    weights = {"star": 0.7, "planet": 1.0}
    plain, fast = [each.link_rows(links, weights, section_place) for each in BOTH]
    assert plain == fast
    assert plain[0] == ("h.test", "h.test:8080", "h.test.org")
    assert np.frombuffer(plain[1], "<i8").tolist() == [one.fingerprint for one in links]
    assert np.frombuffer(plain[2], "<u2").tolist() == [0, 0, 1, 2, 0]
    assert np.frombuffer(plain[3], "<u2").tolist() == [
        section_place(name, "")
        for name in ("h.test", "h.test", "h.test:8080", "h.test.org")
    ] + [section_place("h.test", "stars*")]
    assert plain[4][:3] == bytes([0, round(255 * (1 - np.exp(-0.7))), 0])
    nothing = ((), b"", b"", b"", b"", b"", b"")
    for each in BOTH:
        assert each.link_rows([], weights, section_place) == nothing


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("", ""),
        ("page.html", ""),
        ("news/", "news"),  # a list
        ("news/page/2/", "news//"),
        ("news/one.html", "news*"),  # its items
        ("news/two.html", "news*"),
        ("news/2026/three.html", "news/*"),
        ("forum/topic.php?id=7", "forum/topic.php?"),
        ("forum/topic.php?id=8&page=/2/", "forum/topic.php?"),
        ("?page=2", "?"),
        ("h.test/", "h.test"),
    ],
)
def test_a_section_is_a_folder_and_how_deep_it_goes(path: str, section: str):
    url = f"http://t/{path}"  # a host whose name is a part of "http", too
    assert plain_rows.section(url) == section
    told: list[tuple[str, str]] = []

    def place_of(host: str, part: str) -> int:
        told.append((host, part))
        return 0

    for each in BOTH:
        each.link_rows([link(url)], {}, place_of)
    assert told == [("t", section)] * 2


def random_columns(rng: np.random.Generator, dimensions: int) -> dict[str, np.ndarray]:
    return {
        "vectors": rng.integers(0, 256, (50, codes.width(dimensions))).astype(np.uint8),
        "tables": codes.tables(rng.normal(size=dimensions).astype(np.float32)),
        "terms": rng.integers(0, 256, (50, 3)).astype(np.uint8),
        "words": rng.integers(0, 4, (50, plain_rows.LINK_WORDS)).astype(np.uint16),
        "sums": rng.normal(size=(4, 2)).astype(np.float32),
    }


@pytest.mark.parametrize("dimensions", [0, 3, 256])
def test_features_are_the_same(dimensions: int):
    rng = np.random.default_rng(4)
    given = random_columns(rng, dimensions)
    sums = given["sums"]
    worth = rng.normal(size=(4, 2)).astype(np.float32)
    sums[plain_rows.NO_WORD] = worth[plain_rows.NO_WORD] = 0
    slots = rng.integers(0, 50, 30)
    columns = (
        given["vectors"],
        rng.random(50).astype(np.float32),
        np.full(50, np.nan, np.float32),
        given["terms"],
        given["words"],
        rng.random(50).astype(np.float32),
        rng.integers(1, 5, 50).astype(np.uint8),
        rng.integers(0, 5, 50).astype(np.int32),
        rng.integers(0, 9, 50).astype(np.uint16),
        rng.integers(0, 7, 50).astype(np.int32),
    )
    groups = tuple(
        column
        for count in (5, 9, 7)
        for column in (rng.random(count), rng.integers(0, 4, count).astype(np.int32))
    )
    groups += (rng.random(5),)
    found = []
    evidence = (groups, 0.3, 0.2, given["tables"], sums, worth)
    for each in BOTH_SCORES:
        out = np.zeros((30, 9), np.float32)
        own = tuple(column.copy() for column in columns)
        each.raw(slots, own, *evidence, out)
        found.append(out)
        if dimensions:  # known from now on, until the link or the direction changes
            assert np.isnan(own[2]).sum() == 50 - len(set(slots.tolist()))
            own[2][slots[0]] = 7
            each.raw(slots[:1], own, *evidence, out := out[:1].copy())
            assert out[0, 1] == 7
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert (np.abs(found[0]).sum(axis=0) > 1).all()

    link = rng.integers(0, 3, 50)
    told = rng.choice([-1, 0, 0.5], 50).astype(np.float32)
    slots, then = np.arange(40), rng.random((40, 9)).astype(np.float32)
    links = np.where(slots % 2, link[:40], 3)  # every other slot has a new link
    totals = []
    for each in BOTH_SCORES:
        own = tuple(column.copy() for column in columns)
        each.raw(slots, own, *evidence, now := np.zeros((40, 9), np.float32))
        total = np.zeros(9, np.float32)
        given_ones = (link, told), (own, *evidence), total
        count = each.moved(slots, links, then, *given_ones)
        still = (slots % 2 == 1) & (told[:40] >= 0)
        assert count == np.count_nonzero(still) > 5
        assert total == pytest.approx((now - then)[still].sum(axis=0), abs=1e-3)
        totals.append(total)
    assert totals[0] == pytest.approx(totals[1], abs=1e-3)


def test_words_of_pages_are_added_alike():
    rng = np.random.default_rng(4)
    words = rng.integers(0, 9, 40).astype(np.uint16)  # some of them twice
    shares = rng.integers(0, 256, 40).astype(np.uint8)
    rare = rng.random(9).astype(np.float32)
    found = [np.zeros((9, 2), np.float32) for _ in BOTH_SCORES]
    for each, sums in zip(BOTH_SCORES, found, strict=True):
        each.add_words(words, shares, 0.8, rare, sums)
        each.add_words(words[:0], shares[:0], 0.8, rare, sums)
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert found[0][:, 0] == pytest.approx(0.8 * found[0][:, 1], abs=1e-5)


def test_links_are_weighed_alike():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(20, 3)).astype(np.float32)
    scales = tuple(rng.random((3, 3)).astype(np.float32))
    visits = rng.integers(0, 4, 30).astype(np.int32), np.array([0, 1, 5, 9], np.int32)
    slots = rng.integers(0, 30, 20)
    found = []
    for each in BOTH_SCORES:
        z, added = rows.copy(), np.zeros((20, 4), np.float32)
        promises = np.zeros(20, np.float32)
        each.weigh(slots, z, scales, visits, 3.0, -1.0, added, promises)
        found.append((z, added, promises))
    for plain, fast in zip(*found, strict=True):
        assert plain == pytest.approx(fast, abs=1e-5)
    z, added, promises = found[1]
    assert np.abs(z).max() == plain_scores.LIMIT  # some are far away
    assert added[:, :3] == pytest.approx(z * scales[2], abs=1e-6)
    new = visits[1][visits[0][slots]] == 0
    assert added[new, 3].tolist() == [3.0] * np.count_nonzero(new)
    logits = added.sum(axis=1) - 1
    assert promises == pytest.approx(1 / (1 + np.exp(-logits)), abs=1e-5)


def test_promises_are_told_alike():
    rng = np.random.default_rng(4)
    added = rng.normal(size=(8, 3)).astype(np.float32)
    added[:, 1] = 0  # a kind of evidence that no link has
    added[5], added[4] = [40.0, 0.0, 0.0], [1.0, 0.0, -1.0]
    promises = (1 / (1 + np.exp(1 - added.sum(axis=1)))).astype(np.float32)
    slots = np.array([3, 1, 6, 0, 2, 5, 4, 1])  # the last one is on the page, too
    before = np.full(8, 0.5, np.float32)
    before[2] = promises[4] * 1.001  # not worth telling
    links = np.arange(100, 108)
    names = (b'"usual":', b'"a \\"b\\"":', b'"b":', b'"c":')
    found = []
    promises[7], added[7] = promises[1], added[1]
    for each in BOTH_SCORES:
        told, latest, revised = before.copy(), {}, {}
        columns = (told, links)
        each.tell(
            *(slots, 3, promises, added, columns, names, -1.0, 0.02, latest, revised)
        )
        found.append((told.tolist(), latest, revised))
    (told, latest, revised), fast = found
    assert told == fast[0]
    assert set(latest) == {103, 101, 106}
    lower = [100 + slot for slot in slots[:3] if told[slot] < 0.49]
    assert list(revised) == [100, 105, 104, *lower]
    assert told[2] == before[2]
    for one, other in ((latest, fast[1]), (revised, fast[2])):
        assert list(one) == list(other)
        for link_, (promise, text) in one.items():
            parts, others = map(json.loads, (text, other[link_][1]))
            assert promise == other[link_][0] == pytest.approx(told[link_ - 100])
            assert parts == pytest.approx(others, abs=2e-6)
            assert list(parts) == ["usual", 'a "b"', "c"]
            assert sum(parts.values()) == pytest.approx(promise, abs=3e-6)


def test_large_parts_are_written_alike():
    added = np.array([[25.0, -24.5], [1e-9, 0.0], [-3.0, 3.2]], np.float32)
    slots, promises = np.arange(3), np.full(3, 0.5, np.float32)
    found = []
    for each in BOTH_SCORES:
        latest = {}
        columns = np.zeros(3, np.float32), np.arange(3)
        names = (b'"u":', b'"a":', b'"b":')
        each.tell(*(slots, 3, promises, added, columns, names, -2.0, 0.02, latest, {}))
        found.append([json.loads(text) for _, text in latest.values()])
    for plain, fast in zip(*found, strict=True):
        assert plain == pytest.approx(fast, abs=2e-6)
    assert max(found[1][0].values()) > 1


def test_links_are_entered_alike():
    found = []
    for each in BOTH:
        rng = np.random.default_rng(4)
        given = random_columns(rng, 12)
        from_page = (
            rng.integers(0, 99, 50).astype(np.int32),
            rng.integers(0, 99, 50).astype(np.uint16),
            given["terms"],
            given["words"],
            given["vectors"],
        )
        columns = (
            np.zeros(60, np.int32),
            np.zeros(60, np.uint16),
            np.zeros((60, 3), np.uint8),
            np.zeros((60, plain_rows.LINK_WORDS), np.uint16),
            np.zeros(60, np.int32),
            np.zeros(60, np.float32),
            np.zeros(60, np.uint8),
            np.full(60, -1, np.float32),
            np.zeros((60, codes.width(12)), np.uint8),
        )
        slots = rng.permutation(60)[:50]
        rows, shares = np.zeros(50, np.int64), np.zeros(50, np.float32)
        counts = []
        for page, known in ((1, 0), (2, 20), (2, 30), (3, 40)):
            fresh = np.ones(50, np.uint8)
            fresh[:known] = fresh[45:] = 0
            at = slots.copy()
            at[45:] = -2  # visited before
            moved = (at, fresh, from_page, columns, page, page / 4, rows, shares)
            counts.append(each.enter(*moved))
        assert columns[6].max() == plain_rows.MOST_PARENTS
        found.append((*columns, np.array(counts), rows, shares))
    for plain, fast in zip(*found, strict=True):
        assert np.abs(plain.astype(float) - fast.astype(float)).max(initial=0) <= 1
    assert found[0][9].tolist() == found[1][9].tolist() == [0, 20, 20, 40]


def test_a_crawl_without_what_is_compiled_visits_the_same_pages(
    monkeypatch: pytest.MonkeyPatch,
):
    def run(of_rows: ModuleType, of_scores: ModuleType) -> list[str]:
        places = ("places.loops", "features", "lessons", "visits", "waiting")
        for used, names in ((of_rows, ROWS), (of_scores, SCORES)):
            for module in places:
                for name in names:
                    path = f"opilio.strategies.shared.chooser.{module}.{name}"
                    monkeypatch.setattr(path, getattr(used, name), raising=False)
        monkeypatch.setattr("opilio.strategies.opilio.tell", of_scores.tell)
        for name in ("distinct", "sort_out"):
            path = f"opilio.strategies.opilio.{name}"
            monkeypatch.setattr(path, getattr(of_rows, name))
        crawl = Crawl(chooser())
        for _ in range(60):
            crawl.step()
        return [url for url, _ in crawl.order]

    assert run(plain_rows, plain_scores) == run(compiled, compiled_scores)


def test_all_parts_of_a_link_have_words():
    parts = {
        LinkPart.ANCHOR: range(10, 18),
        LinkPart.URL: range(20, 28),
        LinkPart.BEFORE: range(30, 40),
        LinkPart.AFTER: range(40, 42),
        LinkPart.HEADING: range(50, 52),
        LinkPart.TITLE: range(60, 62),
    }
    codes_of = [part << 29 | place << 13 for part in parts for place in parts[part]]
    words = np.array(codes_of, "<u4").tobytes()
    links = [
        link("http://h.test/"),
        msgspec.structs.replace(link("http://h.test/1"), words=words),
    ]
    for each in BOTH:
        packed = each.link_rows(links, {}, section_place)[5]
        none, found = np.frombuffer(packed, "<u2").reshape(2, -1).tolist()
        assert none == [0] * plain_rows.LINK_WORDS
        own = [*range(10, 16), *range(23, 28)]  # the first and the last ones
        assert found == [*own, *range(38, 40), 40, 41, 0]


def test_notes_of_earlier_versions_have_words_of_anchors_only():
    before = np.arange(1, 13, dtype="<u2").tobytes()
    found = words_in(before, 2)
    assert found[:, :6].tolist() == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]
    assert found.shape == (2, plain_rows.LINK_WORDS) and not found[:, 6:].any()
    assert words_in(b"", 0).shape == (0, plain_rows.LINK_WORDS)
