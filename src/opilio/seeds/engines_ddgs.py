"""Asks the search engines that the package ddgs knows for seeds.

ddgs writes the request and parses the response. Its own HTTP client is replaced by
ours, so everything goes through the one guarded way out, under our own name.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from opilio.errors import BadInput, FetchError, OpilioError, Unusable
from opilio.records import Response
from opilio.seeds.priority import Findings
from opilio.seeds.seed import Get
from opilio.seeds.service_requests import ask
from opilio.text import content, urls

MAX_PAGES = 10
PATIENCE = 60.0  # seconds for one page of results
ENCYCLOPAEDIAS = frozenset(("wikipedia", "grokipedia"))  # one result each
COUNTRIES = {"en": "us", "hi": "in", "ja": "jp", "ko": "kr", "zh": "cn", "sv": "se",
             "da": "dk", "cs": "cz", "el": "gr", "uk": "ua", "fa": "ir", "he": "il",
             "et": "ee", "sl": "si", "bn": "bd", "ta": "in", "ur": "pk",
             "vi": "vn", "ar": "eg", "ms": "my", "sr": "rs", "nb": "no"}  # fmt: skip
_unfit = re.compile(r"[^!-~ ]").search  # in a header line


class DdgsEngine:
    """One search engine."""

    def __init__(self, get: Get, name: str, *, pause: float = 1.0) -> None:
        self.name = name
        self._get = get
        self._class = known_engines()[name]
        self._pause = pause  # seconds between two pages of results

    async def search(self, query: str, limit: int, language: str) -> Findings:
        """Page through the results until there are `limit` of them, or no new ones."""
        found: list[str] = []
        for page in range(1, MAX_PAGES + 1):
            if page > 1:
                await asyncio.sleep(self._pause)
            try:
                results = await self._page(query, page, region(language))
            except FetchError:
                if found:  # later pages are a bonus
                    break
                raise
            if set(results) <= set(found):  # the last page again is no second mention
                break
            found += results
            if len(set(found)) >= limit:
                break
        return {self.name: found}

    async def _page(self, query: str, page: int, region: str) -> list[str]:
        """The URLs on one page of results; FetchError if it cannot be read."""
        client = Client(self._get, asyncio.get_running_loop())
        engine = make_engine(self._class, client)
        try:
            async with asyncio.timeout(PATIENCE):
                results = await in_own_thread(
                    partial(engine.search, query, region=region, page=page)
                )
        except OpilioError:
            raise
        except TimeoutError:
            raise Unusable(
                "timeout", f"no answer within {PATIENCE:g} seconds"
            ) from None
        except Exception as error:  # whatever its parser raises
            raise Unusable(
                "bad_answer", f"its response cannot be read ({type(error).__name__})"
            ) from error
        finally:
            client.close()
        if client.status != 200:
            raise Unusable(f"http_{client.status}", refusal(client.status))
        return [url for result in results or () if (url := result_url(result))]


async def in_own_thread(work: Callable[[], Any]) -> Any:
    """Run a function that waits for our loop; it could starve asyncio's few threads."""
    with_one = ThreadPoolExecutor(1)
    try:
        return await asyncio.get_running_loop().run_in_executor(with_one, work)
    finally:
        with_one.shutdown(wait=False)


class Client:
    """Replaces ddgs' HTTP client; called in a thread, it sends requests in the loop."""

    def __init__(self, get: Get, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 0  # of the last answer
        self.client = self  # ddgs uses the client of its client
        self._get = get
        self._loop = loop
        self._headers: dict[str, str] = {}
        self._cookies: dict[str, Mapping[str, str]] = {}
        self._asked: Future[Response] | None = None
        self._closed = False

    def headers_update(self, headers: Mapping[str, str]) -> None:
        """Set header lines for all requests, except the user agent."""
        lines = {name.lower(): value for name, value in headers.items()}
        lines.pop("user-agent", None)
        self._headers |= lines

    def set_cookies(self, site: str, cookies: Mapping[str, str]) -> None:
        """Set cookies for a site; they only select language and country."""
        self._cookies[urlsplit(site).netloc] = cookies

    def request(
        self,
        _method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        data: Mapping[str, str] | None = None,
    ) -> EngineAnswer:
        """Ask, and wait for the answer."""
        if self._closed:
            raise Unusable("timeout", "it was asked too late")
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params)
        form = urlencode(data).encode() if data is not None else None
        asking = ask(self._get, url, headers=self._lines(url), form=form)
        self._asked = asyncio.run_coroutine_threadsafe(asking, self._loop)
        response = self._asked.result()
        self.status = response.status
        return EngineAnswer(response)

    def close(self) -> None:
        """Release a thread that still waits for a response."""
        self._closed = True
        if self._asked is not None:
            self._asked.cancel()

    def _lines(self, url: str) -> Sequence[tuple[str, str]]:
        lines = dict(self._headers)
        if cookies := self._cookies.get(urlsplit(url).netloc):
            lines["cookie"] = "; ".join(f"{name}={cookies[name]}" for name in cookies)
        return [(name, value) for name, value in lines.items() if not _unfit(value)]


class EngineAnswer:
    """A response in the form that ddgs expects."""

    def __init__(self, response: Response) -> None:
        self.status_code = response.status
        self.content = response.body
        self.text, _ = content.text(response.body, response.header("content-type"))


class Result:
    """A result with its link unchanged; ddgs' own class removes escapes that matter."""

    title = href = body = ""


def known_engines() -> dict[str, Any]:
    """The engines by name; BadInput if ddgs is not installed."""
    try:
        from ddgs.engines import ENGINES
    except ImportError:
        raise BadInput(
            "seeds.search names ddgs, which is not installed; "
            'run: pip install "opilio[search]"'
        ) from None
    return dict(sorted(ENGINES["text"].items()))


def usual_engines() -> list[str]:
    """The engines to ask when none is named: general ones, each with its own index.

    Two that search the same index would confirm each other's results.
    """
    by_index: dict[str, str] = {}
    for name, engine in known_engines().items():
        if name not in ENCYCLOPAEDIAS:
            by_index.setdefault(engine.provider, name)
    return sorted(by_index.values())


def make_engine(kind: Any, client: Client) -> Any:
    """One of ddgs' engines with our client instead of its own."""
    raw = type(kind.__name__, (kind,), {"result_type": Result})
    engine: Any = object.__new__(raw)
    engine.http_client = client
    engine.results = []
    client.headers_update(kind.headers_update)
    return engine


def region(language: str) -> str:
    """A language as ddgs writes a region: country, then language."""
    return f"{COUNTRIES.get(language, language)}-{language}"


def refusal(status: int) -> str:
    """What an answer that is no results means."""
    if status in (202, 403, 429):
        return f"it takes us for a robot (status {status}); try again later"
    return f"it answered with status {status}"


def result_url(result: Any) -> str:
    """The canonical URL of a result, without the redirect by which some engines count
    clicks; "" if it has none that can be visited."""
    href = getattr(result, "href", "")
    if not isinstance(href, str):
        return ""
    if href.startswith("//"):
        href = f"https:{href}"
    if href.startswith("https://duckduckgo.com/l/?"):
        href = parse_qs(urlsplit(href).query).get("uddg", [""])[0]
    return urls.join("", href)
