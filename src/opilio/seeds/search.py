"""Asks several search engines for seeds at the same time.

The failure of one engine does not affect the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from opilio.errors import BadInput, OpilioError, did_you_mean
from opilio.seeds.described_engine import DescribedEngine
from opilio.seeds.engines_ddgs import DdgsEngine, known_engines, usual_engines
from opilio.seeds.priority import Findings, check_limit
from opilio.seeds.searxng import SearXNG
from opilio.seeds.seed import EngineDescription, Get

MAX_QUERY = 400  # characters; engines find nothing for longer queries

log = logging.getLogger(__name__)


class Engine(Protocol):
    """Finds pages for a query; raises Transient or Unusable."""

    name: str

    async def search(self, query: str, limit: int, language: str) -> Findings:
        """The URLs found, by engine, best first."""
        ...


def make_engines(
    names: Sequence[str],
    get: Get,
    pause: float = 1.0,
    described: Mapping[str, EngineDescription] | None = None,
) -> list[Engine]:
    """The engines that `ddgs`, `ddgs:NAME`, `searxng:ADDRESS` and the names of the
    described ones mean, each once."""
    engines: dict[str, Engine] = {}
    for name in names:
        if described and name in described:
            engine = DescribedEngine(get, name, described[name], pause=pause)
            engines.setdefault(name, engine)
            continue
        kind, _, which = name.partition(":")
        match kind:
            case "searxng":
                engines.setdefault(name, SearXNG(get, which, pause=pause))
            case "ddgs":
                for each in [check_engine(which)] if which else usual_engines():
                    engines.setdefault(each, DdgsEngine(get, each, pause=pause))
            case _:
                raise BadInput(
                    f"seeds.search: {name!r} is not a search engine; write ddgs, "
                    "ddgs:NAME, searxng:https://… or a name that [seeds.engines.NAME] "
                    "describes"
                )
    return list(engines.values())


def check_engine(name: str) -> str:
    """The name, if ddgs has such an engine; otherwise BadInput lists the known ones."""
    known = known_engines()
    if name not in known:
        raise BadInput(
            f"seeds.search: ddgs has no engine {name!r}; "
            f"{did_you_mean(name, known)}known: {', '.join(known)}"
        )
    return name


async def search_all(
    engines: Sequence[Engine],
    query: str,
    limit: int,
    language: str = "en",
) -> Findings:
    """The results of all engines; OpilioError if none found anything."""
    check_limit(limit)
    question = shortened(query)
    if not question:
        raise BadInput(
            "there is no query for the search engines; add keywords or seeds.query to "
            "the topic file"
        )
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(attempt(engine, question, limit, language))
            for engine in engines
        ]
    findings: dict[str, list[str]] = {}
    troubles = []
    for engine, task in zip(engines, tasks, strict=True):
        answer = task.result()
        if isinstance(answer, str):
            troubles.append(f"{engine.name}: {answer}")
            continue
        for name, found in answer.items():
            findings.setdefault(name, []).extend(found)
    if not findings:
        raise no_answer(question, troubles)
    for trouble in troubles:
        log.warning("no seeds from %s", trouble)
    return findings


async def attempt(
    engine: Engine, query: str, limit: int, language: str
) -> Findings | str:
    """The results of an engine, or why it found nothing."""
    try:
        answer = await engine.search(query, limit, language)
    except OpilioError as error:
        return str(error)
    found = {name: urls for name, urls in answer.items() if urls}
    return found or "it found nothing"


def no_answer(query: str, troubles: Sequence[str]) -> OpilioError:
    """The error that says which engine failed and why, and what to do."""
    lines = "".join(f"\n  {trouble}" for trouble in troubles)
    return OpilioError(
        f"no search engine found anything for {query!r}:{lines}\n"
        "Check the network, try other engines (seeds.search: ddgs:NAME, or "
        "searxng:https://… with your own instance), other words (seeds.query), "
        "or give pages to start from (--seed-url URL)."
    )


def shortened(query: str) -> str:
    """The query without line breaks and the like, cut at a word if it is too long."""
    words = " ".join(query.split())
    if len(words) <= MAX_QUERY:
        return words
    return words[: MAX_QUERY + 1].rpartition(" ")[0] or words[:MAX_QUERY]
