"""A strategy, a judge, a seed source and an exporter of your own, as docs/howto shows
them: from one installed package, from files, and as objects."""

import re
from pathlib import Path

import pytest

import opilio
from bee_web import BEES, SHIPS
from crawling import opilio as command
from crawling import serving
from doc_examples import blocks, build_wheel, install, python, write_modules
from opilio import extensions
from opilio.lab.synthetic.small import SmallWeb, page, redirect

LINKS = {"/a": "x", "/b": "a very long anchor", "/c": "a long one", "/ships": "sh"}
WEB = SmallWeb(
    {
        "http://example.org/bees.txt": "http://start.test/",
        "http://start.test/": page("Start", BEES, LINKS),
        "http://start.test/a": page("A", f"{BEES} {'alpha ' * 60}"),
        "http://start.test/b": page("B", f"{BEES} {'beta ' * 60}"),
        "http://start.test/c": page("C", f"{BEES} {'gamma ' * 60}"),
        "http://start.test/ships": page("Ships", SHIPS),
    }
)
TOPIC = 'name = "bees"\nkeywords = ["bees", "hive"]\n'
SETTINGS = "crawl.in_flight = 1\npoliteness.delay = 0.0\nstore.min_free = 0\n"
ORDER = ["Start", "B", "C", "Ships", "A"]

PROGRAM = """
import opilio

crawl = opilio.Crawl(
    "by-name", "topic.toml", strategy="long-anchors", judge="sentences",
    seeds="address-list", options={{"most": 40}}, in_flight=1, delay=0.0,
    ip_delay=0.0, min_free=0, proxy="{proxy}",
)
kept = [page.title for page in crawl]
order = sorted(crawl.pages(), key=lambda page: page.fetched)
crawl.export("bees.txt")
print(kept, [page.title for page in order])
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "topic.toml").write_text(TOPIC)
    (tmp_path / "settings.toml").write_text(SETTINGS)
    return tmp_path


def reading_list(path: Path) -> list[str]:
    """The titles in an export of the example."""
    return re.findall(
        r"^- \[(\w+)\]\(http.* The honey bee makes", path.read_text(), re.M
    )


async def test_all_four_come_from_one_installed_package(home: Path):
    await install(build_wheel(home), home / "site")
    env = {"PYTHONPATH": f"{home / 'site'}:{Path(opilio.__file__).parents[1]}"}
    with serving(WEB) as server:
        (home / "program.py").write_text(PROGRAM.format(proxy=server.proxy_url))
        code, out = await python("program.py", cwd=home, **env)
        assert code == 0, out
        assert out.strip() == f"{[t for t in ORDER if t != 'Ships']} {ORDER}"
        assert sorted(reading_list(home / "bees.txt")) == ["A", "B", "C", "Start"]
        code, out = await python(
            "-c", COMMAND, "crawl", "topic.toml", "-o", "by-command", "-q",
            "--strategy", "long-anchors", "--judge", "sentences",
            "--seed-source", "address-list", "--option", "most=40",
            "--settings", "settings.toml", "--proxy", server.proxy_url,
            cwd=home, **env,
        )  # fmt: skip
        assert code == 0, out
    args = ("export", "by-command", "-o", "two.txt")
    code, out = await python("-c", COMMAND, *args, cwd=home, **env)
    assert code == 0, out
    assert sorted(reading_list(home / "two.txt")) == sorted(
        reading_list(home / "bees.txt")
    )


COMMAND = "import sys; from opilio.cli import main; main()"


async def test_all_four_come_from_files_on_the_command_line(home: Path):
    write_modules(home)
    names = {
        "--strategy": f"{home}/long_anchors.py:LongAnchors",
        "--judge": f"{home}/sentences.py:Sentences",
        "--seed-source": f"{home}/address_list.py:AddressList",
    }
    options = [each for pair in names.items() for each in pair]
    crawl = ("crawl", home / "topic.toml", "-o", home / "crawl", "-q")
    with serving(WEB) as server:
        proxy = ("--proxy", server.proxy_url, "--settings", home / "settings.toml")
        ended = await command(*crawl, *options, *proxy)
        assert ended.code == 0, ended.err
        ended = await command(
            "crawl", home / "crawl", "-q", "--proxy", server.proxy_url
        )
        assert ended.code == 0, ended.err
    pages = sorted(opilio.Crawl(home / "crawl").pages(), key=lambda page: page.fetched)
    assert [page.title for page in pages] == ORDER
    ended = await command(
        "export", home / "crawl", "-f", f"{home}/reading_list.py:ReadingList",
        "-o", home / "bees.txt", "--relevant-only",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert sorted(reading_list(home / "bees.txt")) == ["A", "B", "C", "Start"]


def test_all_four_may_be_objects_and_classes(home: Path, monkeypatch):
    """The lines of the docs that use them from Python."""
    parts = {}
    write_modules(home)
    for module in ("long_anchors", "sentences", "address_list", "reading_list"):
        parts |= vars(extensions.from_file(home / f"{module}.py"))
    monkeypatch.chdir(home)
    with serving(WEB) as server:
        pages = ("own-strategy", "own-judge", "own-seed-source")
        ways = [blocks(f"howto/{page}.md")[1] for page in pages]
        given = [re.search(r"topic, (.*)\)", way)[1] for way in ways]
        settings = "delay=0.0, ip_delay=0.0, min_free=0, in_flight=1, proxy=proxy"
        code = f"opilio.Crawl('c', 'topic.toml', {', '.join(given)}, {settings})"
        parts |= {"opilio": opilio, "proxy": server.proxy_url}
        crawl = eval(code, parts)
        crawl.run()
    assert crawl.status().kept == 4
    exec(blocks("howto/own-exporter.md")[1], parts | {"crawl": crawl})
    assert len(reading_list(home / "bees.txt")) == 4


def test_a_topic_file_names_seed_sources_beside_it(home: Path):
    write_modules(home)
    sources = '[seeds]\nsources = ["address_list.py:AddressList"]\n'
    (home / "topic.toml").write_text(TOPIC + sources)
    with serving(WEB) as server:
        settings = {"delay": 0.0, "min_free": 0, "proxy": server.proxy_url}
        crawl = opilio.Crawl(home / "c", home / "topic.toml", max_pages=1, **settings)
        assert [page.title for page in crawl] == ["Start"]


def test_a_seed_source_gets_lists_that_moved_and_no_pages_of_errors(
    home: Path, caplog: pytest.LogCaptureFixture
):
    write_modules(home)
    moved = "http://example.org/new.txt"
    pages = {
        moved: "http://start.test/",
        "http://start.test/": page("Start", f"{BEES} {'alpha ' * 60}"),
        "http://own.test/": page("Own", f"{BEES} {'beta ' * 60}"),
    }
    for answers, titles in (
        ({"http://example.org/bees.txt": redirect(moved)}, {"Start", "Own"}),
        ({}, {"Own"}),
    ):
        with serving(SmallWeb(pages | answers)) as server:
            crawl = opilio.Crawl(
                home / f"c{len(answers)}",
                opilio.Topic(name="bees", keywords=["honey bee", "hive"]),
                seeds=["http://own.test/", f"{home}/address_list.py:AddressList"],
                proxy=server.proxy_url,
                delay=0.0,
                min_free=0,
            )
            assert {page.title for page in crawl} == titles
    assert "no seeds from AddressList: http://example.org/bees.txt answered 404" in (
        caplog.text
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing.py:Sentences", "nothing.py does not exist"),
        (
            "sentences.py:Nothing",
            "has no attribute 'Nothing'",
        ),
        ("broken.py:Judge", "cannot be loaded: it is broken; fix or remove"),
        ("greedy.py:Judge", "its constructor requires subject, budget"),
    ],
)
def test_a_judge_that_cannot_be_made_is_refused(home: Path, name: str, said: str):
    write_modules(home)
    (home / "broken.py").write_text("raise ValueError('it is broken')")
    (home / "greedy.py").write_text(
        "class Judge:\n"
        "    def __init__(self, subject, budget): ...\n"
        "    def judge(self, page): ...\n"
    )
    topic = opilio.Topic(name="bees", keywords=["bee"], seeds=["http://start.test/"])
    with pytest.raises(opilio.BadInput) as caught:
        opilio.Crawl(home / "c", topic, judge=f"{home}/{name}").run()
    assert said in str(caught.value)
    assert not (home / "c").exists()
