"""Serves a folder with nginx, and measures the cost of a program that crawls it."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

PATIENCE = 1800  # seconds for one crawl: Scrapy takes minutes where others work, too

NGINX = """
daemon off; user {user}; worker_processes 1;
pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; default_type text/html; keepalive_requests 1000000;
    types {{ text/html html htm; text/plain txt; }}
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {site}; index index.html; }}
}}
"""


@contextmanager
def nginx(site: Path, folder: Path) -> Iterator[str]:
    """Serve a folder; yields the start URL."""
    if not shutil.which("nginx"):
        raise SystemExit("this needs nginx: apt-get install nginx-light")
    config = folder / "nginx.conf"
    port = free_port()
    user = getpass.getuser()
    text = NGINX.format(folder=folder, site=site, port=port, user=user)
    config.write_text(text)
    pinned = ["taskset", "-c", str((os.cpu_count() or 1) - 1)]
    command = [*pinned, "nginx", "-c", str(config), "-p", str(folder)]
    server = subprocess.Popen(command)
    try:
        wait_until_answering(port)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(10)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_until_answering(port: int) -> None:
    """Return once the port accepts connections."""
    for _ in range(100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nginx does not answer on port {port}")


class Cost(NamedTuple):
    """The cost of a run of a crawler."""

    cpu: float  # seconds, of all its processes
    seconds: float
    peak_mb: float  # of its largest process
    printed: str = ""


def measure(command: list[str]) -> Cost:
    """Run a command to its end."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        guard = threading.Timer(PATIENCE, process.kill)
        guard.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        guard.cancel()
        seconds = time.perf_counter() - began
        output.seek(0)
        printed = output.read().decode()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{printed[-3000:]}")
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(cpu, seconds, usage.ru_maxrss / 1024, printed)


def median(costs: list[Cost], by: str = "cpu") -> Cost:
    """The run in the middle."""
    return sorted(costs, key=attrgetter(by))[len(costs) // 2]
