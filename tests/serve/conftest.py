"""A crawl of a small hostile web, and a real server that shows it."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra `serve` is not installed")

import uvicorn

import opilio
from bee_web import BEES, SHIPS
from crawling import serving
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.serve.app import make_app
from opilio.serve.guard import host_names
from opilio.serve.library import Library
from opilio.serve.login import Doorkeeper
from serve.client import Client

SCRIPT = "<script>alert(1)</script>"
PAYLOADS = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "{{ 7*7 }}{% raw %}",
    "</title></template><script>alert(2)</script>",
    "javascript:alert(1)//",
    "\u202egnp.exe\u2066",
    "=HYPERLINK(1)",
    "<iframe srcdoc='<script>alert(3)</script>'></iframe>",
    "</script><!--<script>",
]


def hostile_web(count: int = 100) -> SmallWeb:
    """A homepage with links to pages whose titles, texts and addresses are attacks."""
    links, pages = {"/ships": "ships"}, {}
    for n in range(count):
        attack = PAYLOADS[n % len(PAYLOADS)]
        address = f"/{n}?q=%22%3E%3Cscript%3Ealert({n})%3C/script%3E"
        links[address] = escape(f"honey bee {attack} {n}")
        pages[f"http://seed.test{address}"] = page(
            escape(f"Bee {n} {attack}"),
            escape(f"{BEES} {attack} {f'number{n} ' * 60}"),
            {"/": "home"},
        )
    pages["http://seed.test/"] = page("Bees", BEES, links)
    pages["http://seed.test/ships"] = page("Ships", SHIPS)
    return SmallWeb(pages)


def escape(text: str) -> str:
    """A text as HTML writes it: the attack is what a reader sees."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


@pytest.fixture(scope="session")
def bee_crawl(tmp_path_factory) -> Path:
    """The folder of a finished crawl of the hostile web; nobody may change it."""
    folder = tmp_path_factory.mktemp("served") / "bees"
    topic = opilio.Topic(
        name=f"bees {SCRIPT}",
        keywords=["honey bee", "hive"],
        seeds=["http://seed.test/"],
    )
    with serving(hostile_web()) as server:
        opilio.Crawl(
            folder, topic, proxy=server.proxy_url, delay=0.0, min_free=0, max_pages=110
        ).run()
    return folder


@pytest.fixture
def own_crawl(bee_crawl: Path, tmp_path: Path) -> Path:
    """A copy of that crawl in a folder of its own, which a test may change."""
    shutil.copytree(bee_crawl, tmp_path / "crawls" / "bees")
    return tmp_path / "crawls" / "bees"


@pytest.fixture(scope="session")
def shared_server(bee_crawl: Path) -> Iterator[Client]:
    """A server of the crawl that nobody changes."""
    with Running(bee_crawl.parent) as client:
        yield client


@pytest.fixture
def serve_folder() -> Iterator[Callable[[Path], Client]]:
    """Serve a folder: `client = serve_folder(path)`."""
    opened = []

    def start(path: Path) -> Client:
        context = Running(path)
        opened.append(context)
        return context.__enter__()

    yield start
    for context in opened:
        context.__exit__(None, None, None)


class Running:
    """A server in a thread."""

    def __init__(self, folder: Path) -> None:
        self.keeper = Doorkeeper("a token for the tests")
        self.library = Library(folder)

    def __enter__(self) -> Client:
        config = uvicorn.Config(lambda: None, port=0, log_level="error")
        config.timeout_graceful_shutdown = 1
        socket = config.bind_socket()
        port = socket.getsockname()[1]
        names = host_names("127.0.0.1", port, ["crawls.test"])
        config.app = make_app(self.library, self.keeper, names, f"opilio_{port}")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([socket],))
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return Client(port, self.keeper)

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join()
