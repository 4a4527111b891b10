"""Loops over the words of a page in numpy; `_page_words.pyx` is the compiled
version."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Stems = npt.NDArray[np.uint64]
Places = npt.NDArray[np.uint16]


def word_weights(
    stems: Stems, counts: Places, rarity: Floats, logs: Floats, bits: int
) -> Floats:
    """(1 + ln tf)·(0.05 + rarity²) of each word; `logs` has the first factor for each
    count, `rarity` is indexed by the upper bits of a stem's hash."""
    rare = rarity[(stems >> np.uint64(64 - bits)).astype(np.intp)]
    return logs[counts] * (np.float32(0.05) + rare * rare)


def signed_places(
    stems: Stems, weights: Floats, size: int, whole: int
) -> tuple[Places, npt.NDArray[np.int16]]:
    """Hash words to `size` places with signs; their weights, scaled so that together
    they have the length `whole`, are rounded."""
    scaled = weights * np.float32(whole / (float(np.sqrt(weights @ weights)) or 1.0))
    signs = ((stems >> np.uint64(19)) & np.uint64(2)).astype(np.int16) - np.int16(1)
    places = ((stems >> np.uint64(1)) & np.uint64(size - 1)).astype(np.uint16)
    return places, np.rint(scaled).astype(np.int16) * signs


def shares_of_words(
    stems: Stems, weights: Floats, bits: int
) -> tuple[Places, npt.NDArray[np.uint8]]:
    """The upper bits of each stem's hash, and its weight as a share of the greatest
    one, from 0 to 255."""
    most = float(weights.max(initial=1e-9))
    places = (stems >> np.uint64(64 - bits)).astype(np.uint16)
    return places, np.rint(weights * np.float32(255 / most)).astype(np.uint8)
