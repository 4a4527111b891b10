"""`opilio doctor`: checks whether this machine has what a crawl needs."""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from opilio import __version__
from opilio.assembly.build import make_readers
from opilio.assembly.event_loop import run_loop
from opilio.cli.plain_text import plain
from opilio.cli.terminal import stdout
from opilio.errors import BadInput, FetchError
from opilio.fetch.egress import Egress
from opilio.fetch.proxy_and_certificates import parse_proxy
from opilio.read.kernels import COMPILED
from opilio.records import ReaderSetup, Response
from opilio.settings import FetchSettings, StoreSettings
from opilio.store.damage_check import UNREADABLE, Damage, check_crawl
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.vectors.files import AUTO, resolve

LIBRARIES = ("pycurl", "turbohtml", "ada-url", "fastwarc", "numpy", "uvloop")
SAMPLE = b"<title>Harvestmen</title><p>Opilio walks out and gathers.</p>"


class DoctorFinding(msgspec.Struct, frozen=True):
    """The result of one check."""

    name: str
    good: bool
    detail: str


def doctor(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="The folder for crawls, or of one crawl."),
    ] = Path(),
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Also try to fetch this URL.")
    ] = None,
    proxy: Annotated[
        str, typer.Option(metavar="URL", help="Fetch it through this proxy.")
    ] = "",
    allow_network: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="Allow the request to this private network."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for bug reports too.")
    ] = False,
) -> None:
    """Check what a crawl needs: libraries, disk, files, clock, readers, network.

    If DIR is the folder of a crawl, its database and all its records are checked, too.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; name the folder for crawls")
    if proxy and not url:
        raise BadInput("--proxy needs a URL to fetch; give --url URL")
    settings = FetchSettings(proxy=proxy, allow_networks=tuple(allow_network or ()))
    parse_proxy(proxy)
    findings = [*look(folder), run_loop(look_at_readers())]
    if CrawlFolder(folder).exists:
        findings += look_at_crawl(CrawlFolder(folder))
    if url:
        findings.append(run_loop(look_at_network(url, settings)))
    if as_json:
        typer.echo(msgspec.json.encode(findings).decode())
    else:
        for finding in findings:
            mark = (
                Text("  ok  ", "green") if finding.good else Text("  !!  ", "bold red")
            )
            line = mark + Text(f"{finding.name:<10} ", "bold") + Text(finding.detail)
            stdout.print(line, soft_wrap=True)
    if not all(finding.good for finding in findings):
        raise typer.Exit(1)


def look(folder: Path) -> Iterator[DoctorFinding]:
    """The checks that start no process and make no request."""
    yield DoctorFinding(
        "opilio",
        True,
        f"{__version__}, Python {platform.python_version()}, {sys.platform}",
    )
    how = "compiled" if COMPILED else "numpy; faster if installed with a C compiler"
    yield DoctorFinding("counting", True, how)
    yield DoctorFinding(
        "libraries", True, ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    )
    yield DoctorFinding("vectors", True, known_vectors())
    wal = sqlite3.sqlite_version_info >= (3, 35)
    yield DoctorFinding(
        "sqlite", wal, f"{sqlite3.sqlite_version} (3.35 or later is needed)"
    )
    writable = os.access(folder, os.W_OK)
    yield DoctorFinding(
        "folder",
        writable,
        f"{folder.absolute()} {'can' if writable else 'cannot'} be written",
    )
    free, wanted = shutil.disk_usage(folder).free, StoreSettings().min_free
    yield DoctorFinding(
        "disk",
        free > wanted,
        f"{free / 2**30:.1f} GB free; crawls stop at {wanted / 2**30:.1f} GB",
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield DoctorFinding(
        "files", files >= 1024, f"{files} may be open at once (1024 is enough)"
    )
    sane = time.time() > 1_750_000_000
    yield DoctorFinding("clock", sane, time.strftime("%Y-%m-%d %H:%M:%S %Z"))
    yield DoctorFinding(
        "agent",
        True,
        f"servers see {FetchSettings().user_agent} and your --contact (fetch.contact)",
    )


def known_vectors() -> str:
    """Which word vectors a crawl has by default."""
    match resolve(AUTO):
        case "":
            return "none; pip install 'opilio[vectors]' brings those of wordllama"
        case "wordllama":
            return f"wordllama {version('wordllama')}"
        case name:
            return f"{name}, for topics in English"


def look_at_crawl(crawl: CrawlFolder) -> Iterator[DoctorFinding]:
    """Check the database and every record of a crawl."""
    found = []
    try:
        with opened(crawl) as db:
            db.row_factory = None
            found = list(check_crawl(crawl, db))
            [pages] = db.execute("SELECT count(*) FROM page").fetchone()
    except (BadInput, *UNREADABLE) as error:
        found, pages = [Damage(crawl.database.name, str(error))], 0
    for damage in found:
        times = f" ({damage.count:,} times)" if damage.count > 1 else ""
        remedy = f"`opilio repair {crawl.path}` saves what can be saved"
        told = f"{damage.file}: {damage.what}{times}; {remedy}"
        yield DoctorFinding("crawl", False, plain(told))
    if not found:
        told = f"crawl.db and the records of {pages:,} pages are complete"
        yield DoctorFinding("crawl", True, told)


async def look_at_readers() -> DoctorFinding:
    """Read a page with a reader process."""
    pool = make_readers(1, msgspec.msgpack.encode(ReaderSetup(("harvestman",), "en")))
    began = time.perf_counter()
    try:
        await pool.start()
        response = Response(
            "http://example.test/",
            200,
            [("content-type", "text/html")],
            SAMPLE,
            time.time(),
        )
        reading = await pool.read(response)
    finally:
        await pool.close()
    good = reading.page is not None and reading.page.title == "Harvestmen"
    return DoctorFinding(
        "readers",
        good,
        f"read a page in {time.perf_counter() - began:.2f} s, including its start",
    )


async def look_at_network(url: str, settings: FetchSettings) -> DoctorFinding:
    """Fetch one URL as a crawl would, except that robots.txt is not checked."""
    egress = Egress(settings)
    try:
        response = await egress.get(url)
    except FetchError as error:
        return DoctorFinding("network", False, f"{url}: {error.reason}: {error}")
    finally:
        await egress.close()
    way = f"from {response.ip}" if response.ip else "through the proxy"
    return DoctorFinding("network", True, f"{url} answered {response.status} {way}")
