"""Events are few and computed once, however many browsers watch; the figures follow a
crawl that runs, without holding it up."""

import http.client
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opilio.serve import figures, live
from opilio.serve.figures import FiguresKeeper
from opilio.serve.harvest_curve import HarvestCurve
from opilio.serve.login import Doorkeeper
from opilio.serve.plot import ticks
from opilio.store.folder import CrawlFolder
from serve.client import Client


def watch(client: Client) -> tuple[http.client.HTTPConnection, int]:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=20)
    token = {"authorization": f"Bearer {client.keeper.token}"}
    connection.request("GET", "/crawls/bees/events", headers=token)
    response = connection.getresponse()
    if response.status == 200:
        response.readline()
    return connection, response.status


def test_streams_are_bounded(serve_folder, own_crawl: Path):
    client = serve_folder(own_crawl.parent)
    opened = [watch(client) for _ in range(live.MOST_STREAMS + 10)]
    statuses = [status for _, status in opened]
    assert statuses.count(200) == live.MOST_STREAMS
    assert statuses.count(503) == 10
    assert client.get("/crawls/bees").status == 200  # others still get pages
    for connection, _ in opened:
        connection.close()


def test_a_stream_ends_when_the_folder_of_its_crawl_is_gone(
    serve_folder, own_crawl: Path
):
    client = serve_folder(own_crawl.parent)
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    token = {"authorization": f"Bearer {client.keeper.token}"}
    connection.request("GET", "/crawls/bees/events", headers=token)
    response = connection.getresponse()
    assert response.readline() == b"retry: 2000\n"
    own_crawl.rename(own_crawl.parent / "elsewhere")
    while response.readline():  # until the end
        pass
    connection.close()
    assert client.get("/crawls/bees/events").status == 404  # who asks again is told


def test_a_flood_of_streams_at_once_is_bounded(serve_folder, own_crawl: Path):
    client = serve_folder(own_crawl.parent)
    with ThreadPoolExecutor(100) as pool:
        opened = list(pool.map(lambda _: watch(client), range(100)))
    statuses = [status for _, status in opened]
    assert (statuses.count(200), statuses.count(503)) == (live.MOST_STREAMS, 60)
    for connection, _ in opened:
        connection.close()
    deadline = time.monotonic() + 10  # those that leave make room
    status = 503
    while status != 200:
        assert time.monotonic() < deadline
        connection, status = watch(client)
        connection.close()
        time.sleep(0.2)


def test_what_did_not_change_is_not_sent_again(shared_server: Client):
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.port, timeout=60)
    token = {"authorization": f"Bearer {shared_server.keeper.token}"}
    connection.request("GET", "/crawls/bees/events", headers=token)
    stream = connection.sock
    response = connection.getresponse()
    lines = [response.readline() for _ in range(3)]
    assert lines[2].startswith(b"data: {")
    stream.settimeout(3)
    try:
        response.readline()  # the empty line
        more = response.readline()
    except TimeoutError:
        more = b""
    assert more == b""
    connection.close()


def test_figures_follow_a_crawl_that_writes(own_crawl: Path, monkeypatch):
    monkeypatch.setattr(figures, "EVERY", 0.0)
    keeper = FiguresKeeper("bees", CrawlFolder(own_crawl))
    before = keeper.now()
    assert keeper.now() is before  # nothing has changed
    writer = sqlite3.connect(own_crawl / "crawl.db", isolation_level=None)
    writer.execute("PRAGMA busy_timeout = 0")  # a reader in the way would be an error
    writer.execute("BEGIN IMMEDIATE")
    during = keeper.now()  # it reads beside an open transaction
    writer.execute(
        "INSERT INTO page (id, number, fetched_at, status, bytes, relevant) "
        "SELECT max(id) + 1, max(number) + 1, 0, 200, 7, 1 FROM page"
    )
    writer.execute("COMMIT")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    after = keeper.now()
    assert during.pages == before.pages
    assert (after.pages, after.kept) == (before.pages + 1, before.kept + 1)
    assert after.version > before.version
    keeper.close()
    writer.close()


def test_links_are_not_counted_all_the_time(own_crawl: Path, monkeypatch):
    monkeypatch.setattr(figures, "EVERY", 0.0)
    scans = []

    def slow(db) -> figures.LinkCounts:
        scans.append(time.monotonic())
        time.sleep(0.5)  # so it may be repeated after 20 s
        return figures.LinkCounts(len(scans))

    monkeypatch.setattr(figures, "count_links", slow)
    keeper = FiguresKeeper("bees", CrawlFolder(own_crawl))
    writer = sqlite3.connect(own_crawl / "crawl.db", isolation_level=None)
    for _ in range(20):
        writer.execute("INSERT OR REPLACE INTO meta VALUES ('x', random())")
        assert keeper.now().waiting == 1
    assert len(scans) == 1
    monkeypatch.setattr(figures, "SCAN_SHARE", 0)
    assert keeper.now().waiting == 2
    keeper.close()
    writer.close()


def test_the_curve_has_the_rates_of_all_and_of_the_last_pages():
    curve = HarvestCurve()
    for n in range(1000):
        curve.add(n < 500, 10, float(n))
    points = curve.points()
    assert points.pages[0] == 1
    assert points.pages[-1] == 1000
    assert (points.overall[-1], points.recent[-1]) == (0.5, 0.0)
    for page, overall, recent in zip(
        points.pages, points.overall, points.recent, strict=True
    ):
        assert overall == round(min(page, 500) / page, 4)
        last = range(max(0, page - 100), page)
        assert recent == round(sum(n < 500 for n in last) / len(last), 4)
    assert (curve.rate(), curve.recent_rate(), curve.bytes) == (0.5, 0.0, 10_000)
    assert curve.speed(None) == 61 / 60
    assert HarvestCurve().points().pages == []


def test_ticks_are_round_numbers():
    assert [tick["text"] for tick in ticks(400)] == ["0", "100", "200", "300", "400"]
    assert [tick["text"] for tick in ticks(12_345)][:2] == ["0", "5,000"]
    assert ticks(1) == []


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN])
def test_ctrl_c_ends_the_server_quietly(own_crawl: Path, tmp_path: Path, before):
    """Also if SIGINT was ignored at its start, as it is in background jobs."""
    token = tmp_path / "token"
    command = [sys.executable, "-m", "opilio.cli", "serve", str(own_crawl.parent)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--token-file", str(token)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, before),
    )
    line = process.stdout.readline()
    port = int(line.partition("/login")[0].rpartition(":")[2])
    connection, status = watch(Client(port, Doorkeeper(token.read_text().strip())))
    assert status == 200
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "ERROR" not in said
    connection.close()
