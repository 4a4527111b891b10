"""Where Egress does not go: private addresses, odd ports, other schemes."""

from __future__ import annotations

import socket

import pytest

from fetch.hostile_server import PAGE, Connection, answer, saying, serve
from fetch.local_egress import Names, opened
from opilio.errors import BadInput, Transient, Unusable
from opilio.fetch.egress import Egress
from opilio.settings import FetchSettings


async def refused(egress: Egress, url: str) -> str:
    """The reason why a URL is not even asked for."""
    with pytest.raises(Unusable) as caught:
        await egress.get(url)
    assert not caught.value.contacted
    return caught.value.reason


LOOPBACK_NAMES = """
    127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1 127.9.9.9 [::ffff:127.0.0.1]
    [::ffff:7f00:1] localhost
"""


@pytest.mark.parametrize("host", LOOPBACK_NAMES.split())
async def test_by_default_loopback_is_refused_however_it_is_written(host: str) -> None:
    async with serve(saying(answer()), host="0.0.0.0") as server:
        egress = Egress(FetchSettings())
        assert await refused(egress, server.url(host=host)) == "blocked_address"
        await egress.close()
    assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://10.0.0.1:8080/",
        "https://192.168.0.1/",
    ],
)
async def test_by_default_private_networks_are_refused(url: str) -> None:
    egress = Egress(FetchSettings())
    assert await refused(egress, url) == "blocked_address"
    await egress.close()


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:127.0.0.1"], ["127.1"]],
)
async def test_one_private_address_of_a_name_is_enough(addresses: list[str]) -> None:
    async with serve(saying(answer())) as server:
        names = Names({"rebind.test": addresses})
        async with opened(names, allow_networks=()) as egress:
            url = server.url(host="rebind.test")
            assert await refused(egress, url) == "blocked_address"
    assert server.connections == 0


async def test_a_name_that_moves_to_a_private_address_is_refused_from_then_on() -> None:
    async with serve(saying(answer(), keep=True)) as server:
        answers = [["127.0.0.1"], ["127.0.0.2"]]
        names = Names(lambda host: answers.pop(0))
        async with opened(names, allow_networks=["127.0.0.1/32"]) as egress:
            url = server.url(host="rebind.test")
            assert (await egress.get(url)).ip == "127.0.0.1"
            assert await refused(egress, url) == "blocked_address"
    assert len(server.requests) == 1


async def test_libcurl_connects_to_the_addresses_that_were_checked() -> None:
    # The system would not find this name; two look-ups could differ, so there is one.
    async with serve(saying(answer()), host="127.0.0.3") as server:
        names = Names({"Pinned.test": ["127.0.0.3"], "pinned.test": ["127.0.0.3"]})
        async with opened(names) as egress:
            response = await egress.get(server.url(host="pinned.test"))
            await egress.get(server.url(host="PINNED.test"))
    assert response.ip == "127.0.0.3"
    assert b"Host: pinned.test:" in server.requests[0]
    assert names.asked == ["pinned.test", "pinned.test"]


async def test_the_address_is_checked_again_when_the_socket_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serve(saying(answer())) as server, opened(allow_networks=()) as egress:
        # A hole in the first check, as a second parser or resolver would make.
        monkeypatch.setattr(egress, "_refuse_private", lambda address: None)
        for host in ("127.0.0.1", "hole.test"):
            with pytest.raises(Unusable) as caught:
                await egress.get(server.url(host=host))
            assert caught.value.reason == "blocked_address"
    assert server.connections == 0


@pytest.mark.parametrize("host", ["dot.test.", "under_score.test", "a--b.test", "x"])
async def test_an_odd_name_is_bound_to_its_addresses_like_any_other(host: str) -> None:
    async with serve(saying(answer())) as server:
        names = Names({host: ["127.0.0.1"]})
        async with opened(names) as egress:
            assert (await egress.get(server.url(host=host))).status == 200


async def test_version_six_of_ip_is_spoken() -> None:
    if not has_ipv6():
        pytest.skip("this machine has no IPv6")
    async with serve(saying(answer()), host="::1") as server:
        names = Names({"six.test": ["::1"], "far.test": [f"[::1]:{server.port}"]})
        async with opened(names, allow_networks=["::1/128"]) as egress:
            for url in (
                server.url(host="[::1]"),
                server.url(host="six.test"),
                "http://far.test/",
            ):
                assert (await egress.get(url)).ip == "::1"


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


async def test_a_second_address_is_tried_when_the_first_does_not_answer() -> None:
    async with serve(saying(answer()), host="127.0.0.4") as server:
        names = Names({"two.test": ["127.0.0.5", "127.0.0.4"]})
        async with opened(names) as egress:
            response = await egress.get(server.url(host="two.test"))
    assert response.ip == "127.0.0.4"


async def test_a_resolver_may_name_another_port() -> None:
    async with (
        serve(saying(answer(b"a"))) as one,
        serve(saying(answer(b"b"))) as two,
        serve(saying(answer(b"c"))) as plain,
    ):
        names = Names(
            {
                "a.test": [f"127.0.0.1:{one.port}"],
                "b.test": [f"127.0.0.1:{two.port}"],
                "c.test": ["127.0.0.1"],
            }
        )
        async with opened(names) as egress:
            for _ in range(2):
                assert (await egress.get("http://a.test/x")).body == b"a"
                assert (await egress.get("http://b.test/")).body == b"b"
                assert (await egress.get(plain.url(host="c.test"))).body == b"c"
    assert one.requests[0].startswith(b"GET /x HTTP/1.1\r\nHost: a.test\r\n")


@pytest.mark.parametrize("port", [0, 22, 25, 6379, 5432, 11211, 65536])
async def test_ports_that_are_not_for_the_web_are_refused(port: int) -> None:
    async with opened() as egress:
        assert await refused(egress, f"http://127.0.0.1:{port}/") == "blocked_port"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://127.0.0.1/", "scheme"),
        ("gopher://127.0.0.1/", "scheme"),
        ("dict://127.0.0.1/", "scheme"),
        ("data:text/html,x", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("", "scheme"),
        ("//a.test/", "scheme"),
        ("http:///etc/passwd", "bad_url"),
        ("http://", "bad_url"),
        ("http://a.test\\@b.test/", "bad_url"),
        ("http://a.test#@b.test/", "bad_url"),
        ("http://a b.test/", "bad_url"),
        ("http://a.test:80:80/", "bad_url"),
        ("http://a.test/\r\nX-Injected: yes", "bad_url"),
        ("http://a.test/\x00", "bad_url"),
        ("http://a.test/ü", "bad_url"),
        ("http://ü.test/", "bad_url"),
        ("http://a.test%2fb.test/", "bad_url"),
    ],
)
async def test_what_is_no_plain_web_url_is_refused(url: str, reason: str) -> None:
    names = Names({})
    async with opened(names) as egress:
        assert await refused(egress, url) == reason
    assert names.asked == []


async def test_a_name_without_address_is_a_dns_failure() -> None:
    async with opened(Names({"none.test": []})) as egress:
        assert await refused(egress, "http://none.test/") == "dns"


class Proxy:
    """A forward proxy that answers itself."""

    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.headers: list[bytes] = []

    async def __call__(self, connection: Connection) -> None:
        self.headers.append(connection.request)
        await connection.send(self.reply)


async def test_behind_a_proxy_nothing_is_looked_up_and_the_password_stays_in() -> None:
    proxy, names = Proxy(answer()), Names({})
    async with serve(proxy) as server:
        url = f"http://me:s%40cret@127.0.0.1:{server.port}"
        async with opened(names, proxy=url, allow_networks=()) as egress:
            response = await egress.get("http://far.test/page")
    assert proxy.headers[0].startswith(b"GET http://far.test/page HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6c0BjcmV0\r\n" in proxy.headers[0]
    assert (response.body, response.ip, names.asked) == (PAGE, "", [])
    kept = repr((response.request, response.headers)).lower()
    assert "cret" not in kept
    assert "authorization" not in kept


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_fails_is_transient_and_its_password_is_not_told(
    scheme: str,
) -> None:
    async with serve(saying(answer(b"", status=b"403 Forbidden"))) as server:
        alive = f"http://me:canary@127.0.0.1:{server.port}"
        async with opened(proxy=alive) as egress:
            if scheme == "https":
                with pytest.raises(Transient) as caught:
                    await egress.get("https://far.test/")
                assert caught.value.reason == "proxy"
                assert "canary" not in str(caught.value)
            else:
                assert (await egress.get("http://far.test/")).status == 403
    async with opened(proxy=alive) as egress:
        with pytest.raises(Transient) as caught:
            await egress.get(f"{scheme}://far.test/")
        assert "canary" not in str(caught.value)


async def test_only_a_proxy_that_never_worked_may_ask_for_a_password() -> None:
    """Any server can answer 407, which must not end a crawl."""
    asking = answer(b"who are you?", status=b"407 Proxy Authentication Required")
    async with serve(saying(asking)) as server:
        async with opened() as egress:
            assert (await egress.get(server.url())).status == 407
        async with opened(proxy=server.url().rstrip("/")) as egress:
            with pytest.raises(BadInput, match="user name and password"):
                await egress.get("http://far.test/")
    proxy = Proxy(answer())
    async with (
        serve(proxy) as server,
        opened(proxy=server.url().rstrip("/")) as egress,
    ):
        assert (await egress.get("http://far.test/")).status == 200
        proxy.reply = asking
        assert (await egress.get("http://far.test/")).status == 407


async def test_even_behind_a_proxy_private_addresses_are_not_asked_for() -> None:
    proxy = Proxy(answer())
    async with serve(proxy) as server:
        url = f"http://127.0.0.1:{server.port}"
        async with opened(proxy=url, allow_networks=()) as egress:
            assert await refused(egress, "http://127.0.0.1/") == "blocked_address"
            assert await refused(egress, "http://[::1]:8080/") == "blocked_address"
    assert proxy.headers == []


async def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy(answer(b"from the proxy"))
    async with serve(proxy) as other, serve(saying(answer())) as server:
        monkeypatch.setenv("http_proxy", other.url())
        monkeypatch.setenv("all_proxy", other.url())
        async with opened() as egress:
            assert (await egress.get(server.url())).body == PAGE
        monkeypatch.setenv("no_proxy", "*")
        async with opened(proxy=other.url().rstrip("/")) as egress:
            assert (await egress.get(server.url())).body == b"from the proxy"


@pytest.mark.parametrize(
    "setting", ["nonsense", "http://", "http://host", "ftp://a:1", "http://a:x", "a:1"]
)
async def test_a_proxy_that_is_none_is_bad_input(setting: str) -> None:
    with pytest.raises(BadInput, match=r"fetch\.proxy"):
        Egress(FetchSettings(proxy=setting))


async def test_a_network_that_is_none_stops_the_start() -> None:
    with pytest.raises(BadInput, match=r"192\.168\.1\.0/24"):
        Egress(FetchSettings(allow_networks=("x",)))
