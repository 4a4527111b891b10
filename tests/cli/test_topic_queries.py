"""`opilio topic build --queries`: what is wrong with a log, or what goes with it."""

from pathlib import Path

import pytest

from crawling import opilio


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("option", [("--phrase", "lok sabha"), ("--mode", "paper")])
async def test_what_is_for_queries_needs_some(home: Path, option):
    built = await opilio("topic", "build", "--keywords", "bee", *option)
    assert built.code != 0
    assert f"{option[0]} " in built.err and "give --queries FILE" in built.err
    assert not list(home.iterdir())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bees " * 1_000_000, "only lines of more than 4,096 bytes (1 of them)"),
        (("x" * 4096 + "\n") * 3, "only lines of more than 4,096 bytes (3 of them)"),
        ("who are you\nthe of and\n", "only stop words"),
        (" ".join(map("word{}".format, range(99))), ""),
    ],
)
async def test_a_log_without_a_query_is_told_why(home: Path, text: str, message: str):
    (home / "q.txt").write_text(text)
    built = await opilio("topic", "build", "--queries", "q.txt", "--name", "x")
    assert (built.code != 0) == bool(message)
    assert message in built.err
    assert "threshold" not in built.err


async def test_terms_below_the_threshold_are_told_as_such(home: Path):
    (home / "q.txt").write_text("bee\nhive\n")
    (home / "t.toml").write_text(
        'name = "x"\n[query_log]\nfile = "q.txt"\nthreshold = 0.9\n'
    )
    shown = await opilio("topic", "show", "t.toml")
    assert "no term reaches the threshold" in shown.err
