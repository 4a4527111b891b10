"""Nothing but the guarded way leaves the machine: who imports what is the proof."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import opilio

ROOT = Path(opilio.__file__).parent
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


def imported(tree: ast.AST) -> set[str]:
    """Every module that is imported, with the modules it is part of."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rpartition(".")[0] for name in names}
    return names | parents | {parent.partition(".")[0] for parent in parents}


def modules() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("module", modules())
def test_no_other_module_has_a_client(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text())
    excepted = EXCEPTIONS.get(module, set())
    if module.startswith(MAY_SERVE):
        excepted = SERVING
    assert imported(tree).intersection(CLIENTS.split()) <= excepted
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not called & OUTGOING
    if "AF_UNIX" not in called:
        assert "socket" not in excepted or not called & {"connect", "connect_ex"}


def test_handles_are_driven_for_the_way_out_only() -> None:
    drivers = [
        module
        for module in modules()
        if "opilio.fetch.transfers" in imported(ast.parse((ROOT / module).read_text()))
    ]
    assert drivers == ["fetch/egress.py"]


def test_the_exceptions_are_needed() -> None:
    for module, names in EXCEPTIONS.items():
        assert names <= imported(ast.parse((ROOT / module).read_text()))
