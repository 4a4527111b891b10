"""A real Chromium for tests, if there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from serve.client import Client

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here; install chromium-headless-shell"
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page that is logged in, and what it should not do: run what was crawled,
    violate its own policy, fail."""

    def __init__(self, browser: Browser, client: Client, **options: object) -> None:
        self.client = client
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("dialog", lambda dialog: self.alarm(dialog.message, dialog))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", self.listen)
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', event => "
            "console.error('policy ' + event.violatedDirective + event.blockedURI))"
        )
        cookie, _ = client.session()
        name, _, value = cookie.partition("=")
        self.context.add_cookies([{"name": name, "value": value, "url": client.origin}])

    def alarm(self, message: str, dialog) -> None:
        self.wrong.append(f"a script ran: {message}")
        dialog.dismiss()

    def listen(self, message) -> None:
        if message.type == "error":
            self.wrong.append(message.text)

    def open(self, path: str) -> Page:
        """Go to a page of the server."""
        self.page.goto(self.client.origin + path, wait_until="domcontentloaded")
        return self.page
