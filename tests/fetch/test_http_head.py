"""URLs and header lines as they are on the wire."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.errors import Unusable
from opilio.fetch.http_head import read_head, split_port, target


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("http://a.test/", "a.test", 80, "a.test"),
        ("https://a.test/", "a.test", 443, "a.test"),
        ("http://a.test:443/", "a.test", 443, "a.test:443"),
        ("https://a.test:443?x", "a.test", 443, "a.test"),
        ("http://A.test:8080", "a.test", 8080, "A.test:8080"),
        ("http://[2606:4700::1111]:81/", "[2606:4700::1111]", 81, None),
    ],
)
def test_a_target_is_what_the_url_says(
    url: str, host: str, port: int, authority: str | None
) -> None:
    found = target(url)
    assert (found.host, found.port) == (host, port)
    assert found.authority == (authority or f"{host}:{port}")


@given(st.text("abc./:@?#\\[]%0189 \n\té", max_size=30))
def test_whatever_is_taken_has_the_host_that_other_parsers_see(rest: str) -> None:
    url = "http://" + rest
    try:
        found = target(url)
    except Unusable as error:
        assert error.reason in ("bad_url", "blocked_port")
        assert not error.contacted
        return
    assert urlsplit(url).hostname == found.host.strip("[]")
    assert (urlsplit(url).port or 80) == found.port
    assert urlsplit(url).username is None


@given(st.lists(st.binary(max_size=40)))
def test_no_header_has_control_characters_or_an_odd_name(lines: list[bytes]) -> None:
    try:
        head = read_head([b"HTTP/1.1 200 OK\r\n", *(line + b"\r\n" for line in lines)])
    except ValueError:
        return
    assert head.status == 200
    for name, value in head.headers:
        assert name == name.strip().lower()
        assert not set(name) & set(' \t\r\n:"()')
        assert value == value.strip(" ")
        assert not any(ord(char) < 32 or ord(char) == 127 for char in value)


def test_an_over_long_header_name_is_not_kept() -> None:
    lines = [b"HTTP/2 200\r\n", b"x" * 64 + b": a\r\n", b"y" * 65 + b": b\r\n"]
    assert read_head(lines) == (200, "h2", [("x" * 64, "a")])


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1", ("127.0.0.1", "")),
        ("127.0.0.1:80", ("127.0.0.1", "80")),
        ("::1", ("::1", "")),
        ("[::1]", ("::1", "")),
        ("[::1]:80", ("::1", "80")),
    ],
)
def test_an_address_may_have_a_port(address: str, parts: tuple[str, str]) -> None:
    assert split_port(address) == parts
