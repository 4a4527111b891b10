# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `plain_merges`, which explains the merges and sums."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release
from cpython.buffer cimport PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove, memset

import numpy as np

EDITION = 3

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* target = row, or target += row, of float16; returns the bits of all exponents
       that only infinities and what is no number have. */
    static uint32_t take_half_row(
        float *target, const uint16_t *row, Py_ssize_t size, int adds
    ) {
        const float scale = 5.192296858534828e33f;  /* 2^112, between the exponents */
        uint32_t odd = 0;
        for (Py_ssize_t at = 0; at < size; at++) {
            uint32_t half = row[at], bits = (half & 0x7FFF) << 13;
            float value;
            memcpy(&value, &bits, 4);
            value *= scale;
            memcpy(&bits, &value, 4);
            bits |= (half & 0x8000) << 16;
            memcpy(&value, &bits, 4);
            target[at] = adds ? target[at] + value : value;
            odd |= (half & 0x7C00) == 0x7C00;
        }
        return odd;
    }

    /* The same for float32. */
    static uint32_t take_row(
        float *target, const float *row, Py_ssize_t size, int adds
    ) {
        uint32_t odd = 0;
        for (Py_ssize_t at = 0; at < size; at++) {
            float value = adds ? target[at] + row[at] : row[at];
            uint32_t bits;
            memcpy(&bits, &value, 4);
            target[at] = value;
            odd |= (bits & 0x7F800000) == 0x7F800000;
        }
        return odd;
    }
    """
    uint64_t take_half_row(
        float *target, const uint16_t *row, Py_ssize_t size, bint adds
    ) noexcept nogil
    uint64_t take_row(
        float *target, const float *row, Py_ssize_t size, bint adds
    ) noexcept nogil

cdef enum:
    MOST = 256  # parts of a word, with room for bytes that stand for letters
    ASCII = 128
    MOST_DIMENSIONS = 4096
    FEW_ROWS = 8

cdef int64_t NONE = 0x7FFFFFFFFFFFFFFF
cdef uint64_t ODD = 0x9E3779B97F4A7C15


cdef struct Merge:
    uint64_t pair  # keys plus one; 0: the place is free
    int64_t value  # its rank in the upper half, the number of what it makes in the lower


cdef class Merges:
    cdef dict vocabulary
    cdef Merge *known
    cdef int shift
    cdef uint64_t mask
    cdef bint fallback
    cdef int32_t[ASCII] letters  # -1: it has no piece

    def __cinit__(self, dict vocabulary not None, merges, bint fallback):
        cdef int bits = 4
        cdef int64_t rank
        while (<uint64_t>1 << bits) < 2 * <uint64_t>len(merges):
            bits += 1
        self.mask = (<uint64_t>1 << bits) - 1
        self.shift = 64 - bits
        self.vocabulary = vocabulary
        self.fallback = fallback
        self.known = <Merge *>calloc(self.mask + 1, sizeof(Merge))
        if self.known == NULL:
            raise MemoryError
        for rank, each in enumerate(merges):
            left, _, right = each.partition(" ")
            first, second = vocabulary.get(left), vocabulary.get(right)
            made = vocabulary.get(left + right)
            if first is not None and second is not None and made is not None:
                self.put(first, second, rank << 32 | <int32_t>made)
        for code in range(ASCII):
            self.letters[code] = vocabulary.get(chr(code), -1)

    def __dealloc__(self):
        free(self.known)

    cdef void put(self, int32_t left, int32_t right, int64_t value) noexcept:
        cdef uint64_t pair = <uint64_t>(left + 1) << 32 | <uint64_t>(right + 1)
        cdef uint64_t at = (pair * ODD) >> self.shift
        while self.known[at].pair and self.known[at].pair != pair:
            at = (at + 1) & self.mask
        if not self.known[at].pair:
            self.known[at] = Merge(pair, value)

    cdef inline int64_t value(self, int32_t left, int32_t right) noexcept:
        cdef uint64_t pair = <uint64_t>(left + 1) << 32 | <uint64_t>(right + 1)
        cdef uint64_t at = (pair * ODD) >> self.shift
        if left < 0 or right < 0:
            return NONE
        while self.known[at].pair:
            if self.known[at].pair == pair:
                return self.known[at].value
            at = (at + 1) & self.mask
        return NONE

    cpdef list split(self, str text):
        cdef int32_t[MOST] parts
        cdef int64_t[MOST] values
        cdef int32_t size = 0, at, best
        cdef list found = []
        cdef Py_UCS4 letter
        for letter in text:
            if letter < ASCII and size < MOST and self.letters[letter] >= 0:
                parts[size] = self.letters[letter]
                size += 1
                continue
            number = self.vocabulary.get(letter)
            if number is not None:
                each = (number,)
            elif self.fallback:
                each = [self.vocabulary.get(f"<0x{one:02X}>", -1) for one in
                        chr(letter).encode("utf-8", "replace")]
            else:
                each = (-1,)
            for number in each:
                if size == MOST:
                    return []
                parts[size] = number
                size += 1
        for at in range(size - 1):
            values[at] = self.value(parts[at], parts[at + 1])
        while size > 1:
            best = 0
            for at in range(1, size - 1):
                if values[at] < values[best]:
                    best = at
            if values[best] == NONE:
                break
            parts[best] = <int32_t>(values[best] & 0x7FFFFFFF)
            size -= 1
            memmove(&parts[best + 1], &parts[best + 2], 4 * (size - best - 1))
            memmove(&values[best], &values[best + 1], 8 * (size - best - 1))
            if best:
                values[best - 1] = self.value(parts[best - 1], parts[best])
            if best < size - 1:
                values[best] = self.value(parts[best], parts[best + 1])
        for at in range(size):
            if parts[at] >= 0:
                found.append(parts[at])
        return found

    def split_all(
        self, list words not None, str space not None, int longest, int unknown
    ):
        cdef list every = [], found
        cdef str word
        for word in words:
            found = self.split(space + word) if 0 < len(word) <= longest else []
            if unknown in found:
                found = [number for number in found if number != unknown]
            if len(found) > 1:
                number = self.vocabulary.get(space + word.capitalize())
                if number is None:
                    number = self.vocabulary.get(space + word.upper())
                if number is not None:
                    found = [number]
            every.append(found)
        return every


def sums(matrix, list pieces not None):
    cdef Py_ssize_t height = matrix.shape[0], size = matrix.shape[1]
    cdef Py_ssize_t rows = len(pieces), number, at, place
    cdef float[MOST_DIMENSIONS] rest
    cdef list long = [at for at, each in enumerate(pieces) if len(each) > FEW_ROWS]
    cdef bint is_half = matrix.itemsize == 2
    if long or size > MOST_DIMENSIONS:
        from opilio.vectors import plain_merges  # rarely needed

        if size > MOST_DIMENSIONS:
            return plain_merges.sums(matrix, pieces)
        found = sums(matrix, [() if len(each) > FEW_ROWS else each for each in pieces])
        found[long] = plain_merges.sums(matrix, [pieces[at] for at in long])
        return found
    found = np.zeros((rows, size), np.float32)
    cdef Py_buffer source, made
    cdef float *target
    cdef float *into
    cdef uint64_t odd
    if matrix.dtype not in (np.float16, np.float32):
        raise TypeError(f"vectors are of {matrix.dtype}, not float16 or float32")
    PyObject_GetBuffer(matrix, &source, PyBUF_SIMPLE)
    PyObject_GetBuffer(found, &made, PyBUF_WRITABLE)
    try:
        target = <float *>made.buf
        for each in pieces:
            odd = at = 0
            for number in each:
                if not 0 <= number < height:
                    raise IndexError("a piece has no row")
                into = &rest[0] if at else target  # the first one is added last
                if is_half:
                    odd |= take_half_row(
                        into, <uint16_t *>source.buf + number * size, size, at > 1
                    )
                else:
                    odd |= take_row(
                        into, <float *>source.buf + number * size, size, at > 1
                    )
                at += 1
            if at > 1:
                odd |= take_row(target, rest, size, True)
            if odd:
                memset(target, 0, size * sizeof(float))
            target += size
    finally:
        PyBuffer_Release(&source)
        PyBuffer_Release(&made)
    return found
