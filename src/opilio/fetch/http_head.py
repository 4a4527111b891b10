"""Parses the target of a request from its URL, and the head of a response."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from opilio.errors import Unusable
from opilio.fetch.addresses import REFUSED_PORTS
from opilio.records import Headers

LONG = 256  # bytes; longer header lines are hardly ever repeated
FRAMING = frozenset(("content-length", "transfer-encoding"))
BLANK = " \t\r\n"
PROTOCOLS = {"HTTP/2": "h2", "HTTP/1.0": "http/1.0"}

# So strict that no two URL parsers, ours and libcurl's, can differ about the host.
_url = re.compile(
    r"(https?)://([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?"
    r"(?:[/?][!-~]*)?"
).fullmatch
_token = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}").fullmatch
_controls = re.compile(r"[\x00-\x1f\x7f-\x9f]+").sub
_ascii_controls = re.compile(r"[\x00-\x1f\x7f]+").sub


class Target(NamedTuple):
    """Where the request for a URL goes."""

    scheme: str
    host: str  # as in the URL: an IPv6 address has brackets
    port: int
    authority: str  # as in the Host header
    address: str  # when the host is one itself, else ""


class ResponseHead(NamedTuple):
    """Status and headers of a response."""

    status: int
    protocol: str
    headers: Headers


def target(url: str) -> Target:
    """The target of a request; Unusable if the URL must not be requested."""
    parts = _url(url)
    if parts is None:
        scheme = url.partition(":")[0].lower()
        reason = "bad_url" if scheme in ("http", "https") else "scheme"
        raise Unusable(
            reason, f"{clean_header(url)} is not an http(s) URL", contacted=False
        )
    return authority(*parts.groups())


@lru_cache(maxsize=2**14)
def authority(scheme: str, host: str, port: str | None) -> Target:
    """The target from scheme, host and port of a URL."""
    usual = 443 if scheme == "https" else 80
    number = int(port) if port else usual
    if number in REFUSED_PORTS or number > 65535:
        raise Unusable(
            "blocked_port",
            f"port {number} of {host} is blocked: it belongs to another service",
            contacted=False,
        )
    name = host if number == usual else f"{host}:{number}"
    try:
        literal = str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        literal = ""
    return Target(scheme, host.lower(), number, name, literal)


def split_port(address: str) -> tuple[str, str]:
    """`127.0.0.1:80` as address and port; the port is "" when there is none."""
    if address.startswith("["):
        numeric, _, port = address[1:].partition("]")
        return numeric, port.lstrip(":")
    if address.count(":") == 1:
        numeric, _, port = address.partition(":")
        return numeric, port
    return address, ""


def read_head(lines: Sequence[bytes]) -> ResponseHead:
    """The status line and header lines of one response; ValueError if invalid."""
    version, _, status = lines[0].decode("latin-1").partition(" ")
    fields = [
        read_field(line) if len(line) > LONG else known_field(line)
        for line in lines[1:]
    ]
    headers = [field for field in fields if field[0]]
    if len({field for field in headers if field[0] in FRAMING}) > 1:
        # It is ambiguous where such a response ends and the next one starts.
        raise ValueError("its lengths contradict each other")
    return ResponseHead(int(status[:3]), PROTOCOLS.get(version, "http/1.1"), headers)


def read_field(line: bytes) -> tuple[str, str]:
    """Name and value of a header line; the name is "" if it is not valid.

    The value has a character for each byte. Those from 80 on stay, also where Latin-1
    would call them controls or spaces: they may be parts of UTF-8.
    """
    name, _, value = line.decode("latin-1").partition(":")
    name = name.removesuffix("\n")
    if not _token(name):
        return "", ""
    value = value.strip(BLANK)
    if not value.isprintable():
        value = _ascii_controls(" ", value).strip(BLANK)
    return name.lower(), value


known_field = lru_cache(2**12)(read_field)  # servers repeat most of their lines


def clean_header(text: str) -> str:
    """Text from the network without control characters."""
    text = text.strip()
    return text if text.isprintable() else _controls(" ", text).strip()
