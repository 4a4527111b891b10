"""Takes pictures of every page of `opilio serve`, light and dark, for the docs:
`python -m bench.screenshots docs/images`.

It serves a synthetic web, crawls it for beekeeping with a small ontology, gives some
labels, compares strategies on another web, and opens the pages in Chromium
(`chromium-headless-shell` or `chromium`). Files that end in .png instead of .jpg are
for looking at: `python -m bench.screenshots FOLDER png`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from opilio.cli.demo import TOPIC, demo_topic, served
from opilio.serve.login import read_token

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
WIDTH, HEIGHT, PHONE = 1180, 820, 390
WHOLE = ("overview", "topic", "labels", "lab", "start")  # pages shown to their end
QUALITY = 55  # of JPEG
KIND = "jpg"
COMPARED = "breadth-first,best-first,shark-search,opilio"
PAGES = 4_000
ENOUGH = 400  # pages before the pictures are taken
ONTOLOGY = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/bees#> .
:beekeeping a skos:Concept ; skos:prefLabel "beekeeping"@en .
:animal a skos:Concept ; skos:prefLabel "bee"@en ; skos:broader :beekeeping .
:queen a skos:Concept ; skos:prefLabel "queen bee"@en ; skos:broader :animal .
:swarm a skos:Concept ; skos:prefLabel "swarm"@en ; skos:broader :animal .
:product a skos:Concept ; skos:prefLabel "bee product"@en ; skos:broader :beekeeping .
:honey a skos:Concept ; skos:prefLabel "honey"@en ; skos:broader :product .
:beeswax a skos:Concept ; skos:prefLabel "beeswax"@en ; skos:broader :product .
:pollen a skos:Concept ; skos:prefLabel "pollen"@en ; skos:broader :product .
:home a skos:Concept ; skos:prefLabel "hive"@en ; skos:broader :beekeeping .
:frame a skos:Concept ; skos:prefLabel "brood frame"@en ; skos:broader :home .
"""
TOPIC_FILE = """
name = "{name}"
keywords = {keywords}
seeds = {seeds}

[ontology]
files = ["bees.ttl"]
concepts = ["beekeeping"]
"""


def main(target: Path) -> None:
    """Take all pictures."""
    asyncio.run(crawl_and_take(target))


async def crawl_and_take(target: Path) -> None:
    """Crawl a synthetic web, and take the pictures while the crawl runs."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "crawls"
        root.mkdir()
        topic = demo_topic()
        (root / "bees.ttl").write_text(ONTOLOGY)
        (root / "beekeeping.toml").write_text(
            TOPIC_FILE.format(
                name=TOPIC,
                keywords=list(topic.weights()),
                seeds=list(topic.sources.urls),
            )
        )
        await asyncio.to_thread(compare, root)
        async with served() as proxy:
            crawl = start(
                "crawl",
                str(root / "beekeeping.toml"),
                *("-o", str(root / "beekeeping"), "--proxy", proxy, "--delay", "0.8"),
                *("--max-pages", str(PAGES), "-q"),
            )
            try:
                await asyncio.to_thread(wait_for_pages, root / "beekeeping")
                await asyncio.to_thread(take_all, root, proxy, target)
            finally:
                crawl.terminate()
                crawl.wait()


def compare(root: Path) -> None:
    """Compare some strategies in the lab, on a small web."""
    web = root.parent / "synthetic"
    for words in (
        ("web", str(web), "--pages", "600", "--hosts", "20", "--topics", "4"),
        (
            "compare",
            "--web",
            str(web),
            "--strategies",
            COMPARED,
            "--judges",
            "opilio",
            "-o",
            str(root / "strategies"),
        ),
    ):
        process = start("lab", *words)
        process.communicate()


def start(*words: str) -> subprocess.Popen[str]:
    """Start a command of opilio."""
    command = [sys.executable, "-m", "opilio.cli", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for_pages(folder: Path, pages: int = ENOUGH) -> None:
    """Wait until a crawl has some hundred pages."""
    from opilio.serve.figures import figures_or_none
    from opilio.store.folder import CrawlFolder

    for _ in range(600):
        found = figures_or_none(CrawlFolder(folder))
        if found and found.pages >= pages:
            return
        time.sleep(0.5)


def take_all(root: Path, proxy: str, target: Path) -> None:
    """Serve the crawls, and take the picture of each page."""
    token = root.parent / "token"
    server = start("serve", str(root), "--port", "0", "--token-file", str(token))
    try:
        line = server.stdout.readline() if server.stdout else ""
        origin = line.split()[1].partition("/login")[0]
        secret = read_token(token)
        give_labels(origin, secret)
        with chromium() as browser:
            for scheme in ("light", "dark"):
                take_pages(browser, origin, secret, proxy, target, scheme)
    finally:
        server.terminate()
        server.wait()


def give_labels(origin: str, secret: str) -> None:
    """Label some pages as the judge does, to show what labels teach."""
    headers = {"authorization": f"Bearer {secret}"}
    place = f"{origin}/api/v1/crawls/beekeeping"

    def call(path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{place}/{path}", data, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    for page in call("labels")["asked"][:8]:
        words = [page["url"], "yes" if page["score"] > 0.3 else "no"]
        words += ["check"] if page["check"] else []
        call("tell", {"verb": "label", "words": words})


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("no Chromium here; install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


def take_pages(
    browser: Browser, origin: str, secret: str, proxy: str, target: Path, scheme: str
) -> None:
    """Take the pictures of all pages in one colour scheme."""
    page = logged_in(browser, origin, secret, scheme, WIDTH, HEIGHT)
    base = "/crawls/beekeeping"
    for name, path in (
        ("overview", base),
        ("search", f"{base}/search?q=queen+bee"),
        ("labels", f"{base}/labels"),
        ("topic", f"{base}/topic"),
        ("links", f"{base}/links"),
        ("sites", f"{base}/sites"),
        ("map", f"{base}/map"),
        ("start", "/start"),
        ("lab", "/lab"),
    ):
        page.goto(origin + path)
        page.wait_for_timeout(700)
        take(page, target, name, scheme)
    page.goto(f"{origin}{base}/search?q=queen+bee")
    page.locator("[data-entry]").first.click()
    page.wait_for_load_state()
    take(page, target, "page", scheme)
    preview(page, origin, proxy, scheme)
    take(page, target, "preview", scheme)
    page.goto(origin)
    take(page, target, "crawls", scheme)
    page.context.close()
    page = logged_in(browser, origin, secret, scheme, PHONE, HEIGHT)
    page.goto(origin + base)
    page.wait_for_timeout(700)
    take(page, target, "phone", scheme)
    page.context.close()


def logged_in(
    browser: Browser, origin: str, secret: str, scheme: str, width: int, height: int
) -> Page:
    """A page of a browser that is logged in."""
    shape = {"width": width, "height": height}
    context = browser.new_context(color_scheme=scheme, viewport=shape)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{origin}/login")
    page.fill("#token", secret)
    page.press("#token", "Enter")
    page.wait_for_load_state()
    return page


def preview(page: Page, origin: str, proxy: str, scheme: str) -> None:
    """Start a crawl by the form, up to its preview."""
    page.goto(f"{origin}/start")
    page.fill("#subject", f"Volcanoes {scheme}")
    page.fill("#keywords", "volcano, lava, crater, eruption")
    page.fill("#seeds", "http://www.narrow-rule.test/\nhttp://www.simple-tool.test/")
    page.fill("#contact", "me@example.org")
    page.click("summary")
    page.fill("#proxy", proxy)
    page.get_by_role("button", name="Fetch the first pages").click()
    page.get_by_text("ready").wait_for(timeout=60_000)


def take(page: Page, target: Path, name: str, scheme: str) -> None:
    """One picture."""
    file = target / f"serve-{name}-{scheme}.{KIND}"
    how = {"quality": QUALITY, "type": "jpeg"} if KIND == "jpg" else {"type": "png"}
    page.screenshot(path=file, full_page=name in WHOLE, **how)  # type: ignore[arg-type]
    print(f"{file}: {file.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    KIND = sys.argv[2] if len(sys.argv) > 2 else KIND
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"))
