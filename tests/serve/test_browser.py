"""The pages in real Chromium: every one of them, hostile text, keys, a phone, a crawl
that moves."""

import sqlite3
from contextlib import closing
from itertools import combinations
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from bee_web import bee_web
from crawling import serving
from serve.browser import Watched, chromium, needs_chromium
from serve.client import Client

pytestmark = needs_chromium
VIOLATIONS = {"resultTypes": ["violations"]}  # axe lists nothing else in full
RULES = {  # in the dark and on a phone, only those that depend on colours and layout
    "light": VIOLATIONS,
    "dark": VIOLATIONS
    | {"runOnly": ["color-contrast", "scrollable-region-focusable", "target-size"]},
}
PAGES = (
    "/",
    "/crawls/bees",
    "/crawls/bees/search",
    "/crawls/bees/search?q=honey",
    "/crawls/bees/page?id=2",
    "/crawls/bees/labels",
    "/crawls/bees/topic",
    "/crawls/bees/links",
    "/crawls/bees/sites",
    "/crawls/bees/map",
    "/start",
    "/lab",
)


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


def test_pages_are_accessible_and_fit_a_phone(browser, shared_server: Client):
    for scheme, width in (("light", 1280), ("dark", 390)):
        shape = {"width": width, "height": 800}
        seen = Watched(browser, shared_server, color_scheme=scheme, viewport=shape)
        for path in PAGES:
            page = seen.open(path)
            found = Axe().run(page, options=RULES[scheme]).response["violations"]
            bad = [
                (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
                for one in found
                if one["impact"] in ("serious", "critical")
            ]
            assert not bad, (path, scheme, bad)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (path, wide)
        assert seen.wrong == []
        seen.context.close()


def test_hostile_titles_urls_and_texts_run_nothing(browser, shared_server: Client):
    seen = Watched(browser, shared_server)
    kept = shared_server.api("crawls/bees/links?state=kept&page=1")["links"]
    more = shared_server.api("crawls/bees/links?state=kept&page=2")["links"]
    assert len(kept + more) >= 99
    for page in (1, 2, 3):
        seen.open(f"/crawls/bees/links?state=kept&page={page}")
    for page in range(1, 11):  # all hundred, with their snippets
        seen.open(f"/crawls/bees/search?q=honey&page={page}")
    for link in kept[:12]:  # every kind of attack
        seen.open(f"/crawls/bees/page?id={link['id']}")
        heading = seen.page.text_content("h1") or ""
        assert heading.strip().startswith("Bee")
    seen.open("/crawls/bees")
    seen.page.wait_for_selector("[data-events][data-version]")  # an event was shown
    assert seen.wrong == []
    addresses = seen.page.eval_on_selector_all("a", "all => all.map(a => a.protocol)")
    assert set(addresses) == {"http:"}
    seen.context.close()


def test_keys(browser, shared_server: Client):
    seen = Watched(browser, shared_server)
    page = seen.open("/crawls/bees")
    page.keyboard.press("/")
    page.keyboard.type("honey")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=honey")
    page.locator("main").click(position={"x": 2, "y": 2})
    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("[data-entry]").nth(1)
    expect(second).to_be_focused()
    page.keyboard.press("o")
    page.wait_for_url("**/page?id=*")
    page.keyboard.press("g")
    page.keyboard.press("1")
    page.wait_for_url("**/crawls/bees")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "A"
    assert seen.wrong == []
    seen.context.close()


def test_names_on_the_map_do_not_cover_each_other(
    browser, serve_folder, own_crawl: Path
):
    with closing(sqlite3.connect(own_crawl / "crawl.db")) as db:
        first = db.execute("SELECT max(id) + 1 FROM host").fetchone()[0]
        for n in range(first, first + 200):
            name = f"a-host-with-a-long-name-{n}.test"
            db.execute(
                "INSERT INTO host (id, name, domain) VALUES (?, ?, ?)", (n, name, name)
            )
            db.execute(
                "INSERT INTO site SELECT ?, ?, 1, concepts, modified, entry, root "
                "FROM site LIMIT 1",
                (n, n),
            )
        db.commit()
    client: Client = serve_folder(own_crawl.parent)
    seen = Watched(browser, client)
    page = seen.open("/crawls/bees/map")

    def names() -> list[dict]:
        return page.eval_on_selector_all(
            ".mapnames text[visibility=visible]",
            "all => all.map(text => text.getBoundingClientRect().toJSON())",
        )

    for _ in range(2):
        boxes = names()
        assert len(boxes) >= 5
        for one, other in combinations(boxes, 2):
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            assert across < 2 or down < 3  # pixels; lines are higher than letters
        assert all(11 <= box["height"] <= 22 for box in boxes)  # at every zoom
        page.get_by_role("button", name="Zoom in").click(click_count=3)
    assert seen.wrong == []
    seen.context.close()


def test_labels_by_one_key_each(browser, serve_folder, own_crawl: Path):
    client: Client = serve_folder(own_crawl.parent)
    seen = Watched(browser, client)
    page = seen.open("/crawls/bees/labels")
    first = page.locator(".tolabel:visible").get_attribute("data-url")
    page.keyboard.press("n")
    expect(page.locator("#said")).to_contain_text("kept until the crawl runs")
    page.keyboard.press("s")
    shown = page.locator(".tolabel:visible")
    if shown.count():
        assert shown.get_attribute("data-url") != first
    from opilio.store.folder import CrawlFolder
    from opilio.store.inbox import all_sent

    (sent,) = all_sent(CrawlFolder(own_crawl))
    assert '"relevant":false' in sent.body
    assert seen.wrong == []
    seen.context.close()


def test_from_the_form_to_a_moving_chart(browser, serve_folder, tmp_path: Path):
    client: Client = serve_folder(tmp_path)
    with serving(bee_web(pages=300)) as server:
        seen = Watched(browser, client)
        page = seen.open("/")  # there is no crawl yet, so the form is shown at once
        page.fill("#subject", "Honey bees")
        page.fill("#keywords", "honey bee, hive")
        page.fill("#seeds", "http://seed.test/")
        page.fill("#contact", "me@example.org")
        page.click("summary")
        page.fill("#proxy", server.proxy_url)
        page.fill("#delay", "0.1")
        page.get_by_role("button", name="Fetch the first pages").click()
        expect(page.get_by_text("ready")).to_be_visible(timeout=40_000)
        assert page.locator("[data-entry]").count() == 8 + 20  # pages, and links
        page.fill("[name=max_pages]", "250")
        page.get_by_role("button", name="Start the crawl").click()
        expect(page.locator("[data-state]")).to_have_text("running", timeout=20_000)
        line = page.locator("[data-path=overall]")
        before = line.get_attribute("d")
        page.wait_for_function(
            "was => document.querySelector('[data-path=overall]').getAttribute('d')"
            " !== was",
            arg=before,
            timeout=20_000,
        )
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("[data-state]")).to_have_text("paused", timeout=20_000)
        page.get_by_role("button", name="Resume").click()
        expect(page.locator("[data-state]")).to_have_text("running", timeout=20_000)
        search = "/crawls/honey-bees/search?q=bee+200"
        page = seen.open(search)
        page.get_by_role("button", name="Fetch more for this query").click()
        expect(page.locator(".progress.done")).to_be_visible(timeout=60_000)
        expect(page.locator(".result .marknew").first).to_be_visible()
        page = seen.open("/crawls/honey-bees")
        page.get_by_role("button", name="Stop").first.click()
        expect(page.locator("[data-state]")).to_have_text("stopped", timeout=30_000)
        assert seen.wrong == []
        seen.context.close()
