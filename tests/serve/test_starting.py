"""Crawls are started, resumed, paused and stopped by the server, and outlive it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bee_web import bee_web
from crawling import serving
from opilio.serve.log_file import error_since, last_lines
from opilio.serve.views.start import NewCrawl, keywords_of
from opilio.store.folder import CrawlFolder
from opilio.store.lifecycle import owner_of
from serve.client import Client


def wait_for(look: Callable[[], object], seconds: float = 40) -> object:
    """Wait until something is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen in time")


@pytest.fixture
def stopped(tmp_path: Path):
    """End the crawls that a test has started."""
    yield
    for folder in tmp_path.iterdir():
        if owner_of(CrawlFolder(folder)):
            import opilio

            opilio.tell(folder, "stop", wait=20)


def preview(client: Client, name: str) -> dict | None:
    told = client.api(f"preview?name={name}")
    return told if told["state"] in ("ready", "failed") else None


def test_from_a_subject_to_a_running_crawl(serve_folder, tmp_path: Path, stopped):
    client: Client = serve_folder(tmp_path)
    with serving(bee_web(pages=400)) as server:
        started = client.post(
            "start",
            {
                "subject": "Honey Bees!",
                "keywords": "honey bee, hive",
                "seeds": "http://seed.test/",
                "proxy": server.proxy_url,
                "delay": 0.2,
                "contact": "me@example.org",
            },
        )
        assert started.json()["name"] == "honey-bees"
        again = client.post(
            "start", {"subject": "honey bees", "seeds": "http://127.0.0.1:1/"}
        )
        assert again.json()["name"] == "honey-bees-2"
        ready = wait_for(lambda: preview(client, "honey-bees"))
        assert ready["state"] == "ready", ready["log"]
        assert "keywords = [" in ready["topic_file"]
        assert len(ready["links"]) == 20
        promises = [link["promise"] for link in ready["links"]]
        assert promises == sorted(promises, reverse=True)
        run = client.post("crawls/honey-bees/resume", {"max_pages": 300})
        assert run.status == 200, run.text

        def state() -> str:
            return client.api("crawls/honey-bees")["state"]

        wait_for(
            lambda: client.api("crawls/honey-bees")["pages"] > 22
        )  # of which 20 came before
        assert state() == "running"
        assert client.post("crawls/honey-bees/resume", {}).status == 400
        tell = "crawls/honey-bees/tell"
        assert client.post(tell, {"verb": "pause"}).json()["state"] == "done"
        wait_for(lambda: state() == "paused")
        client.post(tell, {"verb": "resume"})
        wait_for(lambda: state() == "running")
        process = run.json()["process"]
        session = (
            Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[3]
        )
        assert int(session) == process  # Ctrl-C does not reach it
        other: Client = serve_folder(tmp_path)  # another server knows it too
        assert other.api("crawls/honey-bees")["state"] == "running"
        other.post(tell, {"verb": "stop"})
        wait_for(lambda: state() == "stopped")


def test_what_is_wrong_is_said(serve_folder, tmp_path: Path):
    client: Client = serve_folder(tmp_path)
    no_contact = client.post("start", {"subject": "bees", "seeds": "example.org"})
    assert (no_contact.status, "contact" in no_contact.json()["error"]) == (400, True)
    assert "--contact" not in no_contact.json()["error"]  # it is no command line
    words = client.post("start", {"subject": "bees", "seeds": "bee facts"})
    assert (words.status, "not an address" in words.json()["error"]) == (400, True)
    bad = client.post("start", {"subject": "bees", "seeds": "https://["})
    assert (bad.status, "not a URL" in bad.json()["error"]) == (400, True)
    assert list(tmp_path.iterdir()) == []
    nothing = client.get("/api/v1/preview?name=../etc")
    assert nothing.status == 400
    client.post("start", {"subject": "dead", "seeds": "http://127.0.0.1:1/"})
    failed = wait_for(lambda: preview(client, "dead"))
    assert failed["state"] == "failed"
    assert any("opilio: " in line for line in failed["log"])


def test_a_crawl_that_finds_no_seeds_has_failed(serve_folder, tmp_path: Path):
    client: Client = serve_folder(tmp_path)
    asked = {"subject": "bees", "contact": "me@example.org"}
    asked["proxy"] = "http://127.0.0.1:1"  # so no search engine answers
    client.post("start", asked)
    failed = wait_for(lambda: preview(client, "bees"), 60)
    assert failed["state"] == "failed"
    assert any("no search engine" in line for line in failed["log"])
    assert "addresses to start from" in failed["advice"]
    [card] = client.api("crawls")["crawls"]
    assert (card["state"], card["path"]) == ("failed", "/crawls/bees/preview")
    given = client.api("start?again=bees")["given"]  # the form has all of it again
    assert given | asked == given
    given |= {"seeds": "http://127.0.0.1:1/", "again": "bees"}
    assert client.post("start", given).json()["name"] == "bees"  # it takes its place
    assert "127.0.0.1:1/" in client.api("preview?name=bees")["topic_file"]


def test_a_crawl_with_pages_is_not_replaced(serve_folder, own_crawl: Path):
    client: Client = serve_folder(own_crawl.parent)
    own_crawl.with_suffix(".toml").write_text('name = "bees"\n')
    asked = {"subject": "bees", "seeds": "http://127.0.0.1:1/", "again": "bees"}
    refused = client.post("start", asked)
    assert (refused.status, "has pages already" in refused.text) == (400, True)
    assert (own_crawl / "crawl.db").exists()


def test_a_password_of_a_proxy_is_not_taken(serve_folder, tmp_path: Path):
    """It would be seen among the words of the command, and is not kept in the crawl."""
    client: Client = serve_folder(tmp_path)
    asked = {
        "subject": "bees",
        "seeds": "http://seed.test/",
        "contact": "me@example.org",
        "proxy": "http://me:canary@127.0.0.1:1",
    }
    refused = client.post("start", asked)
    assert (refused.status, "password" in refused.text) == (400, True)
    assert "canary" not in refused.text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("subject", "keywords", "meant"),
    [
        ("Beekeeping", "", {"Beekeeping": 1.0}),
        ("the bee", "", {"the bee": 1.0, "bee": 0.5}),
        (
            "bees in cities",
            "",
            {"bees in cities": 1.0, "bees": 0.5, "cities": 0.5},
        ),
        ("bees", " queen  bee, ,hive", {"queen bee": 1.0, "hive": 1.0}),
        ("量子", "", {"量子": 1.0}),
    ],
)
def test_without_keywords_the_words_of_the_subject_count(subject, keywords, meant):
    assert keywords_of(NewCrawl(subject=subject, keywords=keywords)) == meant


def test_more_pages_are_fetched_for_a_query(serve_folder, own_crawl: Path, stopped):
    client: Client = serve_folder(own_crawl.parent)
    asked = client.post("crawls/bees/more", {"q": "honey hive", "pages": 1}).json()
    assert asked["asked"].startswith("since-")

    def over() -> dict | None:
        found = client.api(f"crawls/bees/search?q=honey&asked={asked['asked']}")
        return found if found["progress"]["state"] == "done" else None

    assert wait_for(over)["progress"]["pages"] == 0  # its web is gone


def test_keywords_are_edited_and_pages_judged_again(serve_folder, own_crawl: Path):
    client: Client = serve_folder(own_crawl.parent)
    before = client.api("crawls/bees")["kept"]
    text = "ship: 2\nsea"
    assert client.post("crawls/bees/rejudge", {"keywords": text}).status == 200
    wait_for(lambda: client.api("crawls/bees")["kept"] < before)
    weights = client.api("crawls/bees/topic")["keywords"]
    assert weights == [{"term": "ship", "weight": 2.0}, {"term": "sea", "weight": 1.0}]


def test_log_lines_are_the_last_without_progress(tmp_path: Path):
    log = tmp_path / "x.log"
    assert last_lines(log) == []
    log.write_text('{"pages": 1}\nopilio: no\n\n' + "a\n" * 20)
    assert last_lines(log) == ["a"] * 12
    log.write_text("a\nopilio: the proxy does not work\n")
    written = log.stat().st_mtime
    assert error_since(log, written - 1) == "the proxy does not work"
    assert error_since(log, written + 1) == ""  # it is of an earlier run
