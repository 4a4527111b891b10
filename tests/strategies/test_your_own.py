"""A strategy from another package, as docs/howto/own-strategy.md shows it."""

import json
import os
import re
from pathlib import Path

from crawling import opilio
from opilio.lab.synthetic.small import SmallWeb, page

PAGE = Path(__file__).parents[2] / "docs/howto/own-strategy.md"


def installed(folder: Path) -> dict[str, str]:
    """Install the example of the docs as pip would; the environment that has it."""
    text = PAGE.read_text(encoding="utf-8")
    module = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    entry = re.search(r"^long-anchors = .*$", text, re.MULTILINE)
    assert module
    assert entry
    (folder / "long_anchors.py").write_text(module[1])
    info = folder / "long_anchors-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: long-anchors\n")
    line = entry[0].replace('"', "")
    (info / "entry_points.txt").write_text(f"[opilio.strategies]\n{line}\n")
    return {**os.environ, "PYTHONPATH": str(folder)}


async def test_a_strategy_of_another_package_is_listed_and_used(crawled, tmp_path):
    env = installed(tmp_path)
    listed = await opilio("strategies", "--json", env=env)
    assert {
        "name": "long-anchors",
        "does": "Visits links with long anchors first.",
        "paper": "Long anchors first: people who write much about a link recommend it.",
        "options": {"most": 80},
        "group": "of other packages",
        "needs": "what its own documentation says",
    } in json.loads(listed.out)
    links = {"/a": "x", "/b": "a very long anchor", "/c": "a long one"}
    web = {"http://seed.test/": page("Start", "", links)}
    web |= {f"http://seed.test{path}": page(path, path * 9) for path in links}
    settings = "crawl.in_flight = 1\npoliteness.delay = 0.0\nstore.min_free = 0\n"
    life = await crawled(SmallWeb(web), settings_text=settings)
    command = life.command("--strategy", "long-anchors", "--option", "most=40")
    ended = await opilio(*command, env=env)
    assert ended.code == 0, ended.err
    order = life.rows("SELECT url FROM page JOIN link USING (id) ORDER BY number")
    assert [url[-1] for (url,) in order] == ["/", "b", "c", "a"]


async def test_a_package_that_cannot_be_loaded_does_not_hide_the_others(tmp_path):
    env = installed(tmp_path)
    (tmp_path / "long_anchors.py").write_text("import nothing_of_that_name")
    listed = await opilio("strategies", env=env)
    assert listed.code == 0
    assert "cannot be loaded" in " ".join(listed.out.split())
    assert "best-first" in listed.out
