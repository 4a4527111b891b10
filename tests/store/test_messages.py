"""Messages as they are typed, kept and read again."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.store import messages
from opilio.store.folder import CrawlFolder
from opilio.store.inbox import all_sent, send
from opilio.store.messages import (
    AddSeed,
    AskQuery,
    BlockHost,
    BoostHost,
    LabelPage,
    PauseCrawl,
    ResumeCrawl,
    StopCrawl,
    parse_message,
)

TYPED = {
    ("pause",): PauseCrawl(),
    ("resume",): ResumeCrawl(),
    ("stop",): StopCrawl(),
    ("seed", "HTTP://Bees.test:80/a/../hive#x"): AddSeed("http://bees.test/hive"),
    ("block", "Ads.test"): BlockHost("ads.test"),
    ("block", "https://ads.test:8443/page"): BlockHost("ads.test:8443"),
    ("unblock", "ads.test"): BoostHost("ads.test", 1.0),
    ("boost", "bees.test"): BoostHost("bees.test", 2.0),
    ("boost", "bees.test", "0.5"): BoostHost("bees.test", 0.5),
    ("label", "http://bees.test/", "yes"): LabelPage(
        "http://bees.test/", relevant=True
    ),
    ("label", "http://bees.test/", "no"): LabelPage(
        "http://bees.test/", relevant=False
    ),
    ("label", "http://bees.test/", "no", "check"): LabelPage(
        "http://bees.test/", relevant=False, check=True
    ),
    ("query", "honey", "bee"): AskQuery("honey bee", 7, 60.0),
}


@pytest.mark.parametrize(("typed", "meant"), TYPED.items())
def test_a_message_is_what_was_typed_and_survives_being_kept(typed, meant):
    message = parse_message(typed[0], typed[1:], pages=7)
    assert message == meant
    assert messages.decode_message(messages.encode_message(message)) == message


@pytest.mark.parametrize("typed", TYPED)
def test_a_message_in_words_can_be_typed_again(typed):
    message = parse_message(typed[0], typed[1:], pages=7)
    words = messages.message_in_words(message).removesuffix(" --pages 7").split()
    assert parse_message(words[0], words[1:], pages=7) == message


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["fly"], "'fly' is nothing that a crawl can be told; choose one of pause, "),
        (["pause", "now"], "write it as: opilio tell DIR pause$"),
        (["seed"], "write it as: opilio tell DIR seed URL"),
        (["seed", "ftp://bees.test/"], "'ftp://bees.test/' is not a URL"),
        (["block", "two words"], "'two words' is not a host; write it like www"),
        (["block", "a/b"], "'a/b' is not a host"),
        (["boost", "bees.test", "much"], "factor must be a number such as 2"),
        (["boost", "bees.test", "-1"], "Expected `float` > 0"),
        (["boost", "bees.test", "nan"], "Expected `float`"),
        (["label", "http://bees.test/", "maybe"], "label URL yes"),
        (["label", "http://bees.test/", "yes", "perhaps"], "label URL yes"),
        (["label", "http://bees.test/"], "label URL yes"),
        (["label"], "label URL yes"),
        (["query"], "write it as: opilio tell DIR query WORDS"),
        (["query", "x" * 1001], "length <= 1000"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(typed, why):
    with pytest.raises(BadInput, match=why):
        parse_message(typed[0], typed[1:])


def test_a_query_asks_for_a_sensible_number_of_pages():
    with pytest.raises(BadInput, match="<= 10000"):
        parse_message("query", ["bees"], pages=10_001)


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    """A folder that looks like one of a crawl."""
    for name in ("crawl.toml", "crawl.db"):
        (tmp_path / name).touch()
    return CrawlFolder(tmp_path)


def test_messages_of_many_writers_are_all_there_in_one_order(folder):
    def write(writer: int) -> list[str]:
        return [send(folder, AddSeed(f"http://w{writer}.test/{n}")) for n in range(20)]

    with ThreadPoolExecutor(4) as pool:
        keys = [key for some in pool.map(write, range(4)) for key in some]
    sent = all_sent(folder)
    assert sorted(one.key for one in sent) == sorted(keys)
    assert [one.id for one in sent] == list(range(1, 81))
    for writer in range(4):  # each writer's own order is kept
        own = [one.body for one in sent if f"//w{writer}." in one.body]
        assert own == [
            messages.encode_message(AddSeed(f"http://w{writer}.test/{n}"))
            for n in range(20)
        ]


def test_writers_wait_for_each_other(folder):
    send(folder, PauseCrawl())
    other = sqlite3.connect(folder.inbox, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send, folder, ResumeCrawl())
        with pytest.raises(TimeoutError):
            sending.result(timeout=0.3)
        other.execute("COMMIT")
        sending.result(timeout=9)
    other.close()
    assert len(all_sent(folder)) == 2


def test_what_is_no_crawl_takes_no_message(tmp_path):
    with pytest.raises(BadInput, match="holds no crawl"):
        send(CrawlFolder(tmp_path), PauseCrawl())
    assert not (tmp_path / "inbox.db").exists()


def test_a_damaged_inbox_says_so_and_can_be_looked_past(folder):
    folder.inbox.write_bytes(b"no database at all" * 100)
    with pytest.raises(BadInput, match=r"inbox\.db cannot take a message"):
        send(folder, PauseCrawl())
    assert all_sent(folder) == []
