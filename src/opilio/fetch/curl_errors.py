"""Turns libcurl's error codes into Opilio's exceptions."""

from __future__ import annotations

import errno
from typing import NamedTuple

from opilio.errors import BadInput, MachineLimit, OpilioError, Transient, Unusable
from opilio.fetch.http_head import clean_header

# Codes as in curl/curl.h; they never change. True: it may work next time.
MEANING = {
    1: ("bad_http", False),  # unsupported protocol: the answer was not HTTP
    3: ("bad_url", False),
    5: ("proxy", True),  # its name was not found
    6: ("dns", False),
    7: ("connect", True),
    8: ("bad_http", False),  # weird server reply
    16: ("network", True),  # HTTP/2 framing
    18: ("network", True),  # partial file
    28: ("timeout", True),
    35: ("tls", True),  # the handshake broke off
    43: ("bad_http", False),
    52: ("network", True),  # the server closed without an answer
    55: ("network", True),  # sending failed
    56: ("network", True),  # receiving failed
    60: ("tls", False),  # the certificate is not valid
    61: ("bad_encoding", False),
    91: ("tls", False),  # the certificate was revoked
    92: ("network", True),  # an HTTP/2 stream was reset
    95: ("network", True),
    97: ("proxy", True),
    100: ("too_many_headers", False),  # a value is too large
}
CUT_SHORT = frozenset((16, 18, 55, 56, 92, 95))
NO_CA_FILE = 77
PROXY_REST = 10.0  # seconds until a failed proxy is retried
TOO_MANY_FILES = "too many open files; allow more (ulimit -n) or lower crawl.in_flight"

# Of X509_V_ERR_*, by number.
CERTIFICATE = {
    9: "not yet valid",
    10: "expired",
    18: "self-signed",
    19: "unknown issuer",
    20: "unknown issuer",
    21: "unknown issuer",
    23: "revoked",
    62: "wrong host",
    64: "wrong host",
}


class Failure(NamedTuple):
    """What libcurl reports about a failed transfer."""

    code: int
    message: str
    connected: bool
    os_error: int = 0
    certificate: int = 0
    proxied: bool = False
    proxy_status: int = 0  # what the proxy answered to CONNECT


def explain_failure(url: str, failure: Failure) -> OpilioError:
    """The error to raise for a failed transfer."""
    said = clean_header(failure.message)[:200] or f"libcurl error {failure.code}"
    if failure.code == NO_CA_FILE:
        return BadInput(
            "no trusted certificates were found; set SSL_CERT_FILE to a PEM file"
        )
    reason, may_recover = MEANING.get(failure.code, ("network", True))
    if failure.proxy_status >= 300:
        reason, may_recover = "proxy", True
    elif reason == "tls" and not may_recover:
        kind = CERTIFICATE.get(failure.certificate, "bad certificate")
        kind = "wrong host" if "subject name" in said else kind
        said = f"{kind}: {said}"
        reason = f"tls_{kind.replace(' ', '_').replace('-', '_')}"
    elif failure.code == 56 and said.startswith("Too "):
        reason, may_recover = "too_many_headers", False
    elif failure.code == 56 and said.startswith("chunk "):
        reason, may_recover = "bad_http", False
    elif failure.code == 28 and not failure.connected:
        reason = "connect"
    elif failure.code == 7 and failure.os_error == errno.ECONNREFUSED:
        reason = "refused"
    if failure.os_error in (errno.EMFILE, errno.ENFILE):
        return MachineLimit(TOO_MANY_FILES)
    if failure.proxied and reason in ("connect", "refused"):
        reason = "proxy"
    message = f"{url}: {reason} ({said})"
    if reason == "proxy":  # not a failure of the link or its host
        return Transient(reason, message, after=PROXY_REST, counted=False)
    if may_recover:
        return Transient(reason, message, after=0.0)  # the caller decides how long
    return Unusable(reason, message)
