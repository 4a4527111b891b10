"""Remembers links that readers need not describe again, only mention.

Most links of a page lead where others led before. The loop tells its readers which of
them are settled: visited, or found so often that one more page teaches nothing. For
such a link, a reader returns the fingerprint alone, and spends nothing on its words.

If a settled link is forgotten, it is described again: that costs time, never a link.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.read import kernels
from opilio.records import Fingerprint

SIZE = 2**21  # places of 16 bytes; of two links with the same place the later one stays


class SettledLinks:
    """The links that are settled, as far as there is room for them."""

    def __init__(self) -> None:
        self.places: npt.NDArray[np.int64] | None = None
        """A fingerprint is known if it stands at its place, its last bits; None: there
        are none."""
        self._ids = np.zeros(0, np.int64)  # by the same places
        self.hrefs = kernels.Hrefs()

    def learn(self, links: bytes) -> None:
        """Take in links, of each the fingerprint and the id as little-endian int64."""
        if self.places is None:
            self.places, self._ids = np.zeros(SIZE, np.int64), np.zeros(SIZE, np.int64)
        prints, ids = np.frombuffer(links, "<i8").reshape(-1, 2).T
        self.places[prints & (SIZE - 1)] = prints
        self._ids[prints & (SIZE - 1)] = ids

    def packed(self, prints: list[Fingerprint]) -> tuple[bytes, bytes]:
        """Links that are settled, and their ids, as in Page."""
        if not prints:
            return b"", b""
        known = np.array(prints, "<i8")
        ids = self._ids[known & (SIZE - 1)].astype("<i8", copy=False)
        return known.tobytes(), ids.tobytes()
