"""The inner loops of the default strategy in numpy; `_rows.pyx` is the compiled
version."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.records import Link, LinkPart
from opilio.text import urls

EDITION = 9  # of both; what is compiled is used only if it is the same
LIMIT = 4.0  # of a standardised feature

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.uint16]
Floats = npt.NDArray[np.float32]

WIDTH = 16  # places in a bucket
FREE = -1
GONE = -2  # instead of a slot: the link was visited
# A number that nobody knows, as in storage/seen_urls.py: a site cannot choose links
# that share a bucket. Results do not depend on it.
MIX = secrets.randbits(64) | 1
WORD_BITS = 16  # of a word's hash, by which its value is known
# Words of a link that are kept: the first of its anchor, the last of its address and
# the nearest around it; also in _rows.pyx and _scores.pyx.
ANCHOR_WORDS, ADDRESS_WORDS, BEFORE_WORDS, AFTER_WORDS = 6, 5, 2, 3
AROUND = 0.5  # how much a word around a link counts, beside one of its own
LINK_WORDS = ANCHOR_WORDS + ADDRESS_WORDS + BEFORE_WORDS + AFTER_WORDS
NO_WORD = 0  # the place that stands for none
MOST_PARENTS = 4  # pages whose evidence of a link is used; more add little
PARENT = 0.2  # the weight of such a page besides its score


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
    links: Sequence[Link],
    weights: Mapping[str, float],
    place_of: Callable[[str, str], int],
) -> tuple[tuple[str, ...], bytes, bytes, bytes, bytes, bytes, bytes]:
    """The hosts that links lead to; of all links their fingerprints, as int64; the
    number of each link's host among the hosts; the places of host and tag path, by the
    function; how much of the keywords is in the address, the anchor and around them, as
    uint8; the places of their words, LINK_WORDS each; and their vectors, in equal
    dimensions. Numbers and places are uint16."""
    terms = bytearray()
    for link in links:
        if evidence := link.terms:
            for found in (evidence.url, evidence.anchor, evidence.around):
                terms.append(presence(found.terms, weights) if found.terms else 0)
        else:
            terms += b"\0\0\0"
    size = max((len(link.vector) for link in links), default=0)
    names = [urls.host(link.url) for link in links]
    hosts = {name: number for number, name in enumerate(dict.fromkeys(names))}
    places = [
        place_of(name, section(link.url))
        for name, link in zip(names, links, strict=True)
    ]
    return (
        tuple(hosts),
        np.array([link.fingerprint for link in links], "<i8").tobytes(),
        np.array([hosts[name] for name in names], "<u2").tobytes(),
        np.array(places, "<u2").tobytes(),
        bytes(terms),
        word_rows(links).tobytes(),
        b"".join([link.vector.ljust(size, b"\0") for link in links]),
    )


def section(url: str) -> str:
    """The section of its host that a URL belongs to: its first folder, and how far
    below that it is. A list, whose URL is that of a folder, is in another section than
    its items. With a query, the path is the section."""
    path, query, _ = url.split("/", 3)[3].partition("?")
    if query:
        return f"{path}?"
    folder, _, rest = path.partition("/")
    if folder == path:
        return ""
    return f"{folder}{'/' * rest.count('/')}{'*' if rest[-1:] not in ('', '/') else ''}"


def presence(found: Iterable[str], weights: Mapping[str, float]) -> int:
    """1 − exp(−Σ w) over the keywords that are there, as a share of 255."""
    total = sum([weights.get(key, 0.0) for key in found])
    return int(255 * (1 - exp(-total)) + 0.5) if total > 0 else 0


def word_rows(links: Sequence[Link]) -> Places:
    """The places of the words of each link, part by part."""
    rows = np.full((len(links), LINK_WORDS), NO_WORD, "<u2")
    codes = np.frombuffer(b"".join([link.words for link in links]), "<u4")
    counts = np.array([len(link.words) // 4 for link in links], np.int64)
    owners = np.repeat(np.arange(len(links)), counts)
    parts = codes >> np.uint32(29)
    places = (codes >> np.uint32(29 - WORD_BITS)).astype(np.uint16)
    start = 0
    for part, room, is_end in (
        (LinkPart.ANCHOR, ANCHOR_WORDS, False),
        (LinkPart.URL, ADDRESS_WORDS, True),
        (LinkPart.BEFORE, BEFORE_WORDS, True),
        (LinkPart.AFTER, AFTER_WORDS, False),
    ):
        own = np.flatnonzero(parts == part)
        mine = owners[own]
        # How many words of the same part of a link come before each of them.
        column = np.arange(len(own)) - np.searchsorted(mine, mine)
        if is_end:
            many = np.bincount(mine, minlength=len(links))[mine]
            column -= np.maximum(many - room, 0)
        chosen = (column >= 0) & (column < room)
        rows[mine[chosen], start + column[chosen]] = places[own[chosen]]
        start += room
    return rows


def distinct(
    links: Iterable[Link], left_out: int
) -> tuple[list[Link], list[int], bytes]:
    """Links without a fingerprint that is left out, each once: the last one; and their
    fingerprints, also as int64."""
    found = {link.fingerprint: link for link in links}
    found.pop(left_out, None)
    return list(found.values()), list(found), np.array(list(found), "<i8").tobytes()


def sort_out(
    links: Sequence[Link], slots: Longs, parents: Bytes, ahead: Longs
) -> tuple[list[Link], list[int], list[int]]:
    """The links that teach something; the fingerprints of the others, and the slots of
    those of them that wait: enough pages have told about these. The slots of the first
    ones are written to `ahead`."""
    known = (slots >= 0) & (parents[slots] >= MOST_PARENTS)
    teaching = (slots != GONE) & ~known
    ahead[: np.count_nonzero(teaching)] = slots[teaching]
    return (
        list(compress(links, teaching.tolist())),
        [link.fingerprint for link in compress(links, (~teaching).tolist())],
        slots[known].tolist(),
    )


def enter(
    slots: Longs,
    fresh: Bytes,
    given: tuple[npt.NDArray[Any], ...],
    columns: tuple[npt.NDArray[Any], ...],
    page: int,
    score: float,
    joined: Longs,
    shares: Floats,
) -> int:
    """Write the links of a page into the columns of their slots, and mix the evidence
    of known ones with what they have. Returns how many were mixed, and writes the rows
    and shares of these. Where a page is better than those before, it replaces the
    words. Given are hosts, sections, terms, words and vectors, in bytes; columns are
    hosts, sections, terms, words, pages, scores, parents, promises and vectors;
    vectors of known links are left to `mix`."""
    pages, scores, parents, told = columns[4:8]
    new = np.flatnonzero(fresh)
    there = slots[new]
    for column, found in zip((*columns[:4], columns[8]), given, strict=True):
        column[there] = found[new]
    pages[there], scores[there], parents[there], told[there] = page, score, 1, 0
    rows = np.flatnonzero((fresh == 0) & (slots >= 0))
    rows = rows[parents[slots[rows]] < MOST_PARENTS]
    rows = rows[pages[slots[rows]] != page]
    known = slots[rows]
    before = PARENT * parents[known] + scores[known]
    weight = PARENT + score
    share = (weight / (before + weight)).astype(np.float32)
    better = weight > before / parents[known]
    columns[3][known[better]] = given[3][rows[better]]
    mixed = columns[2][known].astype(np.float32)
    mixed[:, 1:] += share[:, None] * (given[2][rows, 1:] - mixed[:, 1:])
    columns[2][known] = np.rint(mixed)
    scores[known] += np.float32(score)
    parents[known] += 1
    joined[: len(rows)], shares[: len(rows)] = rows, share
    return len(rows)
