"""Remembers the links of which a page need say no more than that they are there.

Most links of a page lead where others led before. The loop tells its readers which of
them are settled: visited, or found so often that one more page teaches nothing. A
reader hands over the fingerprint of such a link alone, and spends nothing on its words.

What is forgotten costs time, never a link: it is handed over whole again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SIZE = 2**21  # places of 8 bytes; of two links with the same place the later one stays


class SettledLinks:
    """The links that are settled, as far as there is room for them."""

    def __init__(self) -> None:
        self.places: npt.NDArray[np.int64] | None = None
        """A fingerprint is known if it stands at its place, its last bits; None: there
        are none."""

    def learn(self, prints: bytes) -> None:
        """Take in links by their fingerprints, little-endian int64."""
        if self.places is None:
            self.places = np.zeros(SIZE, np.int64)
        new = np.frombuffer(prints, "<i8")
        self.places[new & (SIZE - 1)] = new
