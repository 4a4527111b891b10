"""Nothing but the guarded way leaves the machine: who imports what is the proof."""

from __future__ import annotations

import ast

from source_code import imported, modules, nodes_of

CLIENTS = """
    pycurl curl socket socketserver ssl http.client http.server ftplib smtplib
    telnetlib xmlrpc urllib.request urllib3 requests httpx httpcore aiohttp h2
    curl_cffi websockets paramiko primp playwright
"""
EXCEPTIONS = {
    "fetch/egress.py": {"pycurl", "socket"},  # the way out
    "fetch/browser/browser.py": {"playwright"},  # every request is answered by egress
    "fetch/transfers.py": {"pycurl", "socket"},  # runs the handles that egress makes
    "fetch/resolve.py": {"socket"},  # names to addresses
    "fetch/proxy_and_certificates.py": {"ssl"},  # where certificates are kept
    "lab/teacher.py": {"socket", "socketserver"},  # a Unix socket: a file
    "read/limited.py": {"socket"},  # as pool.py, without an event loop
    "read/processes.py": {"socket"},  # a pair of them to each reader process
    "read/worker.py": {"socket"},  # the other end of the pair
}
MAY_SERVE = ("lab/synthetic/", "lab/hostile/")  # on loopback; it connects to nothing
SERVING = {"socket", "ssl", "http.server", "socketserver"}
OUTGOING = {"open_connection", "create_connection", "sock_connect"}


def test_no_other_module_has_a_client() -> None:
    for module in modules():
        excepted = EXCEPTIONS.get(module, set())
        if module.startswith(MAY_SERVE):
            excepted = SERVING
        assert imported(module).intersection(CLIENTS.split()) <= excepted, module
        named = {n.attr for n in nodes_of(module) if isinstance(n, ast.Attribute)}
        assert not named & OUTGOING, module
        if "AF_UNIX" not in named and "socket" in excepted:
            assert not named & {"connect", "connect_ex"}, module


def test_handles_are_driven_for_the_way_out_only() -> None:
    drivers = [
        module for module in modules() if "opilio.fetch.transfers" in imported(module)
    ]
    assert drivers == ["fetch/egress.py"]


def test_the_exceptions_are_needed() -> None:
    for module, names in EXCEPTIONS.items():
        assert names <= imported(module)
