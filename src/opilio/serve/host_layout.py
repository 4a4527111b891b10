"""Places hosts on a map: linked ones near each other, none over another.

Forces as by Fruchterman and Reingold (1991), computed with numpy; then circles that
overlap are moved apart. The same hosts and links always give the same map.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ROUNDS = 80
APART = 60  # rounds of moving overlapping circles apart
WIDE = np.array([1.5, 0.75])  # screens are wider than high
GAP = 3.0  # between two circles

Floats = npt.NDArray[np.float64]


def place_circles(radii: Floats, links: npt.NDArray[np.int64], size: float) -> Floats:
    """The centres of circles in a square of this size; `links` are pairs of places."""
    count = len(radii)
    if not count:
        return np.zeros((0, 2))
    at = sunflower(count, size)
    if len(links):
        at = drawn_in(pulled(at, links, size), size)
    at *= WIDE
    least = np.add.outer(radii, radii).astype(np.float32) + np.float32(GAP)
    for _ in range(APART):
        if not move_apart(at, least):
            break
    return at


def sunflower(count: int, size: float) -> Floats:
    """Points spread evenly over a disc, the first in its middle."""
    n = np.arange(count)
    angle = n * 2.399963
    radius = size / 2 * np.sqrt((n + 0.5) / count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius[:, None]


def pulled(at: Floats, links: npt.NDArray[np.int64], size: float) -> Floats:
    """The points after repelling each other and being pulled together by links."""
    ideal = size / np.sqrt(len(at)) * 0.75
    for step in np.linspace(size / 12, size / 400, ROUNDS):
        away = differences(at)
        square = away[0] ** 2
        square += away[1] ** 2
        square += 1e-6
        push = np.divide(ideal**2, square, out=square)
        force = np.stack([np.einsum("ij,ij->i", one, push) for one in away], axis=1)
        along = at[links[:, 0]] - at[links[:, 1]]
        far = np.sqrt((along**2).sum(axis=1, keepdims=True)) + 1e-6
        pull = along * far / ideal * 0.3
        np.add.at(force, links[:, 0], -pull)
        np.add.at(force, links[:, 1], pull)
        force -= at * 0.35  # towards the middle
        length = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        at = at + force / length * np.minimum(length, step)
    return at


def differences(at: Floats) -> npt.NDArray[np.float32]:
    """How far each point is from each other, across and down; in single precision,
    which is twice as fast."""
    points = at.T.astype(np.float32)
    return points[:, :, None] - points[:, None, :]


def drawn_in(at: Floats, size: float) -> Floats:
    """The points with those that went far out brought nearer to the others."""
    at = at - at.mean(axis=0)
    far = np.sqrt((at**2).sum(axis=1, keepdims=True)) + 1e-6
    usual = np.quantile(far, 0.85)
    near = np.where(far > usual, usual * (1 + np.log(far / usual) / 3), far)
    drawn: Floats = at * (near / far) * (size / 2 / usual)
    return drawn


def move_apart(at: Floats, least: npt.NDArray[np.float32]) -> bool:
    """Move circles apart that are nearer than `least`, in place; whether there were
    any."""
    away = differences(at)
    square = away[0] ** 2 + away[1] ** 2
    np.fill_diagonal(square, np.inf)
    one, other = np.nonzero(square < least**2)
    if not len(one):
        return False
    far = np.sqrt(square[one, other]) + 1e-6
    share = (least[one, other] - far) / 2 / far
    for axis in (0, 1):
        np.add.at(at[:, axis], one, away[axis, one, other] * share)
    return True
