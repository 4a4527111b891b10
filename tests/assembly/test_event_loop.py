"""A command's coroutine runs on the fastest loop, and leaves nothing behind."""

import gc
import weakref

from opilio.assembly.event_loop import RARELY, run_loop


class Ring:
    """An object that only garbage collection can free."""

    def __init__(self) -> None:
        self.me = self


async def thresholds() -> tuple[int, int, int]:
    return gc.get_threshold()


def test_garbage_is_collected_rarely_while_it_runs_and_as_before_afterwards():
    before = gc.get_threshold()
    assert run_loop(thresholds()) == RARELY
    assert gc.get_threshold() == before


def test_what_was_garbage_before_is_collected_afterwards():
    ring = Ring()
    alive = weakref.ref(ring)
    del ring
    run_loop(thresholds())
    gc.collect()
    assert alive() is None
