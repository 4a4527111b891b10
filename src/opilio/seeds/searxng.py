"""Asks a SearXNG instance for seeds.

The API: https://docs.searxng.org/dev/search_api.html. A result names the engines that
found it, so one instance counts as several engines.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from opilio.errors import BadInput, FetchError, Unusable
from opilio.records import Response
from opilio.seeds.priority import Findings
from opilio.seeds.seed import Get
from opilio.seeds.service_requests import MAX_BYTES, ask
from opilio.text import urls

MAX_PAGES = 10
MAX_ENGINES = 30  # that one instance may name
REFUSED = (
    "it refuses JSON (status 403); if it is yours, add json to search.formats in its "
    "settings.yml, otherwise use another instance"
)


class SearXNG:
    """One instance."""

    def __init__(self, get: Get, address: str, *, pause: float = 1.0) -> None:
        self.name = f"searxng:{address}"
        self._get = get
        self._search = search_address(address)
        self._pause = pause  # seconds between two pages of results

    async def search(self, query: str, limit: int, language: str) -> Findings:
        """Page through the results until there are `limit` of them, or no new ones."""
        findings: dict[str, list[str]] = {}
        seen: set[str] = set()
        for page in range(1, MAX_PAGES + 1):
            if page > 1:
                await asyncio.sleep(self._pause)
            asked = {"q": query, "format": "json", "pageno": page, "language": language}
            try:
                response = await ask(self._get, f"{self._search}?{urlencode(asked)}")
                results = list(read_results(response))
            except FetchError:
                if seen:  # later pages are a bonus
                    break
                raise
            if seen.issuperset(url for url, _ in results):
                break  # the last page again is no second mention
            for url, engines in results:
                for engine in engines:
                    if engine in findings or len(findings) < MAX_ENGINES:
                        findings.setdefault(engine, []).append(url)
            seen.update(url for url, _ in results)
            if len(seen) >= limit:
                break
        return findings


def search_address(address: str) -> str:
    """The search URL of `https://searx.example.org/`; BadInput if it is not a URL."""
    base = urls.join("", address)
    if not base or "?" in base:
        raise BadInput(
            f"seeds.search: searxng:{address} is not an instance; write it like "
            "searxng:https://searx.example.org"
        )
    return f"{base.rstrip('/').removesuffix('/search')}/search"


def read_results(response: Response) -> Iterator[tuple[str, list[str]]]:
    """Each result's URL and the engines that found it; invalid results are skipped."""
    if response.status == 403:
        raise Unusable("http_403", REFUSED)
    if response.status != 200:
        raise Unusable(
            f"http_{response.status}", f"it answered with status {response.status}"
        )
    try:
        # One result with a lone surrogate or a number of a thousand digits must not
        # cost the others, so a lenient parser is used.
        text = response.body.decode("utf-8-sig", "replace")
        answer = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        raise Unusable("bad_answer", unreadable(response)) from None
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise Unusable("bad_answer", "its response has no results; is it a SearXNG?")
    for result in results:
        if isinstance(result, dict) and isinstance(found := result.get("url"), str):
            url = urls.join("", found)
            if url:
                yield url, named_engines(result)


def unreadable(response: Response) -> str:
    """Why an answer is no JSON."""
    match response.truncated:
        case "":
            return "its answer is no JSON; is it a SearXNG?"
        case "length":
            return f"its answer is longer than the {MAX_BYTES:,} bytes that are read"
        case cut:
            return f"its answer was cut short ({cut})"


def named_engines(result: dict[str, Any]) -> list[str]:
    """The engines that a result names; the instance itself when it names none."""
    names = result.get("engines")
    if not isinstance(names, list):
        names = [result.get("engine")]
    known = {
        name[:40] for name in names if isinstance(name, str) and name.isprintable()
    }
    return sorted(known - {""}) or ["searxng"]
