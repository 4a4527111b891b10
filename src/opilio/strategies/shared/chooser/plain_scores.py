"""Features of waiting links, and their promises, in numpy; `_scores.pyx` is the
compiled version."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.equations.probability import logistic, shares
from opilio.records import PartsText
from opilio.strategies.shared.chooser.plain_rows import (
    ADDRESS_WORDS,
    ANCHOR_WORDS,
    AROUND,
    LIMIT,
    Bytes,
    Floats,
    Ints,
    Longs,
    Places,
)
from opilio.vectors.plain_codes import dots

Columns = tuple[npt.NDArray[Any], ...]
Evidence = tuple[Columns, Columns, float, float, Floats, Floats, Floats]
"""What `raw` works features out from, in the order of its arguments."""

HOST, SECTION, PAGE = 1.0, 0.5, 2.0  # as many pages as a mean is shrunk by


def raw(
    slots: Longs,
    columns: Columns,
    groups: Columns,
    base: float,
    square: float,
    tables: Floats,
    sums: Floats,
    worth: Floats,
    found: Floats,
) -> None:
    """Write the features of links as rows of `found`. `columns` are those of all slots,
    `groups` sums and counts by host, section and page, `square` the mean of all squared
    scores, `tables` those of the direction that was learnt (`vectors/codes.py`),
    `worth` the table of LinkWords; the sums and the worth of NO_WORD are 0. How similar
    a link is to that direction is NaN in its column until it is asked for, and kept
    then."""
    vectors, meaning, taught, terms, every, scores, parents, hosts = columns[:8]
    sections, pages = columns[8:]
    own = terms[slots] * np.float32(1 / 255)
    if len(tables):
        unknown = slots[np.isnan(taught[slots])]
        taught[unknown] = dots(vectors, unknown, tables)
        found[:, 0] = meaning[slots]
        found[:, 1] = taught[slots]
    else:
        found[:, :2] = own[:, 1:]
    found[:, 2] = own[:, 0]
    words = every[slots, :ANCHOR_WORDS]
    values = sums.take(words, axis=0).sum(axis=1)
    used = np.maximum(np.count_nonzero(words, axis=1), 1)
    above = values[:, 0] - np.float32(base) * values[:, 1]
    found[:, 3] = above / np.sqrt(used, dtype=np.float32)
    host_sum, host_count, part_sum, part_count, page_sum, page_count, squares = groups
    places = hosts[slots]
    host = (host_sum[places] + HOST * base) / (host_count[places] + HOST)
    found[:, 4] = host
    host_square = (squares[places] + HOST * square) / (host_count[places] + HOST)
    found[:, 5] = (scores[slots] + base) / (parents[slots] + 1.0)
    places = sections[slots]
    usual, count = (
        SECTION * np.maximum(host_square, square),
        part_count[places] + SECTION,
    )
    found[:, 6] = (part_sum[places] + usual) / count
    places = pages[slots]
    found[:, 7] = (page_sum[places] + PAGE * host) / (page_count[places] + PAGE)
    pairs = worth[every[slots]]
    pairs[:, ANCHOR_WORDS + ADDRESS_WORDS :] *= np.float32(AROUND)
    squares = (pairs[:, :, 0] ** 2).sum(axis=1)
    lengths = np.sqrt(np.where(squares, squares, np.float32(1)))
    found[:, 8] = pairs[:, :, 1].sum(axis=1) / lengths


def moved(
    slots: Longs,
    links: Longs,
    then: Floats,
    waiting: tuple[Longs, Floats],
    evidence: Evidence,
    total: Floats,
) -> int:
    """Count the slots whose links are still these and wait, and add to `total` by how
    much their features differ from `then`. `waiting` are the links of all slots and
    their promises; `evidence` is what `raw` needs."""
    link, told = waiting
    wait = (link[slots] == links) & (told[slots] >= 0)
    now = np.empty((np.count_nonzero(wait), then.shape[1]), np.float32)
    raw(slots[wait], *evidence, now)
    total += (now - then[wait]).sum(axis=0)
    return len(now)


def add_words(
    words: Places, shares: Bytes, score: float, rare: Floats, sums: Floats
) -> None:
    """Add a page, as the shares of its words, to the sums of r·x and of x."""
    each = shares.astype(np.float32)
    each *= np.float32(1 / (float(np.sqrt(each @ each)) or 1.0))
    each *= rare[words]
    np.add.at(sums, words, each[:, None] * np.array([score, 1], np.float32))


def weigh(
    slots: Longs,
    rows: Floats,
    scales: tuple[Floats, Floats, Floats],
    visits: tuple[Ints, Ints],
    explore: float,
    bias: float,
    added: Floats,
    promises: Floats,
) -> None:
    """Standardise rows of features, and write what each adds to a logit and the chance
    that comes of it. `scales` are mean, spread and weight of each feature; `visits` the
    host of each slot, and how many pages of each host were read."""
    mean, spread, weights = scales
    rows -= mean
    rows /= spread
    np.clip(rows, -LIMIT, LIMIT, out=rows)
    np.multiply(rows, weights, out=added[:, :-1])
    hosts, counts = visits
    added[:, -1] = explore / (1.0 + counts[hosts[slots]]) ** 2
    promises[:] = logistic(added.sum(axis=1) + np.float32(bias))


def tell(
    slots: Longs,
    count: int,
    promises: Floats,
    added: Floats,
    columns: tuple[Floats, Longs],
    names: tuple[bytes, ...],
    bias: float,
    change: float,
    latest: dict[int, tuple[float, PartsText]],
    revised: dict[int, tuple[float, PartsText]],
) -> None:
    """Write down the promises of links, with what each is made of.

    The first `count` are the links of a page, and `latest`; of the others those are
    `revised` whose promises changed by that share. `columns` are what slots were told
    before, and their links. The names are in JSON, each with a colon; the first is
    that of σ(bias).
    """
    told, links = columns
    before = told[slots[:count]]
    told[slots[:count]] = promises[:count]
    now = told[slots[count:]]  # some may be on the page
    changed = np.ones(len(slots), np.bool_)
    changed[count:] = np.abs(promises[count:] - now) > change * now
    slots, promises, added = slots[changed], promises[changed], added[changed]
    told[slots] = promises
    counting = np.flatnonzero(added.any(axis=0))
    chosen = (names[0], *(names[1 + place] for place in counting.tolist()))
    parts = shared(chosen, bias, added.take(counting, axis=1))
    found = zip(promises.tolist(), parts, strict=True)
    every = list(zip(links[slots].tolist(), found, strict=True))
    latest.update(every[:count])
    revised.update(every[count:])
    lower = promises[:count] < before * np.float32(1 - change)
    revised.update(compress(every, lower.tolist()))


def shared(names: tuple[bytes, ...], bias: float, added: Floats) -> list[PartsText]:
    """What each promise is made of, by the names of the columns of `added`."""
    usual, each = shares(bias, added)
    rows = np.column_stack((np.full(len(each), usual), each))
    pattern = "{" + ",".join(f"{name.decode()}%.6f" for name in names) + "}"
    return [pattern % tuple(row) for row in rows.tolist()]
