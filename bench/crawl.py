"""Whole crawls of one local site, as CPU per page: Opilio, the raw limit, Scrapy.

A site of real-sized pages is served by nginx. All crawlers visit the same number of
its pages breadth-first, one after another and in turns, so that noise of the machine
falls on all alike; read the ratios. CPU is that of all processes of a crawler, and all
of them run on one core, so that what they do to each other's caches is counted, too.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from compileall import compile_dir
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import opilio as opilio_package
from bench.table import show
from opilio.lab.synthetic.dials import REAL_SITE
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.lab.webs import write_static_site

PAGES = 3000
ROUNDS = 3
PATIENCE = 600  # seconds for one crawl: Scrapy takes minutes where others work, too

NGINX = """
daemon off; user {user}; worker_processes 1;
pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    access_log off; default_type text/html; keepalive_requests 1000000;
    types {{ text/html html; text/plain txt; }}
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {site}; index index.html; }}
}}
"""


@contextmanager
def nginx(site: Path, folder: Path) -> Iterator[str]:
    """Serve a folder; returns the start URL."""
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
    """Return once somebody accepts connections there."""
    for _ in range(100):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nginx does not answer on port {port}")


class Cost(NamedTuple):
    """What a run of a crawler took."""

    cpu: float  # seconds, of all its processes
    seconds: float
    peak_mb: float  # of its largest process


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
    return Cost(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024)


TOPIC = """
name = "bench"
keywords = ["volcano", "lava", "eruption", "crater", "magma chamber"]
seeds = ["{start}"]
"""

# As fast as it goes; what follows is still of [politeness].
WITHOUT_DELAYS = """
[crawl]
in_flight = 32
[politeness]
delay = 0.0
ip_delay = 0.0
"""

SETTINGS = f"""{WITHOUT_DELAYS}per_host = 16
[fetch]
allow_networks = ["127.0.0.0/8"]
[bounds]
per_template = 0
"""


def opilio(start: str, folder: Path, readers: int = 1) -> list[str]:
    """The command of a whole Opilio crawl, everything on."""
    topic, settings = folder / "bench.toml", folder / "settings.toml"
    topic.write_text(TOPIC.format(start=start))
    settings.write_text(SETTINGS)
    return [
        str(Path(sys.executable).with_name("opilio")),
        *("crawl", str(topic), "--settings", str(settings), "--fresh", "--quiet"),
        *("-o", str(folder / f"crawl-{readers}"), "--strategy", "breadth-first"),
        *("--max-pages", str(PAGES), "--readers", str(readers)),
    ]


def peer(module: str, start: str, folder: Path) -> list[str]:
    """The command of another crawler of this folder."""
    return [sys.executable, "-m", f"bench.{module}", start, str(PAGES)]


CRAWLERS: dict[str, Callable[[str, Path], list[str]]] = {
    "raw limit": partial(peer, "raw_limit"),
    "Opilio": opilio,
}


def compare(start: str, folder: Path) -> None:
    """CPU per page, every crawler on one core and nginx on the other."""
    pinned = ["taskset", "-c", "0"]
    costs: dict[str, list[Cost]] = {name: [] for name in CRAWLERS}
    for _ in range(ROUNDS):
        for name, command in CRAWLERS.items():
            costs[name].append(measure(pinned + command(start, folder)))
    costs["Scrapy"] = [measure(pinned + peer("scrapy_peer", start, folder))]
    typical = {name: median(runs) for name, runs in costs.items()}
    limit, ours = typical["raw limit"].cpu, typical["Opilio"].cpu
    show(
        f"CPU of all processes, {PAGES} pages, start included, medians of {ROUNDS}",
        ("crawler", "ms/page", "x limit", "x Opilio", "peak MB"),
        [
            (
                name,
                f"{cost.cpu / PAGES * 1000:.2f}",
                f"{cost.cpu / limit:.2f}",
                f"{cost.cpu / ours:.2f}",
                f"{cost.peak_mb:.0f}",
            )
            for name, cost in typical.items()
        ],
    )


def scale(start: str, folder: Path) -> None:
    """Pages a second with one reader and with two, on all cores."""
    runs: dict[int, list[Cost]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for readers, costs in runs.items():
            costs.append(measure(opilio(start, folder, readers)))
    speeds = {n: PAGES / median(costs, "seconds").seconds for n, costs in runs.items()}
    show(
        f"Pages a second on {os.cpu_count()} cores, nginx among them",
        ("readers", "pages/s", "x one reader"),
        [
            (readers, f"{speed:.0f}", f"{speed / speeds[1]:.2f}")
            for readers, speed in speeds.items()
        ],
    )


def median(costs: list[Cost], by: str = "cpu") -> Cost:
    """The run in the middle."""
    return sorted(costs, key=attrgetter(by))[len(costs) // 2]


def main() -> None:
    """Serve a site, measure, print."""
    if not shutil.which("nginx"):
        raise SystemExit("this needs nginx: apt-get install nginx-light")
    # As pip does; where Python may not write bytecode, each start would compile again.
    compile_dir(Path(opilio_package.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        site = folder / "site"
        write_static_site(SyntheticWeb(REAL_SITE), site)
        with nginx(site, folder) as start:
            compare(start, folder)
            scale(start, folder)


if __name__ == "__main__":
    main()
