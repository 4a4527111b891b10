"""Renders pages in one browser process, which may crash without harm.

Every request of a page is intercepted and answered by `PageAnswers`; what is not
answered there fails. A page gets a context of its own: no cookies, no storage, no
service workers, no downloads, no windows.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opilio.errors import FetchError
from opilio.fetch.browser.chromium import (
    LIMITS,
    NO_NETWORK,
    environment,
    find_chromium,
    has_sandbox,
    require_playwright,
    write_starter,
)
from opilio.fetch.browser.page_requests import PageAnswers, PageRequests
from opilio.fetch.browser.page_scripts import IS_BUILT, MARKUP, NO_SOCKETS, WATCH
from opilio.records import Response
from opilio.settings import BrowserSettings
from opilio.text import urls

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Playwright, Request, Route

FETCHED = frozenset(("script", "fetch", "xhr"))  # what can change the text of a page
DATA = frozenset(("fetch", "xhr"))
MOST_POSTED = 64 * 2**10  # bytes
EMPTY = frozenset(("stylesheet",))  # scripts may wait for it
WIDTH, HEIGHT = 1280, 4000  # what is below is often built on scrolling only
FAREWELL = 5.0  # seconds to close a page or the browser
ABORTED = "aborted"  # with other errors, a page that wants to leave would be lost
PAGES = 300  # of one process; then another is started
MOST_FAILURES = 3  # starts in a row; then pages are no longer rendered
DROPPED = frozenset(
    (
        *("content-length", "content-encoding", "transfer-encoding", "connection"),
        *("set-cookie", "strict-transport-security", "alt-svc", "link", "refresh"),
        *("report-to", "nel", "reporting-endpoints", "accept-ch"),
    )
)
log = logging.getLogger(__name__)


class BrowserProcess:
    """Renders pages, some at a time; starts when it is first needed."""

    def __init__(
        self, settings: BrowserSettings, answers: PageAnswers, user_agent: str
    ) -> None:
        require_playwright()
        self.chromium = find_chromium(settings.executable)
        self.settings = settings
        self.answers = answers
        self.user_agent = user_agent
        self.starting = asyncio.Lock()
        self.playwright: Playwright | None = None
        self.browser: Browser | None = None
        self.rendered = 0  # pages of this process
        self.failures = 0  # starts in a row

    @property
    def is_usable(self) -> bool:
        """Whether the browser starts."""
        return self.failures < MOST_FAILURES

    async def render(self, response: Response) -> tuple[bytes, PageRequests]:
        """The HTML of a page after its scripts ran, b"" if that fails, and what it
        requested."""
        now = asyncio.get_running_loop().time()
        requests = PageRequests(response.url, now)
        for _ in range(2):  # again if the browser died, perhaps of another page
            browser = None
            try:
                browser = await self.start()
                markup = await self.render_in(browser, response, requests)
                return markup.encode("utf-8", "replace"), requests
            except Exception as error:  # playwright has errors of any kind
                log.debug("%s was not rendered: %s", response.url, error)
                if browser is not None and browser.is_connected():
                    break
        return b"", requests

    async def render_in(
        self, browser: Browser, response: Response, requests: PageRequests
    ) -> str:
        """Load the page and wait until it is built."""
        context = await browser.new_context(
            service_workers="block",
            accept_downloads=False,
            viewport={"width": WIDTH, "height": HEIGHT},
            user_agent=self.user_agent,
            extra_http_headers={},
        )
        self.rendered += 1
        pending = PendingRequests(self.answers, response, requests)
        try:
            await context.add_init_script(NO_SOCKETS + WATCH)
            await context.route("**/*", pending.handle)
            await context.route_web_socket("**/*", lambda socket: socket.close())
            page = await context.new_page()
            context.on("page", close_window)
            requests.is_late = True
            with suppress(TimeoutError):  # what is there by then will do
                async with asyncio.timeout(self.settings.render_timeout):
                    await page.goto(response.url, wait_until="commit", timeout=0)
                    await pending.until_built(page)
                    requests.is_late = False
            async with asyncio.timeout(FAREWELL):
                markup = await page.evaluate(MARKUP)
            return markup if isinstance(markup, str) else ""
        finally:
            pending.is_over = True
            if not await close(context):
                await self.stop()  # a page holds it up

    async def start(self) -> Browser:
        """The browser, restarted if it crashed or has rendered many pages."""
        async with self.starting:
            if self.rendered >= PAGES:
                await self.stop()
            if self.browser is None or not self.browser.is_connected():
                await self.stop()
                try:
                    self.browser = await self.launch()
                except Exception as error:
                    self.failures += 1
                    if not self.is_usable:
                        log.warning(
                            "The browser %s does not start (%s); pages are no longer "
                            "rendered",
                            self.chromium,
                            str(error).partition("\n")[0],
                        )
                    raise
                self.failures = 0
            return self.browser

    async def launch(self) -> Browser:
        """Start the process."""
        from playwright.async_api import async_playwright

        self.playwright = await async_playwright().start()
        with tempfile.TemporaryDirectory(prefix="opilio-browser-") as folder:
            return await self.playwright.chromium.launch(
                executable_path=write_starter(self.chromium, Path(folder)),
                args=[*NO_NETWORK, *LIMITS],
                env=environment(),
                chromium_sandbox=has_sandbox(),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )

    async def stop(self) -> None:
        """End the process, if there is one."""
        browser, self.browser = self.browser, None
        playwright, self.playwright = self.playwright, None
        self.rendered = 0
        if browser:
            await close(browser)
        if playwright:
            with suppress(Exception):
                await asyncio.wait_for(playwright.stop(), FAREWELL)

    async def close(self) -> None:
        """End the process for good."""
        await self.stop()


async def close_window(window: Page) -> None:
    """Close a window that a page has opened."""
    await close(window)


async def close(thing: Any) -> bool:
    """Close a page, a context or the browser; whether that worked in time."""
    try:
        await asyncio.wait_for(thing.close(), FAREWELL)
    except Exception:
        return False
    return True


class PendingRequests:
    """The requests of a page that are being answered."""

    def __init__(
        self, answers: PageAnswers, response: Response, requests: PageRequests
    ) -> None:
        self.answers = answers
        self.response = response
        self.requests = requests
        self.count = 0
        self.total = 0  # with those that were answered
        self.are_answered = asyncio.Event()
        self.is_served = False  # the page itself
        self.is_over = False

    async def handle(self, route: Route) -> None:
        """Answer a request of the page."""
        self.count += 1
        self.total += 1
        self.are_answered.clear()
        try:
            await self.answer(route)
        except Exception as error:  # also of playwright, if the page is gone
            if not isinstance(error, FetchError):
                log.debug("%s: %s", self.response.url, error)
            with suppress(Exception):
                await route.abort(ABORTED)
        finally:
            self.count -= 1
            if not self.count:
                self.are_answered.set()

    async def answer(self, route: Route) -> None:
        """The page itself comes from what was fetched; windows, pictures and whatever
        else is not wanted fail."""
        request = route.request
        kind = request.resource_type
        if kind == "document" and not self.is_served:
            self.is_served = True
            await route.fulfill(
                status=self.response.status,
                headers=headers_of(self.response),
                body=self.response.body,
            )
        elif kind == "document" and request.frame.parent_frame is None:
            if request.method == "GET":
                self.requests.leads_to = self.requests.leads_to or request.url
            await route.abort(ABORTED)
        elif kind in EMPTY:
            await route.fulfill(status=200, content_type="text/css", body="")
        elif self.is_wanted(kind, request):
            url = request.url.partition("#")[0]
            posted = request.post_data_buffer or b""
            found = await self.answers.answer(url, self.requests, posted)
            headers = headers_of(found)
            # Answers carry no secrets: every script of the page may read them.
            origin = request.headers.get("origin", "*")
            headers["access-control-allow-origin"] = origin
            headers["access-control-allow-credentials"] = "true"
            await route.fulfill(status=found.status, headers=headers, body=found.body)
        else:
            await route.abort(ABORTED)

    def is_wanted(self, kind: str, request: Request) -> bool:
        """Whether this can change the text of the page: scripts, data, and frames of
        the same origin, whose text is read. Only questions in JSON are posted, such as
        those of GraphQL, and only to the site of the page."""
        here, there = self.response.url, request.url
        if self.is_over:
            return False
        if kind == "document":
            return request.method == "GET" and urls.origin(there) == urls.origin(here)
        if request.method == "POST":
            return (
                kind in DATA
                and urls.same_site(here, there)
                and "json" in request.headers.get("content-type", "")
                and 0 < len(request.post_data_buffer or b"") <= MOST_POSTED
            )
        return request.method == "GET" and kind in FETCHED

    async def until_built(self, page: Page) -> None:
        """Wait until the page awaits nothing and no longer changes. The event "load"
        may never come: some pages want to leave."""
        known = -1
        while self.count or known != self.total:
            await self.are_answered.wait()
            known = self.total
            await page.evaluate(IS_BUILT)


def headers_of(response: Response) -> dict[str, str]:
    """The headers of a response as the browser gets them, with its body decoded."""
    return {name: value for name, value in response.headers if name not in DROPPED}
