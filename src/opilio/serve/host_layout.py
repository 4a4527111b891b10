"""Places hosts on a map: linked ones near each other, none over another, and names
where there is room.

Forces as by Fruchterman and Reingold (1991), computed with numpy; then circles that
overlap are moved apart. The same hosts and links always give the same map.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

ROUNDS = 80
APART = 60  # rounds of moving overlapping circles apart
WIDE = np.array([1.5, 0.75])  # screens are wider than high
GAP = 3.0  # between two circles
LARGE = 8  # circles whose names may be over circles, for want of room
UP, DOWN = 13.0, 5.0  # how far letters reach above and below their line

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
    for _ in range(APART):
        if not move_apart(at, radii):
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
    count = len(at)
    ideal = size / np.sqrt(count) * 0.75
    for step in np.linspace(size / 12, size / 400, ROUNDS):
        away = at[:, None, :] - at[None, :, :]
        square = (away**2).sum(axis=2) + 1e-6
        force = (away * (ideal**2 / square)[:, :, None]).sum(axis=1)
        along = at[links[:, 0]] - at[links[:, 1]]
        far = np.sqrt((along**2).sum(axis=1, keepdims=True)) + 1e-6
        pull = along * far / ideal * 0.3
        np.add.at(force, links[:, 0], -pull)
        np.add.at(force, links[:, 1], pull)
        force -= at * 0.35  # towards the middle
        length = np.sqrt((force**2).sum(axis=1, keepdims=True)) + 1e-9
        at = at + force / length * np.minimum(length, step)
    return at


def drawn_in(at: Floats, size: float) -> Floats:
    """The points with those that went far out brought nearer to the others."""
    at = at - at.mean(axis=0)
    far = np.sqrt((at**2).sum(axis=1, keepdims=True)) + 1e-6
    usual = np.quantile(far, 0.85)
    near = np.where(far > usual, usual * (1 + np.log(far / usual) / 3), far)
    drawn: Floats = at * (near / far) * (size / 2 / usual)
    return drawn


def move_apart(at: Floats, radii: Floats) -> bool:
    """Move overlapping circles apart, in place; whether there were any."""
    away = at[:, None, :] - at[None, :, :]
    far = np.sqrt((away**2).sum(axis=2)) + 1e-6
    overlap = radii[:, None] + radii[None, :] + GAP - far
    np.fill_diagonal(overlap, 0.0)
    overlap = np.maximum(overlap, 0.0)
    if not overlap.any():
        return False
    at += (away / far[:, :, None] * (overlap / 2)[:, :, None]).sum(axis=1)
    return True


def place_names(
    widths: Sequence[float], at: Floats, radii: Floats
) -> dict[int, list[float]]:
    """The middle of the line of each name, below, above or beside its circle; none for
    those that would cover a circle or another name. The first ones are placed first."""
    written: list[Floats] = []
    found = {}
    for place, width in enumerate(widths):
        (x, y), radius = at[place], radii[place]
        aside = radius + 5 + width / 2
        beside = [
            (x, y + radius + UP + 3),
            (x, y - radius - DOWN - 3),
            (x + aside, y + DOWN),
            (x - aside, y + DOWN),
        ]
        for middle in [*beside, (x, y + DOWN)][: 5 if place < LARGE else 4]:
            half = np.array([width / 2, 0.0])
            low, high = middle - half - [0, UP], middle + half + [0, DOWN]
            box = np.stack([low, high])
            free = middle not in beside or not covers_circle(box, at, radii)
            if free and not any(overlap(box, other) for other in written):
                written.append(box)
                found[place] = [round(float(value), 1) for value in middle]
                break
    return found


def covers_circle(box: Floats, at: Floats, radii: Floats) -> bool:
    """Whether a box, given by its corners, covers a part of a circle."""
    nearest = np.clip(at, *box)
    return bool((((nearest - at) ** 2).sum(axis=1) < radii**2).any())


def overlap(box: Floats, other: Floats) -> bool:
    """Whether two boxes cover each other."""
    return bool((box[0] < other[1]).all() and (other[0] < box[1]).all())
