"""Measures the CPU of a request, for pages from nginx over persistent connections.

The first lines of the table are the machine's limit: libcurl with nothing around it.
Run it with `python -m bench.fetch`.
"""

from __future__ import annotations

import asyncio
import random
import resource
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pycurl
import uvloop

from opilio.fetch.egress import Egress
from opilio.settings import FetchSettings

PAGES = 200
REQUESTS = 10_000
ROUNDS = 3  # the best one counts: other work on the machine only ever adds
NGINX = """
user root; daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/log;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; types {{ text/html html; }}
    keepalive_requests 100000000; keepalive_timeout 75; open_file_cache max=1000;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
    fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4;
    scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


@contextmanager
def nginx() -> Iterator[str]:
    """A site of 35 KB pages; yields its root."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_pages(folder / "www")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        (folder / "conf").write_text(NGINX.format(folder=folder, port=port))
        server = subprocess.Popen(
            [program, "-c", folder / "conf"], stderr=subprocess.DEVNULL
        )
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait()


def write_pages(folder: Path) -> None:
    """Pages of 20 to 50 KB, 35 KB on average."""
    folder.mkdir()
    chance = random.Random(1)
    for number in range(PAGES):
        words = (f"{chance.random():.7f}" for _ in range(chance.randint(2000, 5000)))
        (folder / f"{number}.html").write_text(f"<html><p>{' '.join(words)}")


def wait_for(port: int) -> None:
    """Return once the port accepts connections."""
    for _ in range(100):
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.02)
    raise SystemExit("nginx does not start")


def bare(urls: list[str], in_flight: int) -> int:
    """libcurl's multi interface, bodies only counted: the limit."""
    multi, received, queue = pycurl.CurlMulti(), 0, iter(urls)

    def count(chunk: bytes) -> None:
        nonlocal received
        received += len(chunk)

    def start(curl: pycurl.Curl) -> bool:
        url = next(queue, None)
        if url is not None:
            curl.setopt(pycurl.URL, url)
            multi.add_handle(curl)
        return url is not None

    handles = [pycurl.Curl() for _ in range(in_flight)]
    for curl in handles:
        curl.setopt(pycurl.WRITEFUNCTION, count)
        curl.setopt(pycurl.BUFFERSIZE, 2**17)
    running = sum([start(curl) for curl in handles])
    while running:
        multi.perform()
        _, finished, failed = multi.info_read()
        assert not failed, failed
        for curl in finished:
            multi.remove_handle(curl)
            running += start(curl) - 1
        if running:
            multi.select(0.1)
    for curl in handles:
        curl.close()
    multi.close()
    return received


async def guarded(urls: list[str], in_flight: int) -> int:
    """The same requests through Egress."""
    egress = Egress(FetchSettings(allow_networks=("127.0.0.0/8",)), EveryHostIsHere())
    queue, received = iter(urls), 0

    async def work() -> None:
        nonlocal received
        for url in queue:
            response = await egress.get(url)
            received += len(response.body)

    await asyncio.gather(*(work() for _ in range(in_flight)))
    await egress.close()
    return received


def in_loop(run: Callable[..., int], urls: list[str], in_flight: int) -> int:
    """The requests under this kind of loop."""
    return run(guarded(urls, in_flight))


class EveryHostIsHere:
    """A resolver for names that exist only in this measurement."""

    async def resolve(self, host: str, port: int) -> list[str]:
        return ["127.0.0.1"]


def measure(name: str, run: Callable[[], int], in_flight: int) -> None:
    """Print one line of the table."""
    total, user, rate, size = min(measured(run) for _ in range(ROUNDS))
    print(
        f"{name:24} {in_flight:9} {rate:9.0f} {total:9.1f} {user:9.1f} {size:9.1f}",
        flush=True,
    )


def measured(run: Callable[[], int]) -> tuple[float, float, float, float]:
    """CPU and user CPU in µs a request, requests a second, KB a body."""
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    received = run()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    user = (after.ru_utime - before.ru_utime) / REQUESTS * 1e6
    system = (after.ru_stime - before.ru_stime) / REQUESTS * 1e6
    return user + system, user, REQUESTS / took, received / REQUESTS / 1000


def main() -> None:
    """Print the table."""
    print(f"{'':24} in flight  requests  CPU each   of user   body each")
    print(f"{'':24} {'':9} {'a second':>9} {'µs':>9} {'µs':>9} {'KB':>9}")
    with nginx() as root:
        port = root.rpartition(":")[2]
        for in_flight in (16, 64):
            urls = [f"{root}/{n % PAGES}.html" for n in range(REQUESTS)]
            hosts = [
                f"http://host{n % 16}.test:{port}/{n % PAGES}.html"
                for n in range(REQUESTS)
            ]
            measure("libcurl alone", partial(bare, urls, in_flight), in_flight)
            for name, run, asked in (
                ("Egress, uvloop", uvloop.run, urls),
                ("Egress, uvloop, 16 hosts", uvloop.run, hosts),
                ("Egress, asyncio", asyncio.run, urls),
            ):
                measure(name, partial(in_loop, run, asked, in_flight), in_flight)


if __name__ == "__main__":
    main()
