"""What several tests share."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from crawling import Crawled
from opilio.lab.server import serve


@pytest.fixture
async def crawled(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Crawled]]]:
    """Serve a web and make a folder to crawl it in: `life = await crawled(web)`."""
    servers = []

    async def start(web, **options) -> Crawled:
        context = serve(web)
        servers.append(context)
        home = tmp_path / f"home-{len(servers)}"
        home.mkdir()
        return Crawled(home, await context.__aenter__(), **options)

    yield start
    for context in servers:
        await context.__aexit__(None, None, None)
