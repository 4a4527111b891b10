"""Asks a search service that the topic file describes for seeds.

The topic file has its address, and where the links are in its JSON answer. Answers in
Atom, RSS or JSON Feed, as OpenSearch services give them, need no path.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote_plus

from opilio.errors import BadInput, FetchError, Unusable
from opilio.records import Response
from opilio.seeds.feeds import feed_links
from opilio.seeds.priority import Findings
from opilio.seeds.seed import EngineDescription, Get
from opilio.seeds.service_requests import MAX_BYTES, ask
from opilio.text import urls

MAX_PAGES = 10
MAX_LINKS = 5000  # of one answer
EVERY = "[]"  # in a path: each element of a list
PARTS = ("{query}", "{page}", "{start}", "{limit}", "{language}")


class DescribedEngine:
    """Asks one service."""

    def __init__(
        self, get: Get, name: str, description: EngineDescription, *, pause: float = 1.0
    ) -> None:
        self.name = name
        self._get = get
        self._template = checked(name, description.url)
        self._path = steps(name, description.links) if description.links else ()
        self._pause = pause  # seconds between two pages of results

    async def search(self, query: str, limit: int, language: str) -> Findings:
        """Page through the results until there are `limit` of them, or no new ones."""
        found: list[str] = []
        for page in range(1, MAX_PAGES + 1):
            if page > 1:
                await asyncio.sleep(self._pause)
            url = filled(self._template, query, page, len(found), limit, language)
            try:
                response = await ask(self._get, url)
                results = await asyncio.to_thread(self.read, response)
            except FetchError:
                if found:  # later pages are a bonus
                    break
                raise
            if set(results) <= set(found):  # the last page again is no second mention
                break
            found += results
            paged = "{page}" in self._template or "{start}" in self._template
            if len(set(found)) >= limit or not paged:
                break
        return {self.name: found}

    def read(self, response: Response) -> list[str]:
        """The links of an answer; Unusable if it cannot be read."""
        if response.status != 200:
            raise Unusable(
                f"http_{response.status}", f"it answered with status {response.status}"
            )
        if response.truncated:
            raise Unusable(
                "bad_answer",
                f"its answer was cut short ({response.truncated}; at most "
                f"{MAX_BYTES:,} bytes are read)",
            )
        if not self._path:
            links = feed_links(response)
            if not links and b"<" not in response.body[:100].lstrip()[:1]:
                raise Unusable(
                    "bad_answer",
                    "its answer is neither Atom nor RSS nor a JSON Feed; if it is "
                    "other JSON, say where the links are: links = 'results[].url'",
                )
            return links[:MAX_LINKS]
        return list(self.links_in_json(response))

    def links_in_json(self, response: Response) -> Iterator[str]:
        """The links at the path; whatever is odd there is left out."""
        try:
            answer = json.loads(
                response.body.decode("utf-8-sig", "replace"), parse_int=float
            )
        except (ValueError, RecursionError):
            raise Unusable("bad_answer", "its answer is no JSON") from None
        values = [answer]
        for place, step in enumerate(self._path):
            values = list(stepped(values, step))
            if not values and not any(one == EVERY for one in self._path[:place]):
                raise Unusable(
                    "bad_answer",
                    f"its answer has no {written(self._path[: place + 1])}; links must "
                    "say where they are, like 'results[].url'",
                )
        base = urls.page(response.url)
        for value in values[:MAX_LINKS]:
            if isinstance(value, str) and (url := urls.join(base, value)):
                yield url


def checked(name: str, template: str) -> str:
    """The template; BadInput if nothing can be asked by it."""
    plain = template
    for part in PARTS:
        plain = plain.replace(part, "1")
    if not urls.join("", plain) or "{" in plain:
        raise BadInput(
            f"seeds.engines.{name}: url = {template!r} is no address; write it like "
            "'https://search.example.org/api?q={query}&page={page}'; known: "
            f"{', '.join(PARTS)}"
        )
    if "{query}" not in template:
        raise BadInput(
            f"seeds.engines.{name}: url must say where the question goes: {{query}}"
        )
    return template


def filled(
    template: str, query: str, page: int, start: int, limit: int, language: str
) -> str:
    """The address to ask; `start` is how many results there are already."""
    values = (query, str(page), str(start), str(limit), language)
    url = template
    for part, value in zip(PARTS, values, strict=True):
        url = url.replace(part, quote_plus(value))
    return url


def steps(name: str, path: str) -> tuple[str, ...]:
    """A path like `data.results[].url` as keys, `[]` for each element of a list."""
    found = tuple(
        step
        for part in path.split(".")
        for step in part.replace(EVERY, f"\n{EVERY}").split("\n")
        if step
    )
    if not found or any(("[" in one or "]" in one) and one != EVERY for one in found):
        raise BadInput(
            f"seeds.engines.{name}: links = {path!r} is no path; write it like "
            "'results[].url': keys with dots between them, [] for each of a list"
        )
    return found


def stepped(values: Sequence[Any], step: str) -> Iterator[Any]:
    """What is one step further in each value that has it."""
    for value in values:
        if step == EVERY:
            if isinstance(value, list):
                yield from value[:MAX_LINKS]
        elif isinstance(value, dict) and step in value:
            yield value[step]


def written(path: Sequence[str]) -> str:
    """A path as the topic file has it."""
    return ".".join(path).replace(f".{EVERY}", EVERY)
