"""tdmrep.json of sites with kept pages is fetched politely, stored and applied."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

import opilio
from crawling import serving
from opilio.lab.synthetic.server import Server
from opilio.lab.synthetic.small import HTML, SmallWeb, page, redirect
from opilio.lab.synthetic.web import SyntheticAnswer

BEES = "The honey bee lives in a hive. Every honey bee of the hive gathers honey."
FILE = "/.well-known/tdmrep.json"


def rules(*told: tuple[str, int]) -> SyntheticAnswer:
    """A tdmrep.json with these locations and reservations."""
    body = [
        {"location": location, "tdm-reservation": reserved}
        for location, reserved in told
    ]
    kind = ("content-type", "application/json")
    return SyntheticAnswer(200, (kind,), json.dumps(body).encode())


def web(**files: SyntheticAnswer | str) -> SmallWeb:
    """A seed with four pages on its host and one elsewhere; `files` by host."""
    names = ("one", "open/two", "three", "four")
    links = {f"/{name}": f"honey bee {name}" for name in names}
    pages: dict[str, SyntheticAnswer | str] = {
        "http://seed.test/": page(
            "Honey bees", BEES, {**links, "http://far.test/": "honey bee far"}
        ),
        "http://far.test/": page("Far honey bees", BEES),
    }
    for name in names:
        pages[f"http://seed.test/{name}"] = page(f"Honey bee {name}", f"{BEES} {name}")
    for host, answer in files.items():
        pages[f"http://{host}.test{FILE}"] = answer
    return SmallWeb(pages)


@contextmanager
def crawl(
    small: SmallWeb, folder: Path, purpose: str | None = "ai-train", **given: object
) -> Iterator[Server]:
    """The server of a finished crawl."""
    with serving(small) as server:
        topic = opilio.Topic(
            name="bees",
            keywords=["honey bee", "hive"],
            seeds=["http://seed.test/"],
            purpose=purpose,
        )
        quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
        asked = quick | {"proxy": server.proxy_url, "max_pages": 20} | given
        opilio.Crawl(folder, topic, **asked).run()
        yield server


def exported(folder: Path, out: Path) -> dict[str, dict]:
    """URL -> the row of each page."""
    opilio.Crawl(folder).export(out)
    rows = map(json.loads, out.read_text().splitlines())
    return {row["url"]: row for row in rows}


def asked_for(server: Server) -> list[str]:
    """The tdmrep.json files that were requested."""
    return [asked.url for asked in server.requests if asked.url.endswith(FILE)]


def test_pages_are_reserved_by_the_first_rule_that_matches(tmp_path: Path):
    small = web(seed=rules(("/open/*", 0), ("/", 1)))
    with crawl(small, tmp_path / "crawl") as server:
        assert asked_for(server).count(f"http://seed.test{FILE}") == 1
        rows = exported(tmp_path / "crawl", tmp_path / "pages.jsonl")
    assert set(rows) == {"http://seed.test/open/two", "http://far.test/"}
    free = rows["http://seed.test/open/two"]["usage"]
    assert free == {"tdmrep.json tdm-reservation": "0"}
    assert rows["http://far.test/"]["usage"] == {}


def test_a_host_without_further_links_is_asked_at_the_end(tmp_path: Path):
    small = web(far=rules(("/", 1)))
    with crawl(small, tmp_path / "crawl") as server:
        assert sorted(asked_for(server)) == [
            f"http://far.test{FILE}",
            f"http://seed.test{FILE}",
        ]
        rows = exported(tmp_path / "crawl", tmp_path / "pages.jsonl")
    assert "http://far.test/" not in rows and len(rows) == 5


@pytest.mark.parametrize("purpose", [None, "search"])
def test_it_is_not_fetched_where_it_cannot_matter(tmp_path: Path, purpose: str | None):
    with crawl(web(), tmp_path / "crawl", purpose) as server:
        assert asked_for(server) == []


def test_it_is_not_fetched_where_no_page_is_kept(tmp_path: Path):
    small = SmallWeb({"http://seed.test/": page("Cars", "Wheels and engines of cars.")})
    with crawl(small, tmp_path / "crawl") as server:
        assert asked_for(server) == []


def test_robots_txt_may_forbid_it(tmp_path: Path):
    small = web(seed=rules(("/", 1)))
    text = (("content-type", "text/plain"),)
    small.answers["http://seed.test/robots.txt"] = SyntheticAnswer(
        200, text, b"User-agent: *\nDisallow: /.well-known/\n"
    )
    with crawl(small, tmp_path / "crawl") as server:
        assert f"http://seed.test{FILE}" not in asked_for(server)
        rows = exported(tmp_path / "crawl", tmp_path / "pages.jsonl")
    assert len(rows) == 6  # what is unknown reserves nothing
    with closing(sqlite3.connect(tmp_path / "crawl" / "crawl.db")) as db:
        found = dict(db.execute("SELECT origin, status FROM tdmrep"))
    assert found == {"http://seed.test": "forbidden", "http://far.test": "none"}


def test_requests_for_it_keep_the_delay_of_the_host(tmp_path: Path):
    small = web(seed=rules(("/", 0)), far=redirect(f"/moved{FILE}"))
    small.answers[f"http://far.test/moved{FILE}"] = rules(("/", 1))
    with crawl(small, tmp_path / "crawl", delay=0.2) as server:
        for host in ("seed.test", "far.test"):
            times = [
                asked.at
                for asked in server.requests
                if asked.url.startswith(f"http://{host}/")
            ]
            assert len(times) >= 3
            assert min(b - a for a, b in pairwise(times)) >= 0.19
        rows = exported(tmp_path / "crawl", tmp_path / "pages.jsonl")
    assert "http://far.test/" not in rows


def test_it_is_fetched_once_for_all_runs_and_again_after_a_failure(tmp_path: Path):
    folder = tmp_path / "crawl"
    broken = SyntheticAnswer(503, (HTML,), b"")
    with crawl(web(seed=broken), folder, max_pages=3) as server:
        assert asked_for(server).count(f"http://seed.test{FILE}") == 1
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        assert db.execute("SELECT status FROM tdmrep").fetchall()[-1] == ("failed",)
        db.execute("UPDATE tdmrep SET expires_at = 0 WHERE status = 'failed'")
    with crawl(web(seed=rules(("/", 1))), folder) as server:
        assert asked_for(server).count(f"http://seed.test{FILE}") == 1
        rows = exported(folder, tmp_path / "pages.jsonl")
    assert not any(url.startswith("http://seed.test/") for url in rows)
