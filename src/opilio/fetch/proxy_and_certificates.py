"""Finds the proxy to use and the certificates to trust."""

from __future__ import annotations

import os
import re
import ssl
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from opilio.errors import BadInput

PROXY_SCHEMES = frozenset(("http", "https", "socks5", "socks5h"))
# The message does not quote the setting, which may hold a password.
NO_PROXY = "fetch.proxy is not valid; write it like http://host:3128, host in ASCII"
_host = re.compile(r"[a-z0-9._:-]+").fullmatch
CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",
)


class Proxy(NamedTuple):
    """The proxy for all requests; its repr shows no password."""

    url: str  # without credentials
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.url!r})"


def parse_proxy(setting: str) -> Proxy | None:
    """`http://user:password@host:port` as a Proxy; None when there is none."""
    if not setting:
        return None
    try:
        parts = urlsplit(setting)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise BadInput(NO_PROXY) from None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    is_sound = port and _host(host) and "\0" not in user + password
    if not is_sound or parts.scheme not in PROXY_SCHEMES:
        raise BadInput(NO_PROXY)
    if ":" in host:
        host = f"[{host}]"
    return Proxy(f"{parts.scheme}://{host}:{port}", user, password)


def find_ca_file() -> str:
    """The certificates that this machine trusts, or "" when there is no such file.

    The libcurl in pycurl's wheel knows only the path of the system it was built on.
    """
    places = (
        os.environ.get("SSL_CERT_FILE"),
        ssl.get_default_verify_paths().cafile,
        *CA_FILES,
    )
    return next((place for place in places if place and Path(place).is_file()), "")
