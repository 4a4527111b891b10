"""`opilio topic build --search` and `--update`: a topic from the web and its pages."""

import json
import tomllib
from pathlib import Path

from bee_web import bee_web
from crawling import opilio
from in_process import run, run_beside
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject

BEES = "The bee makes honey in the hive and the queen lays eggs. " * 10
ONE_WORD = 'name = "bees"\nkeywords = ["bee"]\nseeds = ["http://seed.test/"]\n'
GONE = f"http://c.test/gone{'-away' * 20}"
FOUND = ("http://a.test/1", "http://a.test/2", "http://b.test/", GONE)


class WithEngine(SmallWeb):
    """Pages about bees, and a SearXNG instance that finds them."""

    def __init__(self) -> None:
        pages = {url: page("Bees", f"{BEES} {url[7]}") for url in FOUND[:3]}
        super().__init__(pages)

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if not url.startswith("http://engine.test/search?"):
            return super().respond(url, attempt)
        results = [{"url": one, "engines": ["x"]} for one in FOUND]
        results[0]["engines"] = ["x", "y"]
        body = json.dumps({"results": results}).encode()
        return SyntheticAnswer(200, (("content-type", "application/json"),), body)


def network(life, tmp_path: Path) -> tuple[object, ...]:
    return (
        *("--engine", "searxng:http://engine.test/", "--proxy", life.server.proxy_url),
        *("--delay", 0, "-o", tmp_path / "t.toml"),
    )


async def test_one_command_searches_fetches_and_writes_the_topic(
    crawled, tmp_path: Path
):
    """2.5.1 and 2.5.2: seed pages from engines, weighted keywords from the pages.
    Aastha, section 2.5.1: "uses these top N URLs as seed URLs and from these URLs, it
    fetches the seed pages"."""
    life = await crawled(WithEngine())
    options = network(life, tmp_path)
    ended = await opilio("topic", "build", "--search", "honey bees", *options)
    assert ended.code == 0, ended.err
    made = tomllib.loads((tmp_path / "t.toml").read_text())
    assert made["seeds"] == list(FOUND)
    words = [one if isinstance(one, str) else one["term"] for one in made["keywords"]]
    assert words[0] == "honey bees"
    assert {"bee", "honey", "hive", "queen"} <= set(words)
    assert all(0 < w["weight"] <= 1 for w in made["keywords"] if isinstance(w, dict))
    told = " ".join(ended.err.split())
    assert "high x, y: http://a.test/1" in told
    assert FOUND[3] in ended.err  # a long address is not broken into lines
    assert "3 of 4 pages could be read" in told
    asked = [one.url for one in life.server.requests]
    assert asked[0].startswith("http://engine.test/search?q=honey+bees")
    for host in ("a", "b", "c"):  # robots.txt comes first
        assert asked.index(f"http://{host}.test/robots.txt") < min(
            n for n, url in enumerate(asked) if url in FOUND and url[7] == host
        )


async def test_the_letter_of_the_thesis_weighs_by_tf_df(crawled, tmp_path: Path):
    life = await crawled(WithEngine())
    options = (*network(life, tmp_path), "--mode", "paper", "--top", 3)
    ended = await opilio("topic", "build", "--search", "bees", *options)
    assert ended.code == 0, ended.err
    made = tomllib.loads((tmp_path / "t.toml").read_text())
    assert len(made["keywords"]) == 4


async def test_engines_that_fail_are_told_with_a_remedy(crawled, tmp_path: Path):
    life = await crawled(bee_web())
    ended = await opilio("topic", "build", "--search", "bees", *network(life, tmp_path))
    assert ended.code != 0
    assert not (tmp_path / "t.toml").exists()
    wrong = run("topic", "build", "--keywords", "bee", "--engine", "ddgs")
    assert (wrong.code, "--search" in wrong.err) == (2, True)
    other = tmp_path / "u.toml"
    nobody = await run_beside("topic", "build", "--search", "bees", "-o", other)
    assert (nobody.code, "contact" in nobody.err) == (2, True)


async def test_keywords_follow_the_kept_pages_as_the_user_decides(crawled):
    life = await crawled(bee_web(), topic_text=ONE_WORD)
    assert (await life.crawl("--max-pages", 20)).code == 0
    proposed = run("topic", "build", "--update", life.folder, "--json").json()
    term = next(one["term"] for one in proposed if one["kind"] == "add")
    told = run("topic", "build", "--update", life.folder).out
    assert "add         →" in told
    done = run("topic", "build", "--update", life.folder, "--accept", term)
    assert done.code == 0, done.err
    assert term not in load_subject(CrawlFolder(life.folder).subject).terms
    assert (await life.crawl("--max-pages", 22)).code == 0
    assert term in load_subject(CrawlFolder(life.folder).subject).terms
    again = run("topic", "build", "--update", life.folder, "--json").json()
    assert term not in {one["term"] for one in again}
    [line] = (life.folder / "keywords.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert (record["action"], record["change"]["term"]) == ("accepted", term)
    assert record["when"].startswith("20")
    wrong = run("topic", "build", "--update", life.folder, "--reject", "zebra")
    assert (wrong.code, "not proposed" in wrong.err) == (2, True)


async def test_a_topic_may_allow_it_automatically(crawled):
    topic = 'update = "auto"\n' + ONE_WORD
    life = await crawled(bee_web(), topic_text=topic)
    assert (await life.crawl("--max-pages", 20)).code == 0
    assert not (life.folder / "keywords.jsonl").exists()
    resumed = await life.crawl("--max-pages", 22)
    assert resumed.code == 0, resumed.err
    assert "The keywords follow the kept pages: add" in " ".join(resumed.err.split())
    lines = (life.folder / "keywords.jsonl").read_text().splitlines()
    actions = {json.loads(line)["action"] for line in lines if line}
    assert actions == {"automatic"}
