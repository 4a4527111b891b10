"""Each message takes effect exactly once, though the crawl is killed meanwhile."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.store.message_log import DONE

SETTINGS = """
[crawl]
judge = "{judge}:Counting"
strategy = "breadth-first"
in_flight = 8
near_copies = false
[bounds]
per_template = 0
novelty = 0
[politeness]
delay = 0.04
[store]
min_free = 0
commit_every = 0.2
"""
# A judge that counts its lessons. What it counted is part of the crawl's transaction,
# so a lesson that was given twice, or lost in a crash, shows.
JUDGE = """
import json
from opilio import Verdict


class Counting:
    is_learning = True

    def __init__(self, *_):
        self.lessons = []

    def judge(self, page):
        return Verdict(1.0, "bee" in page.terms)

    look = judge

    def teach(self, page, relevant):
        self.lessons.append([page.url, relevant])

    def learners(self):
        return {"judge": self}

    def follow(self, before):
        self.lessons = before.lessons

    def dump(self):
        return json.dumps(self.lessons).encode()

    def load(self, learnt):
        self.lessons = json.loads(learnt)
"""
WRITER = """
import json, sys, time
import opilio

folder = sys.argv[1]
for words in json.load(sys.stdin):
    opilio.tell(folder, *words)
    time.sleep(0.09)
"""
PAGES = 500
LABELLED = 20


def web() -> SmallWeb:
    """A site that takes a while to crawl, and pages that nothing links to."""
    links = {f"/{n}": f"Page {n}" for n in range(1, PAGES)}
    pages = {"http://seed.test/": page("Page", "bee", links)}
    for n in range(1, PAGES):
        pages[f"http://seed.test/{n}"] = page(f"Page {n}", f"bee {n}")
    for n in range(40):
        pages[f"http://new.test/{n}"] = page(f"New {n}", f"bee {n}")
    return SmallWeb(pages)


def messages() -> list[list[str]]:
    """A hundred: labels, seeds and rules for hosts."""
    labels = [
        ["label", f"http://seed.test/{n or ''}", "yes" if n % 2 else "no"]
        for n in range(LABELLED)
    ]
    seeds = [["seed", f"http://new.test/{n}"] for n in range(40)]
    rules = [["boost", f"host{n}.test", str(n + 2)] for n in range(20)]
    blocks = [["block", f"blocked{n}.test"] for n in range(20)]
    return [*labels, *seeds, *rules, *blocks]


async def write(folder: Path, words: list[list[str]]) -> None:
    """Send messages from a process of their own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, folder, stdin=asyncio.subprocess.PIPE
    )
    await process.communicate(json.dumps(words).encode())
    assert process.returncode == 0


async def test_a_hundred_messages_of_three_writers_through_two_kills(crawled, tmp_path):
    judge = tmp_path / "counting.py"
    judge.write_text(JUDGE)
    life = await crawled(web(), settings_text=SETTINGS.format(judge=judge))
    process = await life.start("--max-pages", 0)
    await life.until_committed(LABELLED + 5)
    told = messages()
    writers = [
        asyncio.create_task(write(life.folder, told[number::3])) for number in range(3)
    ]
    for taken in (25, 60):
        await until_taken(life, taken)
        process.kill()
        await process.wait()
        process = await life.start("--max-pages", 0)
    await asyncio.gather(*writers)
    await until_taken(life, 100)
    new = "SELECT count(*) FROM page JOIN link USING (id) WHERE url GLOB '*new.test/*'"
    while life.rows(new) != [(40,)]:
        await asyncio.sleep(0.05)
    opilio.tell(life.folder, "stop", wait=10)
    assert await asyncio.wait_for(process.wait(), 30) == 0

    found = opilio.Crawl(life.folder).messages()
    assert Counter((one.text.split()[0], one.state) for one in found) == {
        ("label", DONE): LABELLED,
        ("seed", DONE): 40,
        ("boost", DONE): 20,
        ("block", DONE): 20,
        ("stop", DONE): 1,
    }
    assert len({one.key for one in found}) == 101
    [[lessons]] = life.rows("SELECT state FROM learnt WHERE name = 'judge'")
    expected = {(url, word == "yes") for verb, url, word in told[:LABELLED]}
    assert Counter(map(tuple, json.loads(lessons))) == Counter(expected)
    labels = life.rows("SELECT url, relevant FROM label JOIN link ON link.id = page")
    assert {(url, bool(yes)) for url, yes in labels} == expected
    states = life.states()
    assert all(states[f"http://new.test/{n}"] == ("kept", None) for n in range(40))
    assert states["http://seed.test/2"] == ("irrelevant", None)  # by its label
    rules = dict(life.rows("SELECT host, factor FROM host_rule"))
    assert rules == {f"host{n}.test": n + 2.0 for n in range(20)} | {
        f"blocked{n}.test": 0.0 for n in range(20)
    }
    visits = life.rows("SELECT count(*), count(DISTINCT id) FROM page")
    assert visits[0][0] == visits[0][1]


async def until_taken(life, count: int) -> None:
    """Wait until a crawl has taken up so many messages."""
    async with asyncio.timeout(60):
        while life.rows("SELECT count(*) FROM message")[0][0] < count:
            await asyncio.sleep(0.02)
