"""Both ways to do the arithmetic of reading, for tests that run with each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from opilio.read import kernels, plain_kernels, plain_tidy, plain_walk

KERNELS = ["compiled", "plain"]
PLAIN = vars(plain_kernels) | vars(plain_tidy) | vars(plain_walk)


@contextmanager
def chosen(name: str) -> Iterator[pytest.MonkeyPatch]:
    """Read with these kernels; skip the test if they are not there."""
    with pytest.MonkeyPatch.context() as patch:
        if name == "plain":
            for kernel in set(kernels.__all__) - {"COMPILED"}:
                patch.setattr(kernels, kernel, PLAIN[kernel])
        elif not kernels.COMPILED:
            pytest.skip("no C compiler was there when Opilio was installed")
        yield patch
