# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `plain_block_numbers`, whose comments explain it."""

from libc.stdint cimport int16_t, int32_t, int64_t
from libc.string cimport memset

import numpy as np

EDITION = 2

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void *data, Py_ssize_t at)
    bint Py_UNICODE_ISSPACE(Py_UCS4 one)
    bint Py_UNICODE_ISUPPER(Py_UCS4 one)
    bint Py_UNICODE_ISDIGIT(Py_UCS4 one)

cdef extern from *:
    int __builtin_popcountll(unsigned long long value) nogil
    int __builtin_ctzll(unsigned long long value) nogil

cdef enum:
    FIRST_WORDS = 40
    FIRST_LETTERS = 200
    LIKE_A_TITLE = 300
    SUMS = 8  # in which numpy adds up a row

cdef list logs = np.log1p(np.arange(5001)).tolist()


def numbers_of(str text not None):
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    cdef Py_ssize_t size = len(text), at
    cdef Py_ssize_t count = 0, marks = 0, capitals = 0, digits = 0, lines = 0, pipes = 0
    cdef Py_UCS4 one
    cdef bint in_word = False
    for at in range(size):
        one = PyUnicode_READ(kind, data, at)
        if at < FIRST_LETTERS and Py_UNICODE_ISDIGIT(one):
            digits += 1
        if Py_UNICODE_ISSPACE(one):
            in_word = False
            if one == c"\n":
                lines += 1
            continue
        if not in_word:
            in_word = True
            if count < FIRST_WORDS and Py_UNICODE_ISUPPER(one):
                capitals += 1
            count += 1
        if is_mark(one):
            marks += 1
        elif one == c"|" or one == c"/" or one == 0x2022:
            pipes += 1
    one = PyUnicode_READ(kind, data, 0) if size else 0
    return (
        np.log1p(size) if size > 5000 else logs[size],
        min(count, 500),
        <double>size / max(1, count),
        <double>marks / (count + 1),
        has_end(kind, data, size),
        size > 0 and Py_UNICODE_ISUPPER(one),
        <double>capitals / max(1, min(count, FIRST_WORDS)),
        <double>digits / max(1, min(size, FIRST_LETTERS)),
        min(lines, 50),
        pipes,
    )


cdef inline bint is_mark(Py_UCS4 one) noexcept:
    if one < 0x80:
        return (one == c"." or one == c"," or one == c";" or one == c":"
                or one == c"!" or one == c"?")
    return one == 0x3002 or one == 0xFF0C or one == 0x3001


cdef bint has_end(int kind, void *data, Py_ssize_t size) noexcept:
    """Whether a sentence ends at the end, or before its last line break."""
    cdef Py_UCS4 one
    if size and PyUnicode_READ(kind, data, size - 1) == c"\n":
        size -= 1
    while size:
        size -= 1
        one = PyUnicode_READ(kind, data, size)
        if one in (c".", c"!", c"?", 0x2026, 0x3002, 0xFF01, 0xFF1F):
            return True
        if one not in (c'"', c"'", 0x201D, 0x2019, c")", c"]"):
            return False
    return False


def own_rows(list blocks not None, list levels not None, likeness):
    found = np.empty((len(blocks), 16), np.float32)
    cdef float[:, ::1] rows = found
    cdef Py_ssize_t number, at
    cdef double size
    cdef str text
    cdef tuple said
    cdef set seen = set()
    for number in range(len(blocks)):
        block = blocks[number]
        text = block.text
        size = len(text)
        said = numbers_of(text)
        for at in range(8):
            rows[number, at] = said[at]
        rows[number, 8] = min(<Py_ssize_t>block.links, 50)
        rows[number, 9] = min(1.0, <double>block.linked / size)
        rows[number, 10] = min(1.0, <double>block.marked / size)
        rows[number, 11] = said[8]
        rows[number, 12] = levels[number]
        rows[number, 13] = likeness(text) if size < LIKE_A_TITLE else 0.0
        rows[number, 14] = text not in seen
        rows[number, 15] = said[9]
        seen.add(text)
    return found


def kind_rows(
    const int32_t[::1] parents, const int64_t[::1] kinds, const float[:] shares,
    int width, float absent,
):
    found = np.full((parents.shape[0], width), absent, np.float32)
    cdef float[:, ::1] rows = found
    cdef Py_ssize_t number
    cdef unsigned long long rest
    for number in range(parents.shape[0]):
        if number:
            rows[number] = rows[parents[number]]
        rest = <unsigned long long>kinds[number]
        while rest:
            rows[number, __builtin_ctzll(rest)] = shares[number]
            rest &= rest - 1
    return found


def side_rows(
    const int32_t[::1] parents, const int64_t[::1] kinds, const float[:] shares,
    int64_t bad, int64_t good, int64_t comment, float large, float absent,
):
    found = np.zeros((parents.shape[0], 4), np.float32)
    cdef float[:, ::1] rows = found
    cdef Py_ssize_t number
    rows[0, 1] = absent
    for number in range(1, parents.shape[0]):
        rows[number] = rows[parents[number]]
        if kinds[number] & bad and shares[number] < large:
            rows[number, 0] += __builtin_popcountll(kinds[number] & bad)
            rows[number, 1] = min(rows[number, 1], shares[number])
        rows[number, 2] += __builtin_popcountll(kinds[number] & good)
        rows[number, 3] += (kinds[number] & comment) != 0
    return found


def odds(
    const float[:, ::1] rows, const int16_t[:, ::1] columns,
    const float[:, ::1] thresholds, const float[:, ::1] leaves,
):
    found = np.empty(rows.shape[0])
    cdef double[::1] into = found
    cdef double[SUMS] sums
    cdef Py_ssize_t row, tree, place, questions = columns.shape[1]
    cdef Py_ssize_t trees = columns.shape[0], whole = trees - trees % SUMS
    cdef double total
    for row in range(rows.shape[0]):
        memset(sums, 0, sizeof(sums))
        total = 0
        for tree in range(trees):
            place = 0
            while place < questions:
                place = 2 * place + 1 + (
                    rows[row, columns[tree, place]] > thresholds[tree, place]
                )
            if tree < whole:
                sums[tree % SUMS] += leaves[tree, place - questions]
            else:
                total += leaves[tree, place - questions]
        into[row] = total + (
            ((sums[0] + sums[1]) + (sums[2] + sums[3]))
            + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
        )
    return found
