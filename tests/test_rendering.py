"""Pages that scripts build are rendered by a real browser, which cannot get out."""

import json
import os
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from fastwarc.warc import ArchiveIterator
from typer.testing import CliRunner

import opilio
from crawling import serving
from opilio.cli import app
from opilio.errors import BadInput
from opilio.fetch.browser import browser
from opilio.fetch.browser.browser import PendingRequests
from opilio.fetch.browser.chromium import NO_NETWORK, find_chromium, require_playwright
from opilio.lab.synthetic.scripted import ScriptedSite
from opilio.lab.synthetic.server import Server
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import PLAIN, SyntheticAnswer


def no_browser() -> str:
    """Why there is none."""
    try:
        require_playwright()
        find_chromium("")
    except BadInput as error:
        return str(error)
    return ""


playwright = pytest.importorskip("playwright.async_api")
BrowserContext, Route = playwright.BrowserContext, playwright.Route
pytestmark = pytest.mark.skipif(bool(no_browser()), reason=no_browser() or "-")

TOPIC = opilio.Topic(
    name="bees", keywords=["honey bee", "hive"], seeds=["http://scripted.test/"]
)


def crawl_of(server: Server, folder: Path, **given: object) -> opilio.Crawl:
    quick = {"delay": 0.0, "ip_delay": 0.0, "commit_every": 0.02, "min_free": 0}
    asked = quick | {"proxy": server.proxy_url, "judge": "cosine"} | given
    return opilio.Crawl(folder, TOPIC, **asked)  # type: ignore[arg-type]


def built(crawl: opilio.Crawl) -> set[str]:
    """The pages that scripts build and that were kept."""
    return {p.url for p in crawl.pages(relevant=True) if "/bees/" in p.url}


def asked(server: Server) -> Counter[str]:
    """The folders of what the server was asked for."""
    return Counter(request.url.split("/")[3] for request in server.requests)


def learnt(folder: Path) -> dict:
    """What rendering has learnt."""
    with closing(sqlite3.connect(folder / "crawl.db")) as db:
        rows = db.execute("SELECT state FROM learnt WHERE name = 'rendering'")
        return msgspec.msgpack.decode(rows.fetchone()[0])


@pytest.fixture(scope="module")
def automatic(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[opilio.Crawl, Server]]:
    """A site of eight built pages and twelve short ones, crawled with `auto`."""
    with serving(ScriptedSite(8, notes=12)) as server:
        folder = tmp_path_factory.mktemp("rendering") / "crawl"
        crawl = crawl_of(server, folder, render="auto")
        crawl.run()
        yield crawl, server


def test_auto_finds_all_pages_that_scripts_build(
    automatic: tuple[opilio.Crawl, Server],
) -> None:
    crawl, server = automatic
    assert len(built(crawl)) == 8
    [page] = [p for p in crawl.pages() if p.url.endswith("/bees/5")]
    assert page.title == "Hive 5" and "The honey bee of hive 5 makes" in page.text
    assert page.markdown.startswith("# Hive 5")
    assert asked(server)["app.js"] == 1  # pages share their scripts
    assert asked(server)["api"] == 8


def test_auto_learns_where_rendering_changes_nothing(
    automatic: tuple[opilio.Crawl, Server],
) -> None:
    found = learnt(automatic[0].path)
    assert found["changed"] == 8 and 8 < found["rendered"] <= 12


def test_the_archive_has_both_versions_and_the_scripts(
    automatic: tuple[opilio.Crawl, Server],
) -> None:
    [file] = (automatic[0].path / "warc").glob("*.warc.gz")
    kinds: dict[str, dict[str, str]] = {}
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream):
            url = record.headers.get("WARC-Target-URI") or ""
            kind = record.headers["WARC-Type"]
            kinds.setdefault(url, {})[kind] = record.headers["Content-Type"]
            if kind == "conversion":
                assert b"makes honey and wax" in record.reader.read()
                assert record.headers["WARC-Refers-To"]
    both = {"request", "response", "metadata", "conversion"}
    assert set(kinds["http://scripted.test/bees/5"]) == both
    assert kinds["http://scripted.test/bees/5"]["conversion"].startswith("text/html")
    assert set(kinds["http://scripted.test/notes/5"]) == both - {"conversion"}
    assert "response" in kinds["http://scripted.test/app.js"]
    assert "response" in kinds["http://scripted.test/api/5.json"]


def test_rendered_pages_are_searched_exported_and_judged_again(
    automatic: tuple[opilio.Crawl, Server], tmp_path: Path
) -> None:
    crawl, _ = automatic
    assert crawl.search("page7").hits[0].title == "Hive 7"
    crawl.export(tmp_path / "pages.jsonl")
    lines = (tmp_path / "pages.jsonl").read_text().splitlines()
    rows = {row["url"]: row for row in map(json.loads, lines)}
    assert rows["http://scripted.test/bees/3"]["text"].startswith("Hive 3\n")
    assert crawl.explain("http://scripted.test/bees/8").link["state"] == "kept"
    crawl.rejudge(judge="opilio")
    assert len(built(crawl)) == 8
    crawl.export(tmp_path / "pages.warc.gz")
    again = opilio.Crawl(
        tmp_path / "again", TOPIC, judge="cosine", replay=[tmp_path / "pages.warc.gz"]
    )
    again.run()
    assert len(built(again)) == 8


def test_status_and_explain_tell_what_was_rendered(
    automatic: tuple[opilio.Crawl, Server],
) -> None:
    folder = automatic[0].path
    figures = automatic[0].status().rendered
    assert figures and figures.changed == 8 and not figures.failed
    told = f"Rendered in a browser: {figures.rendered} pages, 8 changed by it"
    assert told in CliRunner().invoke(app, ["status", str(folder)]).output
    for path, is_built in (("bees/5", True), ("notes/5", False)):
        url = f"http://scripted.test/{path}"
        told = CliRunner().invoke(app, ["explain", str(folder), url]).output
        assert ("rendered     in a browser" in told) == is_built


def test_never_finds_nothing_and_always_renders_all(tmp_path: Path) -> None:
    with serving(ScriptedSite(4, notes=3)) as server:
        crawl = crawl_of(server, tmp_path / "never")
        crawl.run()
        assert not any(
            "hive" in page.text for page in crawl.pages() if "/bees/" in page.url
        )
        assert asked(server)["api"] == asked(server)["app.js"] == 0
        crawl = crawl_of(server, tmp_path / "always", render="always")
        crawl.run()
        assert len(built(crawl)) == 4
        assert learnt(tmp_path / "always")["rendered"] == 8


class Elsewhere(ScriptedSite):
    """A site whose scripts are on other hosts; one of them forbids that."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages, more='<script src="http://closed.test/x.js"></script>')
        self.shell = self.shell.replace("/app.js", "http://cdn.test/app.js", 1)

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if url == "http://closed.test/robots.txt":
            rules = b"User-agent: *\nDisallow: /\n"
            return SyntheticAnswer(200, (PLAIN,), rules)
        return super().respond(url, attempt)


def test_scripts_on_other_hosts_are_fetched_by_their_rules(tmp_path: Path) -> None:
    with serving(Elsewhere(2)) as server:
        crawl = crawl_of(server, tmp_path / "crawl", render="auto", delay=0.2)
        crawl.run()
        assert len(built(crawl)) == 2
        there = [r for r in server.requests if r.host != "scripted.test"]
    assert [request.url for request in there if request.host == "cdn.test"] == [
        "http://cdn.test/robots.txt",
        "http://cdn.test/app.js",
    ]
    first, second = (request.at for request in there if request.host == "cdn.test")
    assert second - first > 0.18
    closed = [request.url for request in there if request.host == "closed.test"]
    assert closed == ["http://closed.test/robots.txt"]


class Listener:
    """Sockets on loopback that note whoever contacts them."""

    def __init__(self) -> None:
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.contacts: list[str] = []
        for sock, listen in ((self.tcp, self.accept), (self.udp, self.receive)):
            sock.settimeout(0.1)
            threading.Thread(target=self.watch, args=(listen,), daemon=True).start()

    def watch(self, listen) -> None:
        while True:
            try:
                self.contacts.append(listen())
            except TimeoutError:
                continue
            except OSError:
                return

    def accept(self) -> str:
        connection, _ = self.tcp.accept()
        connection.close()
        return "TCP"

    def receive(self) -> str:
        return f"UDP {self.udp.recv(100)!r}"

    def close(self) -> None:
        self.tcp.close()
        self.udp.close()


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()
    try:
        yield listener
    finally:
        listener.close()


ESCAPES = """
<link rel="dns-prefetch" href="http://127.0.0.1:TCP/"><link rel="preconnect"
href="http://127.0.0.1:TCP/"><link rel="prefetch" href="http://127.0.0.1:TCP/p">
<script type="speculationrules">
{"prerender": [{"source": "list", "urls": ["http://127.0.0.1:TCP/s"]}]}</script>
<img src="http://127.0.0.1:TCP/i"><iframe src="http://127.0.0.1:TCP/f"></iframe>
<video src="http://127.0.0.1:TCP/v" autoplay></video>
<script>
const tries = [];
const attempt = (name, run) => { try { run(); } catch (e) { tries.push(name); } };
const at = "http://127.0.0.1:TCP/";
attempt("metadata", () => fetch("http://169.254.169.254/latest/meta-data/"));
attempt("xhr", () => { const x = new XMLHttpRequest(); x.open("GET", at); x.send(); });
attempt("post", () => fetch(at, {method: "POST", body: "x", mode: "no-cors"}));
attempt("keepalive", () => fetch(at, {keepalive: true, mode: "no-cors"}));
attempt("socket", () => new WebSocket("ws://127.0.0.1:TCP/"));
attempt("events", () => new EventSource(at));
attempt("transport", () => new WebTransport("https://127.0.0.1:UDP/"));
attempt("worker", () => new Worker(URL.createObjectURL(new Blob(
    ["fetch('" + at + "w');new WebSocket('ws://127.0.0.1:TCP/')"]))));
attempt("beacon", () => navigator.sendBeacon(at, "x"));
attempt("window", () => window.open(at));
attempt("service", () => navigator.serviceWorker.register("/app.js"));
attempt("import", () => import(at + "m.js"));
attempt("stun", () => {
    const peer = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:UDP"}]});
    peer.createDataChannel("x");
    peer.createOffer().then(offer => peer.setLocalDescription(offer));
});
attempt("frame", () => {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const peer = new frame.contentWindow.RTCPeerConnection(
        {iceServers: [{urls: "stun:127.0.0.1:UDP"}]});
    peer.createDataChannel("x");
    peer.createOffer().then(offer => peer.setLocalDescription(offer));
    new frame.contentWindow.WebSocket("ws://127.0.0.1:TCP/");
});
attempt("download", () => {
    const link = document.createElement("a");
    link.href = at + "d"; link.download = "d"; link.ping = at; link.click();
});
fetch("/private/data.json").catch(() => {});
alert("stop"); print();
const form = document.createElement("form");
form.method = "POST"; form.action = at; document.body.append(form); form.submit();
setTimeout(() => { location.href = at + "go"; }, 20);
</script>
"""


def test_nothing_that_a_page_tries_gets_out(tmp_path: Path) -> None:
    with listening() as listener:
        tcp, udp = (str(sock.getsockname()[1]) for sock in (listener.tcp, listener.udp))
        more = ESCAPES.replace("TCP", tcp).replace("UDP", udp)
        with serving(ScriptedSite(2, more=more)) as server:
            crawl = crawl_of(server, tmp_path / "crawl", render="auto")
            crawl.run()
            time.sleep(0.3)
            # Nothing reached the listeners, nor the proxy, but what the site may have.
            assert listener.contacts == []
            assert {request.host for request in server.requests} == {"scripted.test"}
            assert asked(server)["private"] == 0  # robots.txt
            assert asked(server)["api"] == len(built(crawl)) == 2


@pytest.mark.parametrize("flags", [NO_NETWORK, ()])
def test_the_browser_has_no_network_even_without_interception(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the flags the same page does get out."""

    async def let_go(self: PendingRequests, route: Route) -> None:
        if self.is_served:
            await route.continue_()
        else:
            await intercept(self, route)

    async def nothing(*_: object) -> None: ...

    intercept = PendingRequests.answer
    monkeypatch.setattr(PendingRequests, "answer", let_go)
    monkeypatch.setattr(BrowserContext, "route_web_socket", nothing)
    monkeypatch.setattr(browser, "NO_NETWORK", flags)
    monkeypatch.setattr(browser, "NO_SOCKETS", "")
    with listening() as listener:
        tcp, udp = (str(sock.getsockname()[1]) for sock in (listener.tcp, listener.udp))
        more = ESCAPES.replace("TCP", tcp).replace("UDP", udp)
        with serving(ScriptedSite(1, more=more)) as server:
            crawl = crawl_of(server, tmp_path, render="auto", render_timeout=3.0)
            crawl.run()
            time.sleep(0.3)
        assert bool(listener.contacts) == (not flags)


def test_a_listener_notices_a_contact() -> None:
    with listening() as listener:
        socket.create_connection(listener.tcp.getsockname()).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", listener.udp.getsockname())
        time.sleep(0.3)
        assert sorted(listener.contacts) == ["TCP", "UDP b'x'"]


class Troubled(ScriptedSite):
    """A site on which some pages never end, take all memory, or kill the browser."""

    bad: ClassVar = {
        "/bees/2": "while (true) {}",
        "/bees/3": "const all = []; while (true) all.push(new Array(1e6).fill('x'));",
    }

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        answer = super().respond(url, attempt)
        if script := self.bad.get(url.removeprefix(self.origin)):
            body = self.shell.replace("</body>", f"<script>{script}</script></body>")
            return msgspec.structs.replace(answer, body=body.encode())
        return answer


def test_pages_that_hang_or_fill_the_memory_cost_one_page_each(tmp_path: Path) -> None:
    with serving(Troubled(7)) as server:
        crawl = crawl_of(server, tmp_path / "crawl", render="auto", render_timeout=4.0)
        crawl.run()
        assert asked(server)["bees"] >= 4
    # Pages 5 to 7 are behind page 2, which gave nothing.
    assert {url.rpartition("/")[2] for url in built(crawl)} == {"1", "4"}


def descendants(pid: int) -> Iterator[int]:
    """The processes that a process has started, and those that these have."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, path.read_text().split()):
            yield child
            yield from descendants(child)


def kill_browser(until: float, seen: list[bytes]) -> None:
    """Kill the browser that this process has started, as soon as there is one, and tell
    its environment."""
    while time.monotonic() < until:
        with suppress(OSError):  # a process may end while it is looked at
            for pid in descendants(os.getpid()):
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                if b"--remote-debugging-pipe" in command and b"--type=" not in command:
                    seen.append(Path(f"/proc/{pid}/environ").read_bytes())
                    os.kill(pid, signal.SIGKILL)
                    return
        time.sleep(0.05)
    raise RuntimeError("there was no browser")


def test_a_browser_that_is_killed_is_replaced_and_knows_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hush")
    seen: list[bytes] = []
    with serving(ScriptedSite(4)) as server:
        killer = threading.Timer(0, kill_browser, [time.monotonic() + 30, seen])
        killer.start()
        crawl = crawl_of(server, tmp_path / "crawl", render="auto")
        crawl.run()
        killer.join()
        assert len(built(crawl)) == 4
    [environment] = seen
    assert b"LANG=C.UTF-8" in environment and b"hush" not in environment


SHADOW = """<bee-text></bee-text><script>
customElements.define("bee-text", class extends HTMLElement {
    constructor() {
        super();
        const words = "The honey bee lives in the hive in the shade. ".repeat(20);
        this.attachShadow({mode: "open"}).innerHTML = `<p>${words}</p>`;
    }
});
</script>"""
LEAVES = "<p>Wait</p><script>location.replace('/shadow')</script>"


def test_shadow_roots_are_read_and_redirects_by_script_followed(tmp_path: Path) -> None:
    links = {"/leaves": "honey bee hive"}
    web = SmallWeb(
        {
            "http://scripted.test/": page("Bees", "A honey bee, a hive. ", links),
            "http://scripted.test/leaves": LEAVES,
            "http://scripted.test/shadow": SHADOW,
        }
    )
    with serving(web) as server:
        crawl = crawl_of(server, tmp_path / "crawl", render="auto")
        crawl.run()
    left = crawl.explain("http://scripted.test/leaves").link
    assert (left["state"], left["reason"]) == ("copy", "redirect")
    [shadow] = [p for p in crawl.pages() if p.url.endswith("/shadow")]
    assert shadow.relevant and shadow.text.count("lives in the hive") == 20


def test_delays_hold_for_what_pages_request(tmp_path: Path) -> None:
    with serving(ScriptedSite(2)) as server:
        crawl = crawl_of(server, tmp_path / "crawl", render="auto", delay=0.3)
        crawl.run()
        times = [request.at for request in server.requests]
        assert len(built(crawl)) == 2 and asked(server)["api"] == 2
        assert all(b - a > 0.28 for a, b in pairwise(times))


def test_without_a_browser_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = opilio.Topic(name="bees", keywords=["bee"], seeds=["http://127.0.0.1/"])
    crawl = opilio.Crawl(
        tmp_path / "crawl", topic, render="auto", executable="/no/chromium"
    )
    with pytest.raises(
        opilio.BadInput, match=r"/no/chromium is not a program; install"
    ):
        crawl.run()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(opilio.BadInput, match=r"pip install 'opilio\[browser\]'"):
        require_playwright()
