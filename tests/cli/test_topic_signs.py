"""Keywords of signs: told alike by `opilio topic build`, `topic show` and `crawl`."""

from pathlib import Path

import pytest

from crawling import opilio
from opilio.lab.synthetic.small import SmallWeb, page

WARNING = "'C++' is read as 'c'"
WEB = SmallWeb({"http://seed.test/": page("Compilers", "A compiler of C++. " * 20)})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def topic(path: Path, word: str) -> Path:
    path.write_text(
        f'name = "x"\nkeywords = ["{word}", "compiler"]\nseeds = ["http://seed.test/"]'
    )
    return path


async def test_a_keyword_that_is_read_as_something_else_is_named(crawled, home: Path):
    built = await opilio("topic", "build", "--keywords", "C++, compiler", "--json")
    assert built.code == 0
    assert built.json()["weights"] == {"C++": 1.0, "compiler": 1.0}
    assert WARNING in built.err
    life = await crawled(WEB)
    life.topic = topic(home / "t.toml", "C++")
    shown = await opilio("topic", "show", "t.toml")
    assert (shown.code, WARNING in shown.err) == (0, True)
    ended = await life.crawl()
    assert (ended.code, WARNING in ended.err) == (0, True)


async def test_a_keyword_of_signs_alone_is_refused_everywhere(home: Path):
    topic(home / "t.toml", "!!!")
    for command in (
        ("topic", "build", "--keywords", "!!!", "-o", "new.toml"),
        ("topic", "show", "t.toml"),
        ("crawl", "t.toml"),
    ):
        ended = await opilio(*command)
        assert ended.code != 0
        assert "'!!!' has no letter or digit" in ended.err
    assert [path.name for path in home.iterdir()] == ["t.toml"]
