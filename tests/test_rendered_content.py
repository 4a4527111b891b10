"""What is read of pages that scripts build: late texts, frames, posted questions."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

import opilio
from crawling import serving
from opilio.lab.synthetic.scripted import ScriptedSite
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import PLAIN, SyntheticAnswer
from test_rendering import TOPIC, built, crawl_of, no_browser

pytest.importorskip("playwright.async_api")
pytestmark = pytest.mark.skipif(bool(no_browser()), reason=no_browser() or "-")

WORDS = "The honey bee lives in the hive, in the hive. " * 20
PUT = f'document.body.append("{WORDS}")'
BUILT = {
    "after a second": f"<script>setTimeout(() => {{ {PUT} }}, 1000)</script>",
    "after several timers": f"""<script>
        let left = 6;
        const go = () => --left ? setTimeout(go, 300) : {PUT};
        setTimeout(go, 300);
    </script>""",
    "when it is seen": f"""<div style="height: 2000px"></div><p id=end></p><script>
        new IntersectionObserver(seen => {{ if (seen[0].isIntersecting) {PUT} }})
            .observe(document.getElementById("end"));
    </script>""",
    "by a script that a script adds": """<script>
        const more = document.createElement("script");
        more.src = "/more.js";
        setTimeout(() => document.head.append(more), 500);
    </script>""",
    "in a frame": '<script>1</script><iframe src="/frame"></iframe>',
    "in a frame that a script adds": """<script>
        const frame = document.createElement("iframe");
        frame.src = "/frame";
        document.body.append(frame);
    </script>""",
    "in a frame without an address": f"""<script>
        const frame = document.createElement("iframe");
        document.body.append(frame);
        frame.contentDocument.body.append("{WORDS}");
    </script>""",
}
MORE = SyntheticAnswer(200, (("content-type", "text/javascript"),), PUT.encode())


def test_text_is_found_however_it_is_built(tmp_path: Path) -> None:
    origin = "http://scripted.test"
    addresses = {way: f"{origin}/page{n}" for n, way in enumerate(BUILT)}
    links = dict.fromkeys(addresses.values(), "honey bee hive")
    web = SmallWeb(
        {f"{origin}/": page("Bees", "A honey bee, a hive. ", links)}
        | {
            url: f"<title>{way}</title><body>{way}{BUILT[way]}</body>"
            for way, url in addresses.items()
        }
        | {f"{origin}/more.js": MORE, f"{origin}/frame": f"<p>{WORDS}</p>"}
    )
    with serving(web) as server:
        folder = tmp_path / "crawl"
        crawl = crawl_of(server, folder, render="auto", near_copies=False)
        crawl.run()
    counts = {page.url: page.text.count("lives in the hive") for page in crawl.pages()}
    assert {way: counts[url] for way, url in addresses.items()} == dict.fromkeys(
        BUILT, 20
    )


class Failing(ScriptedSite):
    """A site on which the data of one page cannot be had."""

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        if url.endswith("/api/2.json"):
            return SyntheticAnswer(404, (PLAIN,), b"no")
        return super().respond(url, attempt)


def test_a_page_without_data_does_not_make_copies_of_the_others(
    tmp_path: Path,
) -> None:
    """All pages have the same body before scripts run."""
    with serving(Failing(16)) as server:
        crawl = crawl_of(server, tmp_path / "crawl", render="auto")
        crawl.run()
    # Pages 5 to 7 and those behind them are linked from page 2 alone.
    behind = {2, 5, 6, 7, 14, 15, 16}
    numbers = {int(url.rpartition("/")[2]) for url in built(crawl)}
    assert numbers == set(range(1, 17)) - behind


ASK = """<p>Loading</p><script>
const ask = (url, kind, body) => fetch(url, {
    method: "POST", headers: {"content-type": kind}, body: body
}).then(answer => answer.json()).then(got => document.body.append(got.text))
.catch(() => {});
ask("/graphql", "application/json", '{"query": "{bees}"}');
ask("http://api.scripted.test/graphql", "application/json", '{"query": "{hives}"}');
ask("http://other.test/graphql", "application/json", "{}");
ask("/form", "application/x-www-form-urlencoded", "a=1");
ask("/large", "application/json", '"' + "x".repeat(70000) + '"');
</script>"""


class Asked(BaseHTTPRequestHandler):
    """Answers questions that are posted."""

    protocol_version = "HTTP/1.1"
    posted: list[tuple[str, str, bytes]]

    def do_GET(self) -> None:
        pages = {
            "http://scripted.test/": page("Bees", "A honey bee. ", {"/ask": "hive"}),
            "http://scripted.test/ask": ASK,
        }
        body = pages.get(self.path)
        self.answer(200 if body else 404, "text/html", (body or "").encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        kind = self.headers["content-type"]
        assert self.headers["cookie"] is None
        self.posted.append((self.path, kind, body))
        self.answer(200, "application/json", json.dumps({"text": WORDS}).encode())

    def answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("set-cookie", "a=b")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def asked() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """A proxy that takes questions, and what it was asked."""
    posted: list[tuple[str, str, bytes]] = []
    handler = type("Handler", (Asked,), {"posted": posted})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", posted
        finally:
            server.shutdown()
            thread.join()


def crawl_by(proxy: str, folder: Path) -> opilio.Crawl:
    """A crawl of the site that is asked questions."""
    crawl = opilio.Crawl(
        folder,
        TOPIC,
        judge="cosine",
        proxy=proxy,
        render="auto",
        delay=0.0,
        ip_delay=0.0,
        min_free=0,
    )
    crawl.run()
    return crawl


def test_questions_in_json_are_posted_to_the_site_alone(tmp_path: Path) -> None:
    with asked() as (proxy, posted):
        crawl = crawl_by(proxy, tmp_path / "crawl")
    kind = "application/json"
    assert sorted(posted) == [
        ("http://api.scripted.test/graphql", kind, b'{"query": "{hives}"}'),
        ("http://scripted.test/graphql", kind, b'{"query": "{bees}"}'),
    ]
    [one] = [one for one in crawl.pages() if one.url.endswith("/ask")]
    assert one.text.count("lives in the hive") == 40


def test_what_was_posted_is_archived_and_is_no_page(tmp_path: Path) -> None:
    with asked() as (proxy, _):
        crawl_by(proxy, tmp_path / "crawl")
    [file] = (tmp_path / "crawl" / "warc").glob("*.warc.gz")
    with file.open("rb") as stream:
        records = ArchiveIterator(
            stream, record_types=WarcRecordType.request, parse_http=False
        )
        requests = [record.reader.read() for record in records]
    [ask] = [one for one in requests if one.endswith(b'{"query": "{bees}"}')]
    assert ask.startswith(b"POST /graphql HTTP/1.1\r\n")
    again = opilio.Crawl(
        tmp_path / "again",
        opilio.Topic(
            name="bees",
            keywords=["honey bee", "hive"],
            seeds=["http://scripted.test/graphql", "http://scripted.test/ask"],
        ),
        judge="cosine",
        replay=[file],
    )
    again.run()
    with closing(sqlite3.connect(tmp_path / "again" / "crawl.db")) as db:
        rows = dict(db.execute("SELECT url, state FROM link"))
    assert rows["http://scripted.test/ask"] == "kept"
    assert rows["http://scripted.test/graphql"] == "unusable"
