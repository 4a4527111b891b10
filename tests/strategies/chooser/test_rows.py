"""The compiled loops do what those in numpy do."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from opilio.strategies.shared.chooser import plain_rows, rows
from strategies.chooser_pages import Crawl, chooser, link

compiled = pytest.importorskip(
    "opilio.strategies.shared.chooser._rows", reason="nothing is compiled"
)
BOTH = (plain_rows, compiled)
NAMES = ("find", "insert", "link_rows", "raw", "add_words", "shared", "begin", "join")


def test_what_is_compiled_is_used():
    assert compiled.EDITION == plain_rows.EDITION
    assert all(getattr(rows, name) is getattr(compiled, name) for name in NAMES)


def test_words_and_terms_of_links_are_the_same():
    links = [
        link("http://h.test/1", "bright stars and a planet", terms={"star": 2}),
        link("http://h.test/2", "one two three four five six seven eight"),
        link("http://h.test/3", terms={"other": 1}),
    ]
    weights = {"star": 0.7, "planet": 1.0}
    plain, fast = [each.link_rows(links, weights) for each in BOTH]
    assert plain == fast
    assert plain[2][:3] == bytes([0, round(255 * (1 - np.exp(-0.7))), 0])
    assert plain[1] == ["h.test"] * 3
    nothing = ([], [], b"", b"", b"")
    assert [each.link_rows([], weights) for each in BOTH] == [nothing] * 2


def random_columns(rng: np.random.Generator, dimensions: int) -> dict[str, np.ndarray]:
    return {
        "vectors": rng.integers(-127, 128, (50, dimensions)).astype(np.int8),
        "direction": rng.normal(size=dimensions).astype(np.float32),
        "terms": rng.integers(0, 256, (50, 3)).astype(np.uint8),
        "anchors": rng.integers(0, 4, (50, 6)).astype(np.uint16),
        "sums": rng.normal(size=(4, 2)).astype(np.float32),
    }


@pytest.mark.parametrize("dimensions", [0, 3, 80])
def test_features_are_the_same(dimensions: int):
    rng = np.random.default_rng(4)
    given = random_columns(rng, dimensions)
    sums = given["sums"]
    sums[plain_rows.NO_WORD] = 0
    slots = rng.integers(0, 50, 30)
    columns = (
        given["vectors"],
        rng.random(50).astype(np.float32),
        given["terms"],
        given["anchors"],
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
    found = []
    for each in BOTH:
        out = np.zeros((30, 8), np.float32)
        each.raw(slots, columns, groups, 0.3, given["direction"], sums, out)
        found.append(out)
    assert found[0] == pytest.approx(found[1], abs=1e-4)
    assert (np.abs(found[0]).sum(axis=0) > 1).all()


def test_words_of_pages_are_added_alike():
    rng = np.random.default_rng(4)
    words = rng.integers(0, 9, 40).astype(np.uint16)  # some of them twice
    shares = rng.integers(0, 256, 40).astype(np.uint8)
    rare = rng.random(9).astype(np.float32)
    found = [np.zeros((9, 2), np.float32) for _ in BOTH]
    for each, sums in zip(BOTH, found, strict=True):
        each.add_words(words, shares, 0.8, rare, sums)
        each.add_words(words[:0], shares[:0], 0.8, rare, sums)
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert found[0][:, 0] == pytest.approx(0.8 * found[0][:, 1], abs=1e-5)


def test_shares_have_the_same_names_and_numbers():
    added = np.random.default_rng(4).normal(size=(6, 2)).astype(np.float32)
    added[5] = [40.0, 0.0]
    added[4] = [1.0, -1.0]
    plain, fast = [each.shared(("a", "b", "c"), -1.0, added) for each in BOTH]
    assert plain[0]["a"] == round(1 / (1 + np.exp(1)), 6)
    for one, other, row in zip(plain, fast, added, strict=True):
        assert one == pytest.approx(other, abs=2e-6)
        chance = 1 / (1 + np.exp(1 - row.sum()))
        assert sum(one.values()) == pytest.approx(chance, abs=3e-6)


@pytest.mark.parametrize("dimensions", [0, 3])
def test_links_begin_and_join_alike(dimensions: int):
    found = []
    for each in BOTH:
        rng = np.random.default_rng(4)
        given = random_columns(rng, dimensions)
        paths = rng.integers(0, 99, 50).astype(np.uint16)
        hosts = rng.integers(0, 99, 50).astype(np.int32)
        given["vectors"][7] = 0
        from_page = (paths, given["terms"], given["anchors"], given["vectors"])
        columns = (
            np.zeros(60, np.int32),
            np.zeros(60, np.uint16),
            np.zeros((60, 3), np.uint8),
            np.zeros((60, 6), np.uint16),
            np.zeros((60, dimensions), np.int8),
        )
        slots = rng.permutation(60)[:50]
        each.begin(slots, np.arange(50), (hosts, *from_page), columns)
        shares = rng.random(20).astype(np.float32)
        better = (rng.random(20) < 0.5).view(np.uint8)
        some = rng.permutation(50)[:20]
        each.join(slots[:20], some, from_page, columns[1:], shares, better)
        found.append(columns)
    for plain, fast in zip(*found, strict=True):
        assert np.abs(plain.astype(int) - fast.astype(int)).max(initial=0) <= 1


def test_a_crawl_without_what_is_compiled_visits_the_same_pages(
    monkeypatch: pytest.MonkeyPatch,
):
    def run(used: ModuleType) -> list[str]:
        for module in ("places.rows", "features", "lessons", "visits", "waiting"):
            for name in NAMES:
                path = f"opilio.strategies.shared.chooser.{module}.{name}"
                monkeypatch.setattr(path, getattr(used, name), raising=False)
        monkeypatch.setattr("opilio.strategies.opilio.shared", used.shared)
        crawl = Crawl(chooser())
        for _ in range(60):
            crawl.step()
        return [url for url, _ in crawl.order]

    assert run(plain_rows) == run(compiled)
