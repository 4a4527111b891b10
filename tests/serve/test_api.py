"""The API: its description, messages to crawls, metrics, and nonsense of all kinds."""

import json
import re
from pathlib import Path

import hypothesis
import schemathesis
from schemathesis.checks import not_a_server_error

from opilio.serve.metrics import METRICS
from opilio.serve.openapi import openapi
from serve.client import Client

STARTING = "(start|resume|more|rejudge|decide)$"  # tried by other tests
DASHBOARD = Path(__file__).parents[2] / "docs/howto/grafana-dashboard.json"


def test_no_request_is_a_server_error(serve_folder, own_crawl: Path):
    client: Client = serve_folder(own_crawl.parent)
    token = {"Authorization": f"Bearer {client.keeper.token}"}
    schema = schemathesis.openapi.from_url(
        f"{client.origin}/api/v1/openapi.json", headers=token
    ).exclude(path_regex=STARTING)
    tried = set()

    def attempt(case: schemathesis.Case) -> None:
        if "crawl" in (case.path_parameters or {}) and len(repr(case.query)) % 5:
            case.path_parameters["crawl"] = "bees"
        response = case.call(headers=token, timeout=30)
        case.validate_response(response, checks=[not_a_server_error])
        tried.add(case.operation.label)

    for result in schema.get_all_operations():
        check = hypothesis.given(case=result.ok().as_strategy())(attempt)
        settings = hypothesis.settings(
            max_examples=12,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        settings(check)()
    assert len(tried) >= 12


def test_the_description_names_every_path(shared_server: Client):
    told = shared_server.api("openapi.json")
    assert told == json.loads(json.dumps(openapi()))
    for path in (
        "",
        "/search",
        "/page",
        "/topic",
        "/sites",
        "/map",
        "/labels",
        "/links",
    ):
        assert "get" in told["paths"]["/api/v1/crawls/{crawl}" + path]
    for path in ("/tell", "/more", "/resume", "/decide", "/rejudge"):
        assert "post" in told["paths"]["/api/v1/crawls/{crawl}" + path]
    text = json.dumps(told)
    for name in re.findall(r"#/components/schemas/(\w+)", text):
        assert name in told["components"]["schemas"], name


def test_a_message_waits_for_a_crawl_that_does_not_run(serve_folder, own_crawl: Path):
    client = serve_folder(own_crawl.parent)
    told = client.post("crawls/bees/tell", {"verb": "boost", "words": ["seed.test"]})
    assert told.json()["state"] == "waiting"
    wrong = client.post("crawls/bees/tell", {"verb": "seed", "words": ["nonsense"]})
    assert (wrong.status, "not a URL" in wrong.json()["error"]) == (400, True)
    for name in ("a%", "a^b", "xn--\u0080", "a:99999"):
        no_host = client.post("crawls/bees/tell", {"verb": "block", "words": [name]})
        assert (no_host.status, "not a host" in no_host.json()["error"]) == (400, True)
    for body in ({"verb": "explode"}, {"verb": "seed", "words": 3}, [], {"x": 1}):
        assert client.post("crawls/bees/tell", body).status == 422
    not_json = client.ask(
        "/api/v1/crawls/bees/tell",
        "POST",
        b"{",
        authorization=f"Bearer {client.keeper.token}",
    )
    assert not_json.status == 400


def test_metrics_have_bounded_labels(shared_server: Client):
    text = shared_server.get("/metrics").text
    names = set()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = re.fullmatch(r'(\w+)\{crawl="bees"(,state="\w+")?\} [\d.e+-]+', line)
        assert found, line
        names.add(found[1])
    assert names >= {"opilio_pages_total", "opilio_harvest_ratio"}
    assert "seed.test" not in text


def test_the_dashboard_asks_for_metrics_that_exist():
    board = json.loads(DASHBOARD.read_text())
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"opilio_\w+", target["expr"])
    }
    assert asked == set(METRICS)
