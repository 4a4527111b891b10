"""Short codes for vectors in numpy; `_codes.pyx` is the compiled version."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

EDITION = 1  # of both; what is compiled is used only if it is the same

Codes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Slots = npt.NDArray[np.int64]

GROUP = 4  # dimensions that share a byte
SIGNS = 1 << GROUP
SHAPES: Floats = np.array(
    [
        [0.36, 0.36, 0.37, 0.37],
        [0.46, 0.46, 0.33, 1.18],
        [0.46, 0.48, 1.20, 0.33],
        [1.20, 0.45, 0.44, 0.44],
        [0.45, 1.20, 0.45, 0.44],
        [0.47, 0.46, 1.13, 1.13],
        [0.58, 1.54, 0.56, 1.53],
        [1.55, 0.58, 0.57, 1.54],
        [1.55, 0.59, 1.54, 0.57],
        [1.55, 1.53, 0.59, 0.59],
        [0.59, 1.58, 1.55, 0.60],
        [0.54, 0.55, 0.56, 2.23],
        [0.56, 0.56, 2.26, 0.58],
        [0.59, 2.28, 0.55, 0.57],
        [2.29, 0.57, 0.57, 0.57],
        [0.79, 0.79, 1.79, 1.84],
    ],
    np.float32,
)
HALF_SQUARES: Floats = (SHAPES * SHAPES).sum(axis=1) / 2


def words() -> Floats:
    """The four numbers that each byte stands for, in units of 1/√dimensions."""
    signs = (np.arange(SIGNS)[:, None] >> np.arange(GROUP) & 1) * 2 - 1
    found = (SHAPES[:, None, :] * signs).reshape(-1, GROUP).astype(np.float32)
    found[0] = 0  # so that zeros stay zeros
    return found


WORDS = words()


def encode(vectors: Floats) -> Codes:
    """The codes of unit vectors, a row for each; the code of zeros is zeros."""
    count, size = vectors.shape
    width = -(-size // GROUP)
    padded = np.zeros((count, GROUP * width), np.float32)
    np.multiply(vectors, np.sqrt(np.float32(size)), out=padded[:, :size])
    groups = padded.reshape(count, GROUP, width)
    signs = ((groups > 0) << np.arange(GROUP)[:, None]).sum(axis=1)
    parts = np.abs(groups)
    best = np.full((count, width), -np.inf, np.float32)
    shapes = np.zeros((count, width), np.int64)
    for number, shape in enumerate(SHAPES):
        near = parts[:, 0] * shape[0] - HALF_SQUARES[number]
        for place in range(1, GROUP):
            near += parts[:, place] * shape[place]
        better = near > best
        best[better] = near[better]
        shapes[better] = number
    found: Codes = (shapes * SIGNS + signs).astype(np.uint8)
    return found


def decode(codes: Codes, size: int) -> Floats:
    """Vectors of so many dimensions from their codes; a little shorter than 1."""
    groups = WORDS[codes].transpose(0, 2, 1)
    found = groups.reshape(len(codes), GROUP * codes.shape[1])[:, :size]
    return found * np.float32(1 / np.sqrt(np.float32(size)))


def tables(direction: Floats) -> Floats:
    """What each byte at each place adds to the dot product with a direction."""
    size = len(direction)
    width = -(-size // GROUP)
    padded = np.zeros(GROUP * width, np.float32)
    padded[:size] = direction / np.sqrt(np.float32(size))
    return np.ascontiguousarray((WORDS @ padded.reshape(GROUP, width)).T)


def dots(codes: Codes, slots: Slots, tables: Floats) -> Floats:
    """The dot products of some rows of codes with the direction of the tables."""
    found: Floats = tables[np.arange(len(tables)), codes[slots]].sum(axis=1)
    return found


def mix(
    codes: Codes, slots: Slots, given: Codes, rows: Slots, shares: Floats, size: int
) -> None:
    """Move the vectors of some slots towards those of given rows, by their shares.

    Where one of the two is zeros, the other one stays or is taken as it is.
    """
    mine, others = codes[slots], given[rows]
    none, some = ~mine.any(axis=1), others.any(axis=1)
    codes[slots[none]] = others[none]
    both = ~none & some
    mixed = decode(mine[both], size)
    mixed += shares[both, None] * (decode(others[both], size) - mixed)
    lengths = np.sqrt((mixed * mixed).sum(axis=1, keepdims=True))
    codes[slots[both]] = encode(mixed / np.maximum(lengths, np.float32(1e-9)))
