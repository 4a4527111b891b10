# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The loops of `plain_page_words`, which documents them, compiled."""

from libc.math cimport rintf, sqrt
from libc.stdint cimport int16_t, uint8_t, uint16_t, uint64_t

import numpy as np

EDITION = 1


def word_weights(const uint64_t[::1] stems, const uint16_t[::1] counts,
                 const float[::1] rarity, const float[::1] logs, int bits):
    cdef Py_ssize_t at, count = stems.shape[0]
    cdef float rare
    if counts.shape[0] != count or rarity.shape[0] != 1 << bits:
        raise ValueError("every stem has a count, and the table 2^bits places")
    if logs.shape[0] != 1 << 16:
        raise ValueError("every count has a logarithm")
    found = np.empty(count, np.float32)
    cdef float[::1] weights = found
    for at in range(count):
        rare = rarity[stems[at] >> (64 - bits)]
        weights[at] = logs[counts[at]] * (<float>0.05 + rare * rare)
    return found


def signed_places(const uint64_t[::1] stems, const float[::1] weights, int size,
                  int whole):
    cdef Py_ssize_t at, count = stems.shape[0]
    cdef double square = 0.0
    cdef float scale
    cdef int16_t weight
    if weights.shape[0] != count:
        raise ValueError("every stem has a weight")
    all_places, all_signed = np.empty(count, np.uint16), np.empty(count, np.int16)
    cdef uint16_t[::1] places = all_places
    cdef int16_t[::1] signed = all_signed
    for at in range(count):
        square += <double>weights[at] * weights[at]
    scale = <float>(whole / (sqrt(square) if square > 0 else 1.0))
    for at in range(count):
        places[at] = (stems[at] >> 1) & (size - 1)
        weight = <int16_t>rintf(weights[at] * scale)
        signed[at] = weight if stems[at] >> 20 & 1 else -weight
    return all_places, all_signed


def shares_of_words(const uint64_t[::1] stems, const float[::1] weights, int bits):
    cdef Py_ssize_t at, count = stems.shape[0]
    cdef float most = <float>1e-9, scale
    if weights.shape[0] != count:
        raise ValueError("every stem has a weight")
    all_places, all_shares = np.empty(count, np.uint16), np.empty(count, np.uint8)
    cdef uint16_t[::1] places = all_places
    cdef uint8_t[::1] shares = all_shares
    for at in range(count):
        most = max(most, weights[at])
    scale = <float>(255 / <double>most)
    for at in range(count):
        places[at] = <uint16_t>(stems[at] >> (64 - bits))
        shares[at] = <uint8_t>rintf(weights[at] * scale)
    return all_places, all_shares
