"""The inner loops of the default strategy in numpy; `_rows.pyx` is the compiled
version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.equations.probability import shares
from opilio.records import Link, LinkPart
from opilio.text import urls

EDITION = 1  # of both; what is compiled is used only if it is the same

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float32]

WIDTH = 16  # places in a bucket
FREE = -1
MIX = 0x9E3779B97F4A7C15  # Fibonacci hashing
WORD_BITS = 16  # of a word's hash, by which its value is known
ANCHOR_WORDS = 6
NO_WORD = 0  # the place that stands for none
HOST, PATH, PAGE = 1.0, 3.0, 2.0  # as many pages as a mean is shrunk by


def buckets_of(prints: Longs, bits: int) -> tuple[Longs, Bytes]:
    """The bucket of each fingerprint, and its tag there."""
    mixed = prints.view(np.uint64) * np.uint64(MIX)
    return (mixed >> np.uint64(64 - bits)).view(np.int64), mixed.astype(np.uint8)


def find(
    prints: Longs,
    links: Longs,
    slots: Ints,
    tags: Bytes,
    passed: Bytes,
    bits: int,
    found: Longs,
    cells: Longs,
) -> None:
    """Write the slot of each fingerprint and its cell where the table has it."""
    buckets, wanted = buckets_of(prints, bits)
    which = np.arange(len(prints))
    for _ in range(len(slots)):
        rows, columns = np.nonzero(tags.take(buckets, axis=0) == wanted[which, None])
        here = buckets[rows] * WIDTH + columns
        candidates = slots.reshape(-1)[here]
        owners = which[rows]
        right = (candidates != FREE) & (links[candidates] == prints[owners])
        found[owners[right]] = candidates[right]
        cells[owners[right]] = here[right]
        on = (passed[buckets] != 0) & (found[which] == FREE)
        if not on.any():
            break
        which, buckets = which[on], (buckets[on] + 1) & (len(slots) - 1)


def insert(
    prints: Longs, new: Longs, slots: Ints, tags: Bytes, passed: Bytes, bits: int
) -> None:
    """Put the slots of new fingerprints into a table that has room."""
    buckets, wanted = buckets_of(prints, bits)
    taken = new.astype(np.int32)
    all_slots, all_tags = slots.reshape(-1), tags.reshape(-1)
    while len(taken):
        free = slots.take(buckets, axis=0) == FREE
        cells = buckets * WIDTH + free.argmax(axis=1)
        fits = all_slots[cells] == FREE
        all_slots[cells[fits]] = taken[fits]
        # Of several that chose the same cell, the last one has it now.
        done = fits & (all_slots[cells] == taken)
        all_tags[cells[done]] = wanted[done]
        on = ~done
        passed[buckets[~fits]] = True
        buckets = (buckets + ~fits)[on] & (len(slots) - 1)
        wanted, taken = wanted[on], taken[on]


def link_rows(
    links: Sequence[Link], weights: Mapping[str, float]
) -> tuple[list[int], list[str], bytes, bytes, bytes]:
    """Of all links their fingerprints, their hosts, how much of the keywords is in the
    address, the anchor and around them, as uint8, the places of the first words of
    their anchors, as uint16, and their vectors, as int8 in equal dimensions."""
    terms = bytearray()
    for link in links:
        if evidence := link.terms:
            for found in (evidence.url, evidence.anchor, evidence.around):
                terms.append(presence(found.terms, weights) if found.terms else 0)
        else:
            terms += b"\0\0\0"
    size = max((len(link.vector) for link in links), default=0)
    return (
        [link.fingerprint for link in links],
        [urls.host(link.url) for link in links],
        bytes(terms),
        anchor_rows(links).tobytes(),
        b"".join([link.vector.ljust(size, b"\0") for link in links]),
    )


def presence(found: Iterable[str], weights: Mapping[str, float]) -> int:
    """1 − exp(−Σ w) over the keywords that are there, as a share of 255."""
    total = sum([weights.get(key, 0.0) for key in found])
    return int(255 * (1 - exp(-total)) + 0.5) if total > 0 else 0


def anchor_rows(links: Sequence[Link]) -> Places:
    """The places of the first words of each anchor."""
    rows = np.full((len(links), ANCHOR_WORDS), NO_WORD, "<u2")
    codes = np.frombuffer(b"".join([link.words for link in links]), "<u4")
    counts = np.array([len(link.words) // 4 for link in links], np.int64)
    owners = np.repeat(np.arange(len(links)), counts)
    own = codes >> np.uint32(29) == LinkPart.ANCHOR
    codes, owners = codes[own], owners[own]
    # How many words of the same anchor come before each of them.
    before = np.arange(len(codes)) - np.searchsorted(owners, owners)
    first = before < ANCHOR_WORDS
    # An anchor is part 0, so the upper bits that name the part are empty.
    rows[owners[first], before[first]] = codes[first] >> np.uint32(29 - WORD_BITS)
    return rows


def raw(
    slots: Longs,
    columns: tuple[npt.NDArray[Any], ...],
    groups: tuple[npt.NDArray[Any], ...],
    base: float,
    direction: Floats,
    sums: Floats,
    found: Floats,
) -> None:
    """Write the features of links as rows of `found`. `columns` are those of all slots,
    `groups` sums and counts by host, path and page; the sums of NO_WORD are 0."""
    vectors, meaning, terms, anchors, scores, parents, hosts, paths, pages = columns
    own = terms[slots] * np.float32(1 / 255)
    if len(direction):
        found[:, 0] = meaning[slots]
        found[:, 1] = vectors[slots].astype(np.float32) @ direction / np.float32(127)
    else:
        found[:, :2] = own[:, 1:]
    found[:, 2] = own[:, 0]
    words = anchors[slots]
    values = sums.take(words, axis=0).sum(axis=1)
    used = np.maximum(np.count_nonzero(words, axis=1), 1)
    above = values[:, 0] - np.float32(base) * values[:, 1]
    found[:, 3] = above / np.sqrt(used, dtype=np.float32)
    host_sum, host_count, path_sum, path_count, page_sum, page_count = groups
    places = hosts[slots]
    host = (host_sum[places] + HOST * base) / (host_count[places] + HOST)
    found[:, 4] = host
    found[:, 5] = (scores[slots] + base) / (parents[slots] + 1.0)
    places = paths[slots]
    found[:, 6] = (path_sum[places] + PATH * host) / (path_count[places] + PATH)
    places = pages[slots]
    found[:, 7] = (page_sum[places] + PAGE * host) / (page_count[places] + PAGE)


def add_words(
    words: Places, shares: Bytes, score: float, rare: Floats, sums: Floats
) -> None:
    """Add a page, as the shares of its words, to the sums of r·x and of x."""
    each = shares.astype(np.float32)
    each *= np.float32(1 / (float(np.sqrt(each @ each)) or 1.0))
    each *= rare[words]
    np.add.at(sums, words, each[:, None] * np.array([score, 1], np.float32))


def shared(
    names: tuple[str, ...], bias: float, added: Floats
) -> list[dict[str, float]]:
    """What each promise is made of: the first name is that of σ(bias), the others those
    of the columns of `added`."""
    usual, each = shares(bias, added)
    rows = np.column_stack((np.full(len(each), usual), each))
    return [dict(zip(names, row, strict=True)) for row in rows.round(6).tolist()]


def begin(
    slots: Longs,
    rows: Longs,
    given: tuple[npt.NDArray[Any], ...],
    columns: tuple[npt.NDArray[Any], ...],
) -> None:
    """Copy rows of a page's links into the slots of columns: hosts, paths, terms,
    anchors and vectors."""
    for column, found in zip(columns, given, strict=True):
        column[slots] = found[rows]


def join(
    slots: Longs,
    rows: Longs,
    given: tuple[npt.NDArray[Any], ...],
    columns: tuple[npt.NDArray[Any], ...],
    shares: Floats,
    better: Bytes,
) -> None:
    """Mix rows of a page's links into the slots of columns: paths, terms, anchors and
    vectors. Each counts as its share; where it is better, it replaces path and anchor.
    """
    paths, terms, anchors, vectors = columns
    replaced, by = slots[better != 0], rows[better != 0]
    paths[replaced], anchors[replaced] = given[0][by], given[2][by]
    share = shares[:, None]
    kept = terms[slots].astype(np.float32)
    kept[:, 1:] += share * (given[1][rows, 1:] - kept[:, 1:])
    terms[slots] = np.rint(kept)
    mixed = vectors[slots].astype(np.float32)
    mixed += share * (given[3][rows] - mixed)
    lengths = np.sqrt((mixed * mixed).sum(axis=1))
    mixed *= (np.float32(127) / np.maximum(lengths, np.float32(1e-9)))[:, None]
    vectors[slots] = np.rint(mixed)
