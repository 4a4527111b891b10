"""Every page answers, its twin says the same, and crawled text stays text."""

from html.parser import HTMLParser

import pytest

from opilio.serve.views import CRAWL_VIEWS, LIBRARY_VIEWS
from serve.client import Client
from serve.conftest import PAYLOADS

PATHS = [
    "/",
    "/crawls/bees",
    "/crawls/bees/search",
    "/crawls/bees/search?q=honey",
    "/crawls/bees/search?q=%3Cscript%3Ealert(1)%3C/script%3E+honey",
    "/crawls/bees/links",
    "/crawls/bees/links?state=kept",
    "/crawls/bees/links?state=unusable",
    "/crawls/bees/page?id=1",
    "/crawls/bees/page?id=3",
    "/crawls/bees/page?url=http://seed.test/ships",
]


class Scripts(HTMLParser):
    """Collects what could run: scripts, handlers, and addresses that are code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        for name, value in attrs:
            address = name in ("href", "src", "action")
            code = address and (value or "").strip().lower().startswith("javascript:")
            if name.startswith("on") or name in ("style", "srcdoc") or code:
                self.found.append(f"{tag} {name}={value}")
        source = dict(attrs).get("src", "")
        if tag in ("iframe", "object", "embed") or (
            tag == "script" and not source.startswith("/static/")
        ):
            self.found.append(tag)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_has_nothing_that_runs(shared_server: Client, path: str):
    answer = shared_server.get(path)
    assert answer.status == 200, answer.text
    scripts = Scripts()
    scripts.feed(answer.text)
    assert scripts.found == []
    assert answer.headers["content-type"].startswith("text/html")


def test_attacks_are_shown_as_text(shared_server: Client):
    pages = [f"/crawls/bees/links?state=kept&page={n}" for n in (1, 2, 3)]
    text = "".join(shared_server.get(path).text for path in pages)
    assert "&lt;script&gt;alert(1)" in text
    assert "{{ 7*7 }}" in text
    results = shared_server.api("crawls/bees/search?q=bee&page=1")
    titles = " ".join(hit["title"] for hit in results["hits"])
    assert any(payload[:8] in titles for payload in PAYLOADS)


def test_every_view_has_a_page_and_a_twin(shared_server: Client):
    for view in CRAWL_VIEWS:
        query = "?id=1" if view.name == "page" else ""
        path = f"crawls/bees/{view.path}".rstrip("/")
        page = shared_server.get(f"/{path}{query}")
        assert page.status == 200, (view.name, page.text)
        assert f'href="/api/v1/{path}{query}"' in page.text
        assert shared_server.api(path + query)
    for view in LIBRARY_VIEWS:
        if view.name == "preview":
            continue  # of a crawl that was started: test_starting.py
        assert shared_server.get(f"/{view.path}").status == 200
        assert shared_server.api(view.path or "crawls")


def test_the_overview_counts_what_the_crawl_did(shared_server: Client):
    figures = shared_server.api("crawls/bees")
    assert figures["kept"] >= 100
    assert figures["pages"] >= figures["kept"]
    assert figures["state"] == "stopped"
    assert figures["curve"]["pages"][-1] == figures["pages"]
    assert figures["curve"]["overall"][-1] == pytest.approx(
        figures["harvest_rate"], abs=1e-4
    )
    assert sum(one["links"] for one in figures["promises"]) == figures["waiting"]


def test_a_page_is_explained(shared_server: Client):
    hit = shared_server.api("crawls/bees/search?q=honey")["hits"][0]
    page = shared_server.api(f"crawls/bees/page?id={hit['id']}")
    assert page["url"] == hit["url"]
    assert page["blocks"]
    pieces = [p for b in page["blocks"] for line in b["paragraphs"] for p in line]
    assert any(piece["term"] for piece in pieces)
    assert page["verdict_parts"]
    assert page["path"][0]["url"] == "http://seed.test/"
    seed = shared_server.api("crawls/bees/page?url=http://seed.test/")
    assert len(seed["links"]) >= 100
    assert any(link["state"] == "kept" for link in seed["links"])


def test_facets_narrow_the_results(shared_server: Client):
    every = shared_server.api("crawls/bees/search?q=bee")
    assert {"site", "language", "type", "concept"} >= set(every["facets"])
    assert every["facets"]["site"][0]["value"] == "seed.test"
    none = shared_server.api("crawls/bees/search?q=bee&type=application/pdf")
    assert (none["total"], none["hits"]) == (0, [])
    concept = every["facets"]["concept"][-1]
    some = shared_server.api(f"crawls/bees/search?q=bee&concept={concept['value']}")
    assert some["total"] == concept["pages"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("crawls/none", 404),
        ("crawls/bees/search?page=0", 422),
        ("crawls/bees/search?q=x&page=x", 422),
        ("crawls/bees/search?nonsense=1", 422),
        ("crawls/bees/search?q=-", 400),
        ("crawls/bees/page?url=nonsense", 400),
        ("crawls/bees/page?id=99999999", 400),
        ("crawls/bees/links?state=nonsense", 422),
        ("nowhere", 404),
    ],
)
def test_a_wrong_request_is_told_so(shared_server: Client, path: str, status: int):
    answer = shared_server.get(f"/api/v1/{path}")
    assert answer.status == status
    assert answer.json()["error"]
