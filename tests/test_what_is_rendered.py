"""Which pages `auto` renders: signs in the markup, and what was learnt before."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import msgspec
import pytest

from opilio.crawl.rendering import Rendering, Tabs
from opilio.crawl.script_signs import looks_scripted
from opilio.read.html import PageReader
from opilio.records import Lease, ReaderSetup, Reading, Response
from opilio.settings import BrowserSettings

READER = PageReader(ReaderSetup(terms=("bee",), language="en"))
WORDS = "<p>" + "The bees of this hive fly far. " * 12 + "<a href=/x>x</a></p>"
SCRIPT = "<script>let a = 1;</script>"
LONG = f"<script>{'let a = 1;' * 3000}</script>"


def response(body: str, url: str = "http://a.test/1", **more: str) -> Response:
    headers = [("content-type", more.get("kind", "text/html"))]
    return Response(url, 200, headers, body.encode(), 0.0)


SCRIPTED = {
    "hardly any words": f"<p>Loading…</p>{SCRIPT}",
    "no links": WORDS.replace("<a href=/x>x</a>", "") + SCRIPT,
    "an empty root": f'{WORDS}<div id="root"></div>{SCRIPT}',
    "a root with a comment": f"{WORDS}<div class=app a=1> <!-- x --> </div>{SCRIPT}",
    "an element of its own": f"{WORDS}<app-root></app-root>{SCRIPT}",
    "a wish": f"{WORDS}<noscript><p>Enable JavaScript.</p></noscript>{SCRIPT}",
    "far more script than text": WORDS + LONG,
}
PLAIN = {
    "no script": "<p>Loading…</p>",
    "a short page": WORDS + SCRIPT,
    "much text": WORDS * 5 + f'<div id="root"></div>{LONG}',
    "a full root": f'<div id="root">{WORDS}</div>{SCRIPT}',
    "another wish": f"{WORDS}<noscript><img src=pixel></noscript>{SCRIPT}",
}


@pytest.mark.parametrize("name", SCRIPTED | PLAIN)
def test_signs_of_pages_that_scripts_build(name: str) -> None:
    answered = response((SCRIPTED | PLAIN)[name])
    assert looks_scripted(answered, READER.read(answered)) == (name in SCRIPTED)


@pytest.mark.parametrize(
    "piece", ["<script", "<noscript>", "<a<", "<div id=root", "<a-b>  ", "<a id=app>\n"]
)
def test_signs_are_looked_for_in_linear_time(piece: str) -> None:
    page = READER.read(response(WORDS + SCRIPT))
    hostile = response(f"<script>{piece * 40_000}")
    began = time.process_time()
    looks_scripted(hostile, page)
    assert time.process_time() - began < 0.5


class Builder:
    """Stands for the browser: it builds the pages whose URL says so."""

    is_usable = True

    def __init__(self) -> None:
        self.rendered: list[str] = []

    async def render(self, answered: Response) -> tuple[bytes, SimpleNamespace]:
        self.rendered.append(answered.url)
        if "dead" in answered.url:
            built = ""
        else:
            built = WORDS * 3 if "built" in answered.url else "<p>Loading…</p>"
        hindered = "hindered" in answered.url
        requests = SimpleNamespace(fetched=[], leads_to="", is_hindered=hindered)
        return built.encode(), requests


class Readers:
    """Reads in this process."""

    async def read(self, answered: Response) -> Reading:
        return Reading(READER.read(answered))


def made(mode: str = "auto") -> Rendering:
    settings = BrowserSettings(render=mode)  # type: ignore[arg-type]
    return Rendering(settings, Builder(), Readers())  # type: ignore[arg-type]


async def visit(
    rendering: Rendering, path: str, template: int, host: str = "a.test"
) -> bool:
    """Visit a page that looks as if scripts built it; was it changed?"""
    url = f"http://{host}/{path}"
    lease = Lease(1, url, 1, host, 0.5, template=template)
    answered = response(f"<p>Loading…</p>{SCRIPT}", url)
    reading = Reading(READER.read(answered))
    found, _, _ = await rendering.read(lease, answered, reading)
    return bool(found.rendered)


async def test_templates_that_rendering_does_not_change_are_left_alone() -> None:
    rendering = made()
    for n in range(40):
        assert await visit(rendering, f"built/{n}", 1)
        assert not await visit(rendering, f"same/{n}", 2)
    urls = rendering.browser.rendered  # type: ignore[attr-defined]
    assert sum("built" in url for url in urls) == 40
    assert sum("same" in url for url in urls) <= 4


async def test_a_host_that_never_pays_is_hardly_tried_again() -> None:
    rendering = made()
    for template in range(40):
        assert not await visit(rendering, "same", template)
    assert len(rendering.browser.rendered) <= 8  # type: ignore[attr-defined]


@pytest.mark.parametrize("trouble", ["dead", "hindered"])
async def test_a_page_that_fails_says_nothing_about_the_next(trouble: str) -> None:
    rendering = made()
    for n in range(2):
        assert not await visit(rendering, f"{trouble}/{n}", 1)
    assert await visit(rendering, "built/1", 1)
    assert rendering.learnt.failed == 2
    rendering = made()
    for n in range(40):
        await visit(rendering, f"{trouble}/{n}", 1)
    assert len(rendering.browser.rendered) <= 4  # type: ignore[attr-defined]


async def test_what_did_not_pay_is_tried_again_later() -> None:
    rendering = made()
    for n in range(10):
        await visit(rendering, f"same/{n}", 2)
    changed = [await visit(rendering, f"built/{n}", 2) for n in range(100)]
    assert True in changed  # the template has begun to need it


async def test_what_was_learnt_survives_a_restart() -> None:
    rendering, again = made(), made()
    for n in range(10):
        await visit(rendering, f"same/{n}", 2)
    dumped = rendering.dump()
    assert dumped and rendering.dump() is None
    again.load(dumped)
    await visit(again, "same/11", 2)
    assert not again.browser.rendered  # type: ignore[attr-defined]


async def test_only_pages_are_rendered_and_each_once() -> None:
    rendering = made("always")
    lease = Lease(1, "http://a.test/", 1, "a.test", 0.5)
    text = response("words", kind="text/plain")
    await rendering.read(lease, text, Reading(READER.read(text)))
    page = msgspec.structs.replace(response(WORDS), rendered=b"<p>done")
    await rendering.read(lease, page, Reading(READER.read(page)))
    assert not rendering.browser.rendered  # type: ignore[attr-defined]


async def test_the_most_promising_page_is_rendered_next() -> None:
    tabs, order = Tabs(1), []

    async def use(promise: float) -> None:
        async with tabs.one(promise):
            order.append(promise)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(use(promise)) for promise in (0.5, 0.1, 0.9, 0.3)]
        await asyncio.sleep(0)
        tasks[3].cancel()
    assert order == [0.5, 0.9, 0.1] and tabs.free == 1
