"""Crawls of small webs by the real command, for several tests."""

import asyncio
import json
import logging
import os
import re
import signal
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from opilio.crawl import CrawlLoop
from opilio.frontier.hosts import Host
from opilio.lab.synthetic.server import Server, Web, serve
from warm_commands import OPILIO as OPILIO
from warm_commands import WarmProcess, start_warm

Process = asyncio.subprocess.Process | WarmProcess

TOPIC = """
name = "bees"
keywords = ["bee", "honey", "hive"]
seeds = ["http://seed.test/"]
"""

SETTINGS = """
[politeness]
delay = 0.0
[store]
min_free = 0
commit_every = 0.05
"""


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict:
        return json.loads(self.out)


async def opilio(*arguments: object, env: dict[str, str] | None = None) -> Ended:
    """Run the command in a process of its own to its end."""
    return await end_of(await start_opilio(*arguments, env=env))


async def start_opilio(
    *arguments: object,
    stdout: int | None = asyncio.subprocess.PIPE,
    stderr: int | None = asyncio.subprocess.PIPE,
    env: dict[str, str] | None = None,
) -> Process:
    """Start the command, with our environment or another one."""
    return await start_warm(*arguments, stdout=stdout, stderr=stderr, env=env)


async def end_of(process: Process, seconds: float = 100) -> Ended:
    """How a command ends; one that does not, or whose test fails, is killed."""
    try:
        out, err = await asyncio.wait_for(process.communicate(), seconds)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ended(process.returncode or 0, (out or b"").decode(), (err or b"").decode())


async def interrupt(process: Process) -> None:
    """Press Ctrl-C; returns once it has arrived, so that the next is another one."""
    process.send_signal(signal.SIGINT)
    while awaits(process.pid, signal.SIGINT):
        await asyncio.sleep(0.01)


def awaits(pid: int, number: int) -> bool:
    """Has a process yet to take notice of a signal?"""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it is gone
        return False
    pending = re.findall(r"^S..Pnd:\t(\w+)$", status, re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in pending)


def with_strategy(folder: Path, code: str) -> dict[str, str]:
    """An environment with the class `Theirs` as a strategy `theirs` of someone else."""
    folder.mkdir()
    (folder / "theirs.py").write_text(code)
    info = folder / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\n")
    (info / "entry_points.txt").write_text(
        "[opilio.strategies]\ntheirs = theirs:Theirs\n"
    )
    others = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{others}"}


@dataclass
class Crawled:
    """A folder with a topic, and the crawl that comes of it."""

    home: Path
    server: Server | None = None
    topic_text: str = TOPIC
    settings_text: str = SETTINGS
    folder: Path = field(init=False)
    stop_server: Callable[[], Awaitable[None]] = field(init=False)

    def __post_init__(self) -> None:
        self.folder = self.home / "crawl"
        self.topic = self.home / "topic.toml"
        self.settings = self.home / "settings.toml"
        self.topic.write_text(self.topic_text)
        self.settings.write_text(self.settings_text)

    def command(self, *options: object) -> list[object]:
        proxy = ("--proxy", self.server.proxy_url) if self.server else ()
        new = () if self.folder.exists() else ("--settings", self.settings)
        return ["crawl", self.topic, "-o", self.folder, "-q", *proxy, *new, *options]

    async def start(self, *options: object) -> Process:
        nothing = asyncio.subprocess.DEVNULL
        return await start_opilio(
            *self.command(*options), stdout=nothing, stderr=nothing
        )

    async def crawl(self, *options: object) -> Ended:
        return await opilio(*self.command(*options))

    def rows(self, query: str) -> list[tuple]:
        with (
            closing(
                sqlite3.connect(f"file:{self.folder}/crawl.db?mode=ro", uri=True)
            ) as db,
            db,
        ):
            return db.execute(query).fetchall()

    async def until_committed(self, pages: int) -> None:
        """Wait until a crawl that runs has committed so many pages."""
        while True:
            with suppress(sqlite3.OperationalError):  # it has only just begun
                if self.rows("SELECT count(*) FROM page")[0][0] >= pages:
                    return
            await asyncio.sleep(0.02)

    def states(self) -> dict[str, tuple[str, str | None]]:
        """URL -> state and reason."""
        return {
            url: (state, reason)
            for url, state, reason in self.rows("SELECT url, state, reason FROM link")
        }


@contextmanager
def serving(web: Web) -> Iterator[Server]:
    """Serve a web from a thread, so that the test may block."""
    loop, ready, ended = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    servers: list[Server] = []

    async def run() -> None:
        async with serve(web) as server:
            servers.append(server)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    ready.wait()
    try:
        yield servers[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


@contextmanager
def listening() -> Iterator[list[str]]:
    """The messages that Opilio logs while the block lasts."""
    messages: list[str] = []
    handler, logger = logging.Handler(), logging.getLogger("opilio")
    handler.emit = lambda record: messages.append(record.getMessage())
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def note_visits(crawl: CrawlLoop, began: dict[str, float]) -> None:
    """Note when the last visit of each host began, by the crawl's own clock."""
    turns = crawl.frontier._agenda.turns
    use = turns.use

    def note(host: Host, now: float) -> None:
        began[host.name] = now
        use(host, now)

    turns.use = note
