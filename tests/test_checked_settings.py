"""What programs and command lines give is checked as files are, before anything is
written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawling import TOPIC, opilio
from fetch.hostile_server import answer, saying, serve
from fetch.local_egress import opened
from opilio import Settings, Topic
from opilio.api import Crawl as CrawlApi
from opilio.assembly.plan import Plan, override
from opilio.errors import BadInput, Transient
from opilio.fetch.egress import Egress
from opilio.fetch.proxy_and_certificates import Proxy, parse_proxy
from opilio.settings import FetchSettings, ScopeSettings, build_section, checked_section
from opilio.topic.file import Keyword, QueryLog, Sources

SEEDS = ("http://127.0.0.1:9/",)
BEES = Topic(name="bees", keywords=("beekeeping",), seeds=SEEDS)
WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"delay": -3.0, "ip_delay": -1.0},
        "politeness.delay: expected a number of at least 0, got -3.0",
    ),
    ({"delay": float("inf")}, "politeness.delay is inf; it must be a finite number"),
    (
        {"max_pages": "10"},
        "crawl.max_pages: expected a whole number of at least 0, got '10'",
    ),
    (
        {"in_flight": 0},
        "crawl.in_flight: expected a whole number of at least 1, got 0",
    ),
    (
        {"allow_networks": "127.0.0.0/8"},
        "fetch.allow_networks: expected a list, as in ['…'], got '127.0.0.0/8'",
    ),
    ({"options": {"gamma": float("nan")}}, "options.gamma is nan"),
]
WRONG_TOPICS: list[tuple[Any, str]] = [
    (
        Topic(name="bees", keywords=("beekeeping"), seeds=SEEDS),
        "keywords: expected a list, as in ['…'], got 'beekeeping'",
    ),
    (
        Topic(name="bees", keywords=("bee",), seeds="http://a.test/"),
        "seeds: expected a list, as in ['…'] or a table, got 'http://a.test/'",
    ),
    (
        Topic(name="bees", keywords=("bee",), seeds=Sources(urls=SEEDS, limit=0)),
        "seeds.limit: expected a whole number from 1 to 499, got 0",
    ),
    (
        Topic(name="bees", keywords=("bee",), seeds=SEEDS, threshold=2),
        "threshold: expected a number above 0 and of at most 1, got 2",
    ),
    (
        Topic(name="bees", keywords=(Keyword(term="bee", weight="x"),), seeds=SEEDS),
        "keywords[0].weight: expected a number, got 'x'",
    ),
    (
        Topic(name="bees", keywords=("bee",), query_log=QueryLog(file=Path("log"))),
        "query_log.file: expected `str`, got `",
    ),
    (3, "expected a Topic, got 3"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_a_program_is_told_which_setting_cannot_be(
    tmp_path: Path, settings: dict[str, Any], said: str
):
    with pytest.raises(BadInput) as caught:
        CrawlApi(tmp_path / "crawl", BEES, **settings)
    assert str(caught.value).startswith(f"the options: {said}")
    assert not (tmp_path / "crawl").exists()


@pytest.mark.parametrize(("topic", "said"), WRONG_TOPICS)
def test_a_program_is_told_what_of_its_topic_cannot_be(
    tmp_path: Path, topic: Topic, said: str
):
    with pytest.raises(BadInput) as caught:
        CrawlApi(tmp_path / "crawl", topic)
    assert str(caught.value).startswith(f"the topic: {said}")
    assert not (tmp_path / "crawl").exists()


def test_what_is_sound_comes_back_as_from_a_file():
    given = Topic(
        name="bees",
        keywords=["bee", Keyword(term="honey", weight=2)],
        seeds=Sources(urls=list(SEEDS)),
        scope=ScopeSettings(domains=["a.test"]),
        dictionary={"de": "de.tsv"},
    )
    tables = {
        "name": "bees",
        "keywords": ["bee", {"term": "honey", "weight": 2.0}],
        "seeds": {"urls": list(SEEDS)},
        "scope": {"domains": ["a.test"]},
        "dictionary": {"de": "de.tsv"},
    }
    assert checked_section(given, Topic, "x") == build_section(tables, Topic, "x")
    assert checked_section(Settings(), Settings, "x") == Settings()


async def test_a_command_line_is_told_before_the_crawl_has_a_folder(tmp_path: Path):
    topic = tmp_path / "bees.toml"
    topic.write_text(TOPIC)
    ended = await opilio("crawl", topic, "-o", tmp_path / "c", "--delay", "inf")
    assert ended.code == 2
    assert "politeness.delay is inf; it must be a finite number" in ended.err
    assert not (tmp_path / "c").exists()


def test_an_option_is_refused_by_the_rules_of_its_setting():
    with pytest.raises(BadInput, match=r"crawl\.in_flight: expected a whole number"):
        override(Plan(topic=BEES), {"crawl": {"in_flight": 0}})


@pytest.mark.parametrize(
    "name", ["Bücher-Bot", "a\r\nX-Inj: y", "a\n", "a\x00", "\x7f", "", " ", " a", "a "]
)
def test_a_user_agent_is_one_header_line(name: str):
    with pytest.raises(BadInput) as caught:
        build_section({"fetch": {"user_agent": name}}, Settings, "crawl.toml")
    said = "fetch.user_agent: expected printable ASCII characters"
    assert said in str(caught.value)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["x", "bees/1.0 (+https://a.test/~bees; me@a.test)"])
def test_a_usual_user_agent_will_do(name: str):
    settings = build_section({"fetch": {"user_agent": name}}, Settings, "crawl.toml")
    assert settings.fetch == FetchSettings(user_agent=name)


@pytest.mark.parametrize(
    "host", ["bücher.test", "a b", "a%0Ab", "a\0b", "[bad", "[::1", "", "x@"]
)
def test_a_proxy_has_a_host_that_can_be_asked(host: str):
    with pytest.raises(BadInput) as caught:
        parse_proxy(f"http://secret:word@{host}:3128")
    assert "fetch.proxy is not valid" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("given", ["ö:ü", "%C3%B6:%C3%BC"])
async def test_a_proxy_may_ask_for_any_name_and_password(given: str):
    setting = f"http://{given}@127.0.0.1:9"
    assert parse_proxy(setting) == Proxy("http://127.0.0.1:9", "ö", "ü")
    egress = Egress(FetchSettings(proxy=setting))
    with pytest.raises(Transient, match="connect to"):  # nobody listens there
        await egress.get("http://a.test/")
    await egress.close()


async def test_times_without_end_are_as_long_as_there_are():
    forever = dict.fromkeys(("timeout", "connect_timeout", "keep_alive"), 1e300)
    async with serve(saying(answer(b"Bees"))) as server, opened(**forever) as egress:
        assert (await egress.get(server.url())).body == b"Bees"
