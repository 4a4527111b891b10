"""TLS: verified, the kind of failure told; HTTP/2 from nginx."""

from __future__ import annotations

import asyncio
import datetime
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

from fetch.hostile_server import PAGE, Connection, answer, saying, serve
from fetch.local_egress import Names, opened
from opilio.errors import Transient, Unusable
from opilio.fetch.proxy_and_certificates import find_ca_file

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
DAY = datetime.timedelta(days=1)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """What a server with this certificate needs."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(made)
    return made


async def test_a_server_with_a_good_certificate_is_answered(
    authority: trustme.CA, ca_file: str
) -> None:
    tls = context(authority.issue_cert("good.test"))
    script = saying(answer(), keep=True)
    async with serve(script, tls=tls) as server, opened(ca_file=ca_file) as egress:
        for _ in range(2):
            response = await egress.get(server.url(host="good.test"))
    assert (response.body, response.protocol) == (PAGE, "http/1.1")
    assert server.connections == 1


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("expired", "expired"),
        ("early", "not yet valid"),
        ("other host", "wrong host"),
        ("other authority", "unknown issuer"),
        ("self-signed", "self-signed"),
    ],
)
async def test_a_bad_certificate_is_unusable_and_its_kind_is_told(
    kind: str, told: str, authority: trustme.CA, ca_file: str
) -> None:
    now = datetime.datetime.now(datetime.UTC)
    bad = {
        "expired": lambda: authority.issue_cert("bad.test", not_after=now - DAY),
        "early": lambda: authority.issue_cert("bad.test", not_before=now + DAY),
        "other host": lambda: authority.issue_cert("good.test"),
        "other authority": lambda: trustme.CA().issue_cert("bad.test"),
        "self-signed": self_signed,
    }[kind]()
    tls = bad if isinstance(bad, ssl.SSLContext) else context(bad)
    script = saying(answer())
    async with serve(script, tls=tls) as server, opened(ca_file=ca_file) as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url(host="bad.test"))
    assert caught.value.reason == "tls_" + told.replace(" ", "_").replace("-", "_")
    assert told in str(caught.value)
    assert server.requests == []


def self_signed() -> ssl.SSLContext:
    """A server that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bad.test")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - DAY, now + DAY)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("bad.test")]), False)
        .sign(key, hashes.SHA256())
    )
    pem = trustme.Blob(
        certificate.public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with pem.tempfile() as path:
        made.load_cert_chain(path)
    return made


async def test_by_default_an_unknown_authority_is_not_trusted(
    authority: trustme.CA,
) -> None:
    assert find_ca_file()
    tls = context(authority.issue_cert("good.test"))
    async with serve(saying(answer()), tls=tls) as server, opened() as egress:
        with pytest.raises(Unusable) as caught:
            await egress.get(server.url(host="good.test"))
    assert caught.value.reason.startswith("tls_")


async def test_a_handshake_that_breaks_off_is_transient() -> None:
    async def hang_up(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.read(1)
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, opened() as egress:
        with pytest.raises(Transient) as caught:
            await egress.get(f"https://127.0.0.1:{port}/")
    assert caught.value.reason == "tls"


async def test_a_tunnel_through_a_proxy_checks_the_far_certificate(
    authority: trustme.CA, ca_file: str
) -> None:
    tls = context(authority.issue_cert("far.test"))

    async def tunnel(connection: Connection) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", far.port)
        await connection.send(b"HTTP/1.1 200 Go\r\nContent-Type: text/plain\r\n\r\n")
        there = asyncio.create_task(pump(connection.reader, writer))
        try:
            await pump(reader, connection.writer)
        finally:
            there.cancel()
            writer.close()

    async with serve(saying(answer()), tls=tls) as far, serve(tunnel) as proxy:
        url = f"http://me:canary@127.0.0.1:{proxy.port}"
        async with opened(Names({}), proxy=url, ca_file=ca_file) as egress:
            response = await egress.get(far.url("/x", host="far.test"))
            assert response.header("content-type") == "text/html"
            with pytest.raises(Unusable) as caught:
                await egress.get(far.url(host="false.test"))
    assert caught.value.reason == "tls_wrong_host"
    assert proxy.requests[0].startswith(b"CONNECT far.test:%d " % far.port)
    assert b"canary" not in b"".join(far.requests)
    assert b"roxy" not in b"".join(far.requests)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until the end."""
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


CONFIGURATION = """
user root; daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{ }}
http {{
    access_log off; default_type text/html; gzip on; gzip_min_length 1;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
    fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4;
    scgi_temp_path {folder}/t5;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {folder}/chain.pem; ssl_certificate_key {folder}/chain.pem;
        root {folder}/www;
    }}
}}
"""


@pytest.fixture
def nginx(authority: trustme.CA, tmp_path: Path) -> Iterator[str]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    leaf = authority.issue_cert("h2.test")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "chain.pem"))
    (tmp_path / "www").mkdir()
    (tmp_path / "www" / "page.html").write_bytes(PAGE * 100)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, place = listening.getsockname()[1], listening.fileno()
        (tmp_path / "conf").write_text(CONFIGURATION.format(folder=tmp_path, port=port))
        server = subprocess.Popen(
            [NGINX, "-c", tmp_path / "conf"],
            # As in an upgrade, it inherits a listening socket: nobody gets the port,
            # and clients can come before it is ready.
            env={**os.environ, "NGINX": f"{place};"},
            pass_fds=[place],
            stderr=subprocess.DEVNULL,
        )
    try:
        yield f"https://h2.test:{port}"
    finally:
        server.terminate()
        server.wait()


async def test_http_2_is_spoken_where_the_server_does(nginx: str, ca_file: str) -> None:
    async with opened(ca_file=ca_file) as egress:
        responses = await asyncio.gather(
            *(egress.get(f"{nginx}/page.html") for _ in range(20))
        )
        missing = await egress.get(f"{nginx}/no")
    for response in responses:
        assert (response.status, response.protocol) == (200, "h2")
        assert response.body == PAGE * 100
        assert response.wire is not None
        assert response.header("content-encoding") == "gzip"
        assert response.request[0] == ("host", nginx.removeprefix("https://"))
    assert missing.status == 404


async def test_an_http_2_connection_cut_off_meanwhile_is_replaced(
    nginx: str, ca_file: str
) -> None:
    async with opened(ca_file=ca_file) as egress:
        await egress.get(f"{nginx}/page.html")
        for idle in list(egress._multi._idle):
            egress._multi._cut_off(idle)
        response = await egress.get(f"{nginx}/page.html")
    assert (response.status, response.protocol) == (200, "h2")
