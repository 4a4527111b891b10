"""Every page answers, its twin says the same, and crawled text stays text."""

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest

from opilio.serve.render import headline
from opilio.serve.views import CRAWL_VIEWS, LIBRARY_VIEWS
from opilio.serve.views.labels import effect_of
from opilio.store.label_check import CheckedLabel
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


@pytest.mark.parametrize("path", ["/nothing", "/crawls/nothing", "/static/nothing"])
def test_what_is_not_there_is_said_on_a_page(shared_server: Client, path: str):
    answer = shared_server.get(path)
    assert answer.status == 404
    assert "<h1>Not found</h1>" in answer.text
    assert "To the start" in answer.text


def test_lists_call_pages_by_their_titles_without_the_site():
    assert headline("Honey – Bees Online", "http://bees-online.test/a") == "Honey"
    assert headline("", "http://bees-online.test/a") == "http://bees-online.test/a"
    assert headline("Honey – Wax", "http://bees-online.test/a") == "Honey – Wax"


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


def test_a_folder_may_have_any_name(serve_folder, own_crawl: Path):
    name = "<img src=x onerror=alert(1)>\"' &#x2f;%2f?#"
    own_crawl.rename(own_crawl.with_name(name))
    client: Client = serve_folder(own_crawl.parent)
    assert [one["name"] for one in client.api("crawls")["crawls"]] == [name]
    for path in ("/", f"/crawls/{quote(name, safe='')}"):
        answer = client.get(path)
        assert answer.status == 200
        scripts = Scripts()
        scripts.feed(answer.text)
        assert scripts.found == []
        assert "<img src=x" not in answer.text


def test_a_comparison_is_shown_topic_by_topic(serve_folder, tmp_path: Path):
    (tmp_path / "lab").mkdir()
    shares = {"good": (0.9, 0.7, 0.8), "poor": (0.2, 0.75, 0.1)}
    lines = [
        {
            "web": "w",
            "topic": f"t{place}",
            "strategy": name,
            "judge": "opilio",
            "share_of_oracle": share,
            "aurc": share / 2,
        }
        for name, known in shares.items()
        for place, share in enumerate(known)
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "lab" / "runs.jsonl").write_text(f"{text}\nno json\n")
    client: Client = serve_folder(tmp_path)
    shown = client.api("lab")
    best, other = shown["standings"]
    assert (best["strategy"], best["wins"], best["runs"]) == ("good", None, 3)
    assert best["share_of_oracle"] == pytest.approx(0.8)
    assert 0.7 <= best["low"] < 0.8 < best["high"] <= 0.9
    assert (other["wins"], other["losses"]) == (1, 2)
    assert shown["topics"][1] == {"web": "w", "topic": "t1", "shares": [0.7, 0.75]}
    assert "better on 1, worse on 2" in client.get("/lab").text


def test_the_effect_of_labels_is_counted_on_those_held_out():
    held_out = [
        CheckedLabel(1, True, 0.4, 0.8, False, True),
        CheckedLabel(2, False, 0.2, 0.1, True, True),
    ]
    effect = effect_of(held_out, 8)
    assert (effect.labels, effect.learnt) == (2, 6)
    assert (effect.right_without, effect.right) == (1, 2)
    assert effect.error_without == pytest.approx(0.4)
    assert effect.error == pytest.approx(0.15)
    assert effect_of([], 3) is None


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
