"""A site about bees whose pages change, its crawl grown older, and `opilio evolve`."""

import sqlite3
from contextlib import closing

from warcio.archiveiterator import ArchiveIterator

from crawling import Crawled, opilio
from opilio.lab.synthetic.small import page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

BEES = "The bee makes honey in the hive. "
DAY = 86_400


def tagged(title: str, text: str, links: dict[str, str] | None = None, tag: str = ""):
    """A page with an ETag; none: no validators at all."""
    headers = (HTML, ("etag", f'"{tag}"')) if tag else (HTML,)
    return SyntheticAnswer(200, headers, page(title, text, links).encode())


def hive(**more) -> dict:
    """A site about bees, whose pages are all linked from its homepage."""
    pages = {
        "/": tagged(
            "Bees",
            BEES * 20 + "home " * 9,
            {"/a": "bee a", "/b": "honey b", "/c": "hive c"},
            "home-1",
        ),
        "/a": tagged("Honey", BEES * 20 + "alpha " * 9, {"/": "home"}, "a-1"),
        "/b": tagged("Wax", BEES * 20 + "beta " * 9, {"/": "home"}, "b-1"),
        "/c": tagged("Hive", BEES * 20 + "gamma " * 9, {"/": "home"}),
    } | more
    return {f"http://seed.test{path}": answer for path, answer in pages.items()}


def age(life: Crawled, days: float) -> None:
    """Let everything have been seen so many days earlier."""
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        seconds = days * DAY
        db.execute("UPDATE page SET fetched_at = fetched_at - ?", (seconds,))
        db.execute(
            "UPDATE version SET fetched_at = fetched_at - :s, "
            "seen_at = seen_at - :s, tried_at = tried_at - :s",
            {"s": seconds},
        )
    db.close()


async def evolve(life: Crawled, *options: object) -> dict[str, dict]:
    """Run the real command; answers what each phase came to, by name."""
    proxy = ("--proxy", life.server.proxy_url) if life.server else ()
    ended = await opilio("evolve", life.folder, "--json", *proxy, *options)
    assert ended.code == 0, ended.err
    return {phase["name"]: phase for phase in ended.json()["phases"]}


def records(life: Crawled, kind: str) -> list:
    found = []
    for path in sorted((life.folder / "warc").iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.content_stream().read()
                if record.rec_type == kind:
                    found.append(record.rec_headers)
    return found
