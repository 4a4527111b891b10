"""Asks custom seed sources of other packages, files and programs for seeds."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from opilio.errors import BadInput, OpilioError
from opilio.protocols import SeedRequest, SeedSource
from opilio.seeds.priority import FLOORS, spread
from opilio.seeds.seed import Priority, Seed
from opilio.text import urls

log = logging.getLogger(__name__)


async def ask_sources(
    sources: Sequence[SeedSource], request: SeedRequest
) -> list[Seed]:
    """The URLs of the sources, in their order, each once; the first are the best.

    A source that raises an OpilioError is logged and skipped.
    """
    found: dict[str, str] = {}
    for source in sources:
        name = type(source).__name__
        try:
            answer = list(await source.find(request))
        except OpilioError as error:
            log.warning("no seeds from %s: %s", name, error)
            continue
        for given in answer:
            url = urls.join("", given) if isinstance(given, str) else ""
            if not url:
                raise BadInput(
                    f"the seed source {name} returned {given!r}, which is not a URL; "
                    "it must return http://… or https://…"
                )
            found.setdefault(url, name)
    ranked = spread(list(found), FLOORS[Priority.HIGH])
    return [Seed(url, Priority.HIGH, promise, (found[url],)) for url, promise in ranked]
