"""A crawl whose strategy asks for vectors gets them, from the first page on."""

from __future__ import annotations

import json
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest
from typer.testing import CliRunner

from crawling import Crawled, Ended, opilio, with_strategy
from opilio.cli import app
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import write_web
from vectors.tables import make_table, tokenizer_json

LETTERS = [prefix + letter for prefix in ("", "##") for letter in ascii_lowercase]

BY_VECTORS = '''
import numpy as np
from opilio.settings import Section
from opilio.records import Ranked, Reads

class Options(Section, frozen=True, kw_only=True):
    pass

class Theirs:
    """Visits links first that are similar to a keyword."""
    Options = Options
    reads = Reads(vectors=True)

    def __init__(self, options, knowledge):
        known = knowledge.subject.vectors.values()
        self.terms = [np.frombuffer(each, np.float32) for each in known]

    def rank(self, page, verdict, lease):
        for link in page.links:
            vector = np.frombuffer(link.vector, np.int8) / 127
            near = [float(vector @ term) for term in self.terms] if len(vector) else [0]
            yield Ranked(link, 2 + max(near))
'''
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Start",
            "",
            {"/ships": "a ship", "/lakes": "the lake", "/hives": "the hive"},
        ),
        "http://seed.test/ships": page("Ships", "A ship sails. " * 20),
        "http://seed.test/lakes": page("Lakes", "A lake is water. " * 20),
        "http://seed.test/hives": page("Hives", "The hive of the bee. " * 20),
    }
)


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return with_strategy(tmp_path / "theirs", BY_VECTORS)


async def crawl(life: Crawled, env: dict[str, str], *options: object) -> Ended:
    return await opilio(*life.command("--strategy", "theirs", *options), env=env)


TOPIC = 'name = "x"\nkeywords = ["lake"]\nseeds = ["http://seed.test/"]\n'


def promises(life: Crawled) -> dict[str, float]:
    rows = life.rows("SELECT url, promise FROM link")
    return {url.rpartition("/")[2]: promise for url, promise in rows}


async def test_a_strategy_ranks_by_vectors(crawled, env, tmp_path):
    table = make_table(tmp_path / "table.npz")
    life = await crawled(WEB, topic_text=TOPIC)
    ended = await crawl(life, env, "--vectors", table)
    assert ended.code == 0, ended.err
    found = promises(life)
    assert found["lakes"] > 2.7
    assert found["lakes"] > found["ships"] + 0.2 and found["ships"] >= 2
    settings = (life.folder / "crawl.toml").read_text()
    assert f'vectors = "{table}"' in settings
    refused = await crawl(life, env, "--vectors", "none")
    assert refused.code == 2
    assert f"is crawled with --vectors {table}, not none" in refused.err


async def test_a_strategy_that_asks_in_vain_gets_none(crawled, env):
    life = await crawled(WEB, topic_text=TOPIC)
    ended = await crawl(life, env, "--vectors", "none")
    assert ended.code == 0, ended.err
    assert promises(life)["lakes"] == 2


async def test_a_crawl_whose_table_is_gone_says_so(crawled, env, tmp_path):
    table = make_table(tmp_path / "table.npz")
    life = await crawled(WEB, topic_text=TOPIC)
    arguments = ("--vectors", table, "--max-pages")
    assert (await crawl(life, env, *arguments, 1)).code == 0
    table.unlink()
    ended = await crawl(life, env, *arguments, 3)
    assert ended.code == 2
    assert f"{table} is no file" in ended.err


async def test_a_table_that_is_none_is_refused_before_anything_is_made(crawled, env):
    life = await crawled(WEB, topic_text=TOPIC)
    (life.home / "bad.npz").write_text("no table")
    for name, why in (("bad.npz", "is not a table"), ("missing", "is no file")):
        ended = await crawl(life, env, "--vectors", life.home / name)
        assert ended.code == 2, ended.err
        assert why in ended.err
        assert not life.folder.exists()


def test_the_lab_takes_the_same_vectors(tmp_path, monkeypatch):
    (tmp_path / "near.py").write_text(BY_VECTORS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = SyntheticWeb(Dials(pages=60, hosts=2, topics=2))
    write_web(made, tmp_path / "web", "web")
    table = make_table(
        tmp_path / "table.npz",
        np.random.default_rng(0).normal(size=(len(LETTERS), 8)).astype(np.float16),
        tokenizer_json(LETTERS),
    )
    orders = {}
    for vectors in ("none", str(table)):
        told = CliRunner().invoke(
            app,
            [
                *(
                    "lab",
                    "run",
                    "--web",
                    str(tmp_path / "web"),
                    "--topic",
                    "beekeeping",
                ),
                *(
                    "--strategy",
                    f"{tmp_path}/near.py:Theirs",
                    "--budget",
                    "30",
                    "--json",
                    "-",
                ),
                *("--vectors", vectors, "--jobs", "1"),
            ],
        )
        assert told.exit_code == 0, told.output
        orders[vectors] = json.loads(told.output.splitlines()[-1])["pages"]
    assert orders["none"] != orders[str(table)]
