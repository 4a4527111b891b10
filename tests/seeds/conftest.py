"""What the tests of seeds share."""

from collections.abc import AsyncIterator

import pytest

from seeds.loopback_web import Web, opened_web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with opened_web() as opened:
        yield opened
