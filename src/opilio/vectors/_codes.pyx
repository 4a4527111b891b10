# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `plain_codes`, which explains the codes."""

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

from opilio.vectors import plain_codes

EDITION = 1

cdef enum:
    GROUP = 4
    SHAPES = 16
    BLOCK = 64  # bytes that are encoded at a time
    MOST = 4096  # dimensions, a multiple of GROUP

cdef float[SHAPES][GROUP] shapes
cdef float[SHAPES] half_squares
cdef float[256][GROUP] words


def _fill():
    cdef Py_ssize_t at, place
    for at in range(SHAPES):
        half_squares[at] = plain_codes.HALF_SQUARES[at]
        for place in range(GROUP):
            shapes[at][place] = plain_codes.SHAPES[at, place]
    for at in range(256):
        for place in range(GROUP):
            words[at][place] = plain_codes.WORDS[at, place]


_fill()


cdef void encode_block(
    const float *first, const float *second, const float *third, const float *fourth,
    Py_ssize_t count, uint8_t *target
) noexcept nogil:
    """Write the bytes of up to BLOCK groups, given the four numbers of each."""
    cdef float[GROUP][BLOCK] parts
    cdef float[BLOCK] best
    cdef int32_t[BLOCK] chosen
    cdef Py_ssize_t at
    cdef int32_t shape
    cdef float near, before, one, two, three, four, half
    memset(parts, 0, sizeof(parts))
    for at in range(count):
        parts[0][at] = first[at] if first[at] > 0 else -first[at]
        parts[1][at] = second[at] if second[at] > 0 else -second[at]
        parts[2][at] = third[at] if third[at] > 0 else -third[at]
        parts[3][at] = fourth[at] if fourth[at] > 0 else -fourth[at]
    for at in range(BLOCK):
        best[at] = -1e30
        chosen[at] = 0
    for shape in range(SHAPES):
        one, two = shapes[shape][0], shapes[shape][1]
        three, four = shapes[shape][2], shapes[shape][3]
        half = half_squares[shape]
        for at in range(BLOCK):
            near = parts[0][at] * one - half
            near += parts[1][at] * two
            near += parts[2][at] * three
            near += parts[3][at] * four
            # Without branches, so that several are compared at a time.
            before = best[at]
            chosen[at] += (shape - chosen[at]) & -<int32_t>(near > before)
            best[at] = near if near > before else before
    for at in range(count):
        target[at] = <uint8_t>(
            chosen[at] << 4 | (first[at] > 0) | (second[at] > 0) << 1
            | (third[at] > 0) << 2 | (fourth[at] > 0) << 3
        )


cdef void encode_row(const float *row, Py_ssize_t width, uint8_t *target) noexcept nogil:
    """Write the code of a vector that has 4·width numbers."""
    cdef Py_ssize_t start = 0
    while start < width:
        encode_block(
            row + start, row + width + start, row + 2 * width + start,
            row + 3 * width + start, min(BLOCK, width - start), target + start,
        )
        start += BLOCK


def encode(const float[:, ::1] vectors):
    cdef Py_ssize_t count = vectors.shape[0], size = vectors.shape[1], row, at
    cdef Py_ssize_t width = (size + GROUP - 1) // GROUP
    cdef float[MOST] padded
    cdef float scale = sqrtf(<float>size)
    if size > MOST:
        raise ValueError(f"a vector has {size} dimensions; at most {MOST} are encoded")
    found = np.empty((count, width), np.uint8)
    cdef uint8_t[:, ::1] codes = found
    memset(padded, 0, sizeof(padded))
    if width:
        for row in range(count):
            for at in range(size):
                padded[at] = vectors[row, at] * scale
            encode_row(padded, width, &codes[row, 0])
    return found


def decode(const uint8_t[:, ::1] codes, Py_ssize_t size):
    cdef Py_ssize_t row, at, place, end, width = codes.shape[1]
    cdef float scale = 1 / sqrtf(<float>size) if size > 0 else 0.0
    cdef float *target
    cdef const uint8_t *code
    if (size + GROUP - 1) // GROUP != width:
        raise ValueError("these are no codes of vectors of this size")
    found = np.empty((codes.shape[0], size), np.float32)
    cdef float[:, ::1] vectors = found
    if width:
        for row in range(codes.shape[0]):
            code = &codes[row, 0]
            for place in range(GROUP):
                target = &vectors[row, 0] + place * width
                end = min(width, size - place * width)
                for at in range(end):
                    target[at] = words[code[at]][place] * scale
    return found


def dots(const uint8_t[:, ::1] codes, const int64_t[::1] slots,
         const float[:, ::1] tables):
    cdef Py_ssize_t row, at, width = tables.shape[0], count = slots.shape[0]
    cdef const uint8_t *code
    cdef const float *table
    cdef float one, two, three, four
    if codes.shape[1] != width or (width and tables.shape[1] != 256):
        raise ValueError("tables have 256 numbers for each byte of a code")
    found = np.zeros(count, np.float32)
    cdef float[::1] sums = found
    if not width:
        return found
    for row in range(count):
        if not 0 <= slots[row] < codes.shape[0]:
            raise IndexError("there are not so many codes")
        code = &codes[slots[row], 0]
        table = &tables[0, 0]
        one = two = three = four = 0.0
        for at in range(0, width - 3, 4):
            one += table[code[at]]
            two += table[256 + code[at + 1]]
            three += table[512 + code[at + 2]]
            four += table[768 + code[at + 3]]
            table += 1024
        for at in range(width & ~3, width):
            one += tables[at, code[at]]
        sums[row] = one + two + (three + four)
    return found


cdef bint any_of(const uint8_t *code, Py_ssize_t width) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(width):
        if code[at]:
            return True
    return False


def mix(uint8_t[:, ::1] codes, const int64_t[::1] slots, const uint8_t[:, ::1] given,
        const int64_t[::1] rows, const float[::1] shares, Py_ssize_t size):
    cdef Py_ssize_t each, at, place, width = codes.shape[1]
    cdef float[MOST] mixed
    cdef float share, value, length, scale = sqrtf(<float>size)
    cdef uint8_t *mine
    cdef const uint8_t *other
    if size > MOST or (size + GROUP - 1) // GROUP != width or given.shape[1] != width:
        raise ValueError("both codes must be those of vectors of this size")
    if not width:
        return
    memset(mixed, 0, sizeof(mixed))
    for each in range(slots.shape[0]):
        if not (0 <= slots[each] < codes.shape[0] and 0 <= rows[each] < given.shape[0]):
            raise IndexError("there are not so many codes")
        mine, other = &codes[slots[each], 0], &given[rows[each], 0]
        if not any_of(other, width):
            continue
        if not any_of(mine, width):
            for at in range(width):
                mine[at] = other[at]
            continue
        share = shares[each]
        length = 0.0
        for at in range(width):
            for place in range(GROUP):
                if place * width + at < size:
                    value = words[mine[at]][place]
                    value += share * (words[other[at]][place] - value)
                    mixed[place * width + at] = value
                    length += value * value
        length = scale / sqrtf(length) if length > 0 else 0.0
        for at in range(size):
            mixed[at] *= length
        encode_row(mixed, width, mine)
