"""Only those who may use the server are let in: cases 56 to 60, 62 and 65 of the list
of attacks on dashboards."""

import http.client
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from crawling import opilio
from opilio.errors import BadInput
from opilio.serve.guard import LARGEST_BODY
from opilio.serve.library import Library
from opilio.serve.login import MOST_SESSIONS, Doorkeeper, read_token
from serve.client import Client

HTML = "text/html,application/xhtml+xml"


def test_a_login_link_works_once(serve_folder, bee_crawl: Path):
    client: Client = serve_folder(bee_crawl.parent)
    link = f"/login?code={client.keeper.link_code}"
    first = client.ask(link)
    assert (first.status, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    home = client.ask("/", cookie=cookie.partition(";")[0])
    assert (home.status, "Crawls" in home.text) == (200, True)
    again = client.ask(link)
    assert again.status == 403
    assert "set-cookie" not in again.headers


def test_nobody_is_let_in_without_a_login(shared_server: Client):
    for path in (
        "/",
        "/crawls/bees",
        "/metrics",
        "/api/v1/crawls",
        "/crawls/bees/tell",
    ):
        assert shared_server.ask(path).status == 401, path
        page = shared_server.ask(path, accept=HTML)
        assert (page.status, page.headers["location"]) == (303, "/login")
    wrong = shared_server.ask("/", authorization="Bearer wrong")
    assert wrong.status == 401
    assert shared_server.ask("/", cookie=f"opilio_{shared_server.port}=x").status == 401


@pytest.mark.parametrize("host", ["evil.test", "evil.test:80", "127.0.0.1", "", "a b"])
def test_another_host_name_is_refused(shared_server: Client, host: str):
    port = shared_server.port
    assert shared_server.get("/", host=host).status == 421
    assert shared_server.get("/", host=f"{host or 'x'}:{port + 1}").status == 421
    assert shared_server.get("/", host=f"localhost:{port}").status == 200
    assert shared_server.get("/", host="crawls.test").status == 200


def test_a_form_of_another_site_is_refused(shared_server: Client):
    cookie, token = shared_server.session()
    fields = {"verb": "pause", "form_token": token}

    def send(fields: dict, **headers) -> int:
        return shared_server.send_form(
            "/crawls/bees/tell", cookie, fields, **headers
        ).status

    assert send(fields) == 403  # no Origin
    assert send(fields, origin="http://evil.test") == 403
    assert send(fields, origin="null") == 403
    ours = {"origin": shared_server.origin}
    assert send(fields, **ours, sec_fetch_site="cross-site") == 403
    assert send({"verb": "pause"}, **ours) == 403  # without the token of our forms
    assert send({**fields, "form_token": "x"}, **ours) == 403
    assert shared_server.api("crawls/bees")["state"] == "stopped"


def test_nothing_changes_by_reading(shared_server: Client):
    for path in ("/crawls/bees/tell?verb=stop", "/api/v1/crawls/bees/resume"):
        assert shared_server.get(path).status == 405


def test_every_answer_forbids_scripts_of_others(shared_server: Client):
    for path in ("/login", "/", "/static/style.css", "/nowhere", "/api/v1/crawls"):
        headers = shared_server.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_a_large_body_is_refused(shared_server: Client):
    huge = b"x" * (LARGEST_BODY + 1)
    token = {"authorization": f"Bearer {shared_server.keeper.token}"}
    path = "/api/v1/crawls/bees/tell"
    assert shared_server.ask(path, "POST", huge, **token).status == 413


def test_a_large_body_of_unknown_length_is_refused(shared_server: Client):
    connection = http.client.HTTPConnection("127.0.0.1", shared_server.port, timeout=30)
    chunks = (b"x" * 2**16 for _ in range(40))
    token = {"authorization": f"Bearer {shared_server.keeper.token}"}
    path = "/api/v1/crawls/bees/tell"
    with suppress(OSError):  # it may be refused before all was sent
        connection.request("POST", path, chunks, token, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/settings.py",
        "/static//etc/passwd",
        "/static/%00style.css",
        "/lab/..%2f..%2fetc/recall.svg",
        "/lab/../recall.svg",
        "//evil.test/",
    ],
)
def test_no_path_leads_out_of_the_server(shared_server: Client, path: str):
    answer = shared_server.get(path)
    assert answer.status == 404
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize(
    "name",
    ["..", "%2e%2e", "..%2f..", "bees%00", "a" * 300, "CON", "%2fetc", "bees/.."],
)
def test_crawls_are_found_by_name_and_not_by_path(shared_server: Client, name: str):
    for place in (f"/crawls/{name}", f"/api/v1/crawls/{name}"):
        assert shared_server.get(place).status == 404


def test_a_link_out_of_the_folder_is_not_followed(bee_crawl: Path, tmp_path: Path):
    (tmp_path / "linked").symlink_to(bee_crawl)
    assert Library(tmp_path).crawls() == {}


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "-x", "x" * 51, "a\0", "a.b"])
def test_a_new_crawl_has_a_plain_name(tmp_path: Path, name: str):
    with pytest.raises(BadInput, match="name of a crawl"):
        Library(tmp_path).new_folder(name)


async def test_other_addresses_need_a_token(tmp_path: Path):
    ended = await opilio("serve", tmp_path, "--host", "0.0.0.0")
    assert ended.code == 2
    assert "--token-file" in ended.err


def test_the_token_file_is_for_its_owner_alone(tmp_path: Path):
    file = tmp_path / "token"
    token = read_token(file)
    assert len(token) >= 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_token(file) == token
    file.chmod(0o644)
    with pytest.raises(BadInput, match="chmod 600"):
        read_token(file)
    file.write_text("short")
    file.chmod(0o600)
    with pytest.raises(BadInput, match="16"):
        read_token(file)


def test_sessions_are_bounded():
    keeper = Doorkeeper("a token for the tests")
    first = keeper.enter(keeper.token)
    others = [keeper.enter(keeper.token) for _ in range(MOST_SESSIONS)]
    assert not keeper.form_token(first)
    assert all(map(keeper.form_token, others))
    keeper.leave(others[0])
    assert not keeper.form_token(others[0])
