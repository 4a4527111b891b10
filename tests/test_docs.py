"""Documentation is tested: every command, option, setting and query in it is real."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import typer.main

import opilio as package
from crawling import opilio
from opilio import settings
from opilio.assembly.plan import Plan
from opilio.cli import app
from opilio.judge import JUDGES
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import open_database
from opilio.strategies import load_strategy, strategies
from opilio.topic import Topic
from opilio.topic.file import Classes, Examples, OntologyFiles, QueryLog, Sources

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
SQL = re.findall(
    r"```sql\n(.*?)```", (DOCS / "reference/crawl-folder.md").read_text(), re.DOTALL
)
BEES = "The bee makes honey in the hive. " * 20


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_its_options_are_documented(name: str):
    text = (DOCS / "reference/commands.md").read_text()
    assert f"`opilio {name}" in text
    for option in COMMANDS[name].params:
        longest = max(option.opts, key=len)
        if longest.startswith("--") and longest not in ("--help", "--json"):
            assert longest in text, f"{name} {longest}"


@pytest.mark.parametrize("section", ["crawl", "politeness", "fetch", "bounds", "store"])
def test_a_setting_is_documented_with_its_default(section: str):
    text = (DOCS / "reference/settings.md").read_text()
    assert f"`[{section}]`" in text
    defaults = getattr(settings.Settings(), section)
    for name in defaults.__struct_fields__:
        row = re.search(rf"\| `{name}` \| ([^|]+) \|", text)
        assert row, name
        value = getattr(defaults, name)
        if isinstance(value, bool):
            assert row[1] == str(value).lower(), name
        elif isinstance(value, int | float):
            assert float(row[1]) in {
                float(getattr(getattr(settings.Settings(), other), name))
                for other in ("crawl", "politeness", "fetch", "bounds", "store")
                if hasattr(getattr(settings.Settings(), other), name)
            }, name


def test_every_key_of_a_topic_file_is_documented():
    text = (DOCS / "reference/topic-file.md").read_text()
    tables = (
        Topic,
        settings.ScopeSettings,
        Sources,
        QueryLog,
        OntologyFiles,
        Examples,
        Classes,
    )
    for table in tables:
        for name in table.__struct_fields__:
            assert name in text, name


def test_the_plan_has_no_section_that_is_not_documented():
    text = (DOCS / "reference/settings.md").read_text()
    for field in msgspec.structs.fields(Plan):
        if field.name not in ("topic", "replay", "online", "opilio"):
            assert f"`[{field.name}]`" in text


def test_judges_are_documented():
    text = (DOCS / "reference/commands.md").read_text()
    for name in JUDGES:
        assert f"`{name}`" in text, name


@pytest.mark.parametrize("name", strategies())
def test_a_strategy_has_a_page_with_its_options(name: str):
    page = (DOCS / "strategies" / f"{name}.md").read_text()
    for option in load_strategy(strategies()[name]).Options.__struct_fields__:
        assert f"`{option}`" in page, option


def test_the_python_api_is_documented():
    text = (DOCS / "reference/python-api.md").read_text()
    for name in set(package.__all__) - {"__version__"}:
        assert getattr(package, name).__name__ == name
        assert re.search(rf"\b{name}\b", text), name
    for name in vars(package.Crawl):
        if not name.startswith("_"):
            assert re.search(rf"`(await )?{name}\b", text), name


def test_every_table_and_column_is_documented(tmp_path: Path):
    text = (DOCS / "reference/crawl-folder.md").read_text()
    db = open_database(tmp_path / "crawl.db")
    tables = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    ).fetchall()
    for (table,) in tables:
        row = re.search(rf"^\| `{table}` \|.*$", text, re.MULTILINE)
        assert row, table
        for column in db.execute(f"PRAGMA table_info({table})"):
            assert f"`{column[1]}`" in row[0], f"{table}.{column[1]}"
    db.close()


async def test_the_queries_shown_answer_on_a_real_crawl(crawled):
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": page(
                    "Bees", BEES, {"/a": "a", "/b": "b", "/c": "c"}
                ),
                "http://seed.test/a": page("Honey", BEES + "a", {"/": "home"}),
                "http://seed.test/b": page("Honey", BEES + "a", {"/": "home"}),
                "http://seed.test/c": page("Hive", BEES + "c", {"/d": "d", "/e": "e"}),
                "http://seed.test/d": page("More", BEES + "d" * 50),
                "http://seed.test/e": page("Most", BEES + "e" * 50),
            }
        )
    )
    ended = await life.crawl("--strategy", "best-first", "--max-pages", 5)
    assert ended.code == 0, ended.err
    assert len(SQL) >= 8
    with (
        closing(
            sqlite3.connect(f"file:{life.folder}/crawl.db?mode=ro", uri=True)
        ) as db,
        db,
    ):
        for query in SQL:
            assert db.execute(query).fetchall(), query


@pytest.mark.parametrize("name", COMMANDS)
async def test_help_has_words_for_everything(name: str):
    ended = await opilio(name, "--help")
    assert ended.code == 0
    for option in COMMANDS[name].params:
        assert option.help, f"{name} {option.name}"
