"""What the tests of seeds share."""

from collections.abc import AsyncIterator

import pytest

from seeds.loopback_web import Web, opened_web


@pytest.fixture
async def web(logged: list[str]) -> AsyncIterator[Web]:
    async with opened_web() as opened:
        opened.told = logged
        yield opened
