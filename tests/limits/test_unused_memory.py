"""Memory that is free goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opilio.limits.unused_memory import _malloc_trim, trim_memory


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_free_parts_of_the_heap_are_given_back() -> None:
    if _malloc_trim() is None:
        pytest.skip("not glibc")
    pieces = [bytes(60_000) for _ in range(1500)]  # 90 MB, below the limit of mmap
    del pieces[:-1]
    before = resident()
    trim_memory()
    assert resident() <= before
    assert len(pieces) == 1
