# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The compiled version of `plain_merges`, which explains the merges."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memmove

EDITION = 1

cdef enum:
    MOST = 256  # parts of a word, with room for bytes that stand for letters

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

    def split(self, str text not None):
        cdef int32_t[MOST] parts
        cdef int64_t[MOST] values
        cdef int32_t size = 0, at, best
        cdef list found = []
        for letter in text:
            number = self.vocabulary.get(letter)
            if number is not None:
                each = (number,)
            elif self.fallback:
                each = [self.vocabulary.get(f"<0x{one:02X}>", -1) for one in
                        letter.encode("utf-8", "replace")]
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
