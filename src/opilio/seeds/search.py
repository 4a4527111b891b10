"""Names of search engines and a question in; what each of them found out.

The engines are asked at the same time, and each fails on its own.
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

MAX_QUERY = 400  # characters; engines answer longer questions with nothing

log = logging.getLogger(__name__)


class Engine(Protocol):
    """Finds pages for a question; raises Transient or Unusable."""

    name: str

    async def search(self, query: str, limit: int, language: str) -> Findings:
        """What it found, by the engine that found it, best first."""
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
                    f"seeds.search: {name!r} is no search engine; write ddgs, "
                    "ddgs:NAME, searxng:https://… or a name that [seeds.engines.NAME] "
                    "describes"
                )
    return list(engines.values())


def check_engine(name: str) -> str:
    """The name, if ddgs knows an engine of it; BadInput that says which it knows."""
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
    """What the engines found together; OpilioError when none found anything."""
    check_limit(limit)
    question = shortened(query)
    if not question:
        raise BadInput(
            "there is nothing to ask the search engines; add keywords or seeds.query "
            "to the topic file"
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
    """What an engine found, or why it found nothing."""
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
        f"no search engine had an answer to {query!r}:{lines}\n"
        "Check the network, try other engines (seeds.search: ddgs:NAME, or "
        "searxng:https://… with an instance of your own), other words (seeds.query), "
        "or give pages to start from (--seed-url URL)."
    )


def shortened(query: str) -> str:
    """The question without line breaks and such, cut at a word when it is too long."""
    words = " ".join(query.split())
    if len(words) <= MAX_QUERY:
        return words
    return words[: MAX_QUERY + 1].rpartition(" ")[0] or words[:MAX_QUERY]
