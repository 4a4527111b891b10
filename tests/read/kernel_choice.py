"""Both ways to do the arithmetic of reading, for tests that run with each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from opilio.read import kernels, plain_kernels, plain_walk

KERNELS = ["compiled", "plain"]


@contextmanager
def chosen(name: str) -> Iterator[pytest.MonkeyPatch]:
    """Read with these kernels; skip the test if they are not there."""
    with pytest.MonkeyPatch.context() as patch:
        if name == "plain":
            for kernel in set(kernels.__all__) - {"COMPILED"}:
                home = plain_walk if hasattr(plain_walk, kernel) else plain_kernels
                patch.setattr(kernels, kernel, getattr(home, kernel))
        elif not kernels.COMPILED:
            pytest.skip("no C compiler was there when Opilio was installed")
        yield patch
