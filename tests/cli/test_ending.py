"""What a person sees when a crawl ends: figures, the reason, seeds with problems."""

import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from opilio.cli import terminal
from opilio.cli.ending import print_end
from opilio.cli.figures import Before
from opilio.cli.terminal import Screen
from opilio.store.seed_notes import SeedNote


def printed(monkeypatch: pytest.MonkeyPatch, kept: int, seeds: list[SeedNote]) -> str:
    """The last lines of a crawl of three pages."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE retry (link, due)")
    crawl = SimpleNamespace(
        store=SimpleNamespace(folder=SimpleNamespace(path=Path("bees-crawl")), db=db),
        tally=SimpleNamespace(pages=3, kept=kept),
        frontier=SimpleNamespace(counts=lambda: SimpleNamespace(reasons={})),
        fetch=None,
        estimate=lambda: None,
    )
    screen = Screen(width=90, record=True, quiet=False)
    monkeypatch.setattr(terminal, "stdout", screen)
    with screen.capture() as shown:
        print_end(crawl, "exhausted", Before(), seeds)
    db.close()
    return shown.get()


def test_the_end_says_why_and_which_seeds_have_problems(monkeypatch):
    notes = [SeedNote("http://seed.test/", ("noindex", "nofollow"))]
    lines = printed(monkeypatch, 1, notes).splitlines()
    assert lines == [
        "bees-crawl: 3 pages, 1 relevant (33%).",
        "Stopped: no links are left; add seeds with --seed-url to continue.",
        "Seed http://seed.test/: asks not to be shown or exported (noindex) and asks "
        "that its links are not followed (nofollow).",
        "  opilio status bees-crawl",
        "  opilio export bees-crawl --relevant-only -o pages.jsonl",
    ]


def test_nothing_is_to_be_exported_if_nothing_is_relevant(monkeypatch):
    assert printed(monkeypatch, 0, []).splitlines()[-1] == "  opilio status bees-crawl"
