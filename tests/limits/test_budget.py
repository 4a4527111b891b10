"""A budget ends a crawl with exactly the pages it was given."""

import asyncio

import pytest

from opilio.limits.budget import Budget


async def test_visits_stop_when_every_page_was_had():
    budget = Budget(3)
    pages = 0

    async def work() -> None:
        nonlocal pages
        while await budget.reserve():
            await asyncio.sleep(0)
            pages += 1
            budget.settle(1)

    await asyncio.gather(*(work() for _ in range(10)))
    assert pages == 3
    assert budget.is_spent


async def test_a_visit_without_a_page_gives_its_reservation_back():
    budget = Budget(1)
    assert await budget.reserve()
    waiting = asyncio.create_task(budget.reserve())
    await asyncio.sleep(0)
    assert not waiting.done()
    budget.settle(0)
    assert await waiting


async def test_no_limit_reserves_for_ever_until_closed():
    budget = Budget(0)
    assert all([await budget.reserve() for _ in range(100)])
    budget.close()
    assert not await budget.reserve()


@pytest.mark.parametrize("spent", [5, 6])
async def test_pages_of_earlier_runs_count(spent: int):
    assert not await Budget(5, spent).reserve()


async def test_closing_wakes_those_who_wait():
    budget = Budget(1)
    await budget.reserve()
    waiting = asyncio.create_task(budget.reserve())
    await asyncio.sleep(0)
    budget.close()
    assert not await waiting
