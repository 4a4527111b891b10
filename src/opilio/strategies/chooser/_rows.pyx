# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What `plain_rows` does, which says what that is, compiled."""

from libc.math cimport exp, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

EDITION = 1

cdef enum:
    WIDTH = 16
    ANCHOR_WORDS = 6
    MIXED = 29 - 16  # bits of a word's code below its place

cdef uint64_t MIX = 0x9E3779B97F4A7C15
cdef int32_t FREE = -1


def find(const int64_t[::1] prints, const int64_t[::1] links,
         const int32_t[:, ::1] slots, const uint8_t[:, ::1] tags,
         const uint8_t[::1] passed, int bits, int64_t[::1] found, int64_t[::1] cells):
    cdef Py_ssize_t each, column
    cdef uint64_t mixed, bucket, mask = slots.shape[0] - 1
    cdef int32_t slot
    cdef uint8_t tag
    cdef Py_ssize_t turns
    for each in range(prints.shape[0]):
        mixed = <uint64_t>prints[each] * MIX
        bucket = mixed >> (64 - bits)
        tag = <uint8_t>mixed
        for turns in range(slots.shape[0]):
            for column in range(WIDTH):
                if tags[bucket, column] == tag:
                    slot = slots[bucket, column]
                    if slot != FREE and links[slot] == prints[each]:
                        found[each] = slot
                        cells[each] = bucket * WIDTH + column
                        break
            if found[each] != FREE or not passed[bucket]:
                break
            bucket = (bucket + 1) & mask


def insert(const int64_t[::1] prints, const int64_t[::1] new,
           int32_t[:, ::1] slots, uint8_t[:, ::1] tags, uint8_t[::1] passed, int bits):
    cdef Py_ssize_t each, column
    cdef uint64_t mixed, bucket, mask = slots.shape[0] - 1
    cdef bint done
    for each in range(prints.shape[0]):
        mixed = <uint64_t>prints[each] * MIX
        bucket = mixed >> (64 - bits)
        done = False
        while not done:
            for column in range(WIDTH):
                if slots[bucket, column] == FREE:
                    slots[bucket, column] = <int32_t>new[each]
                    tags[bucket, column] = <uint8_t>mixed
                    done = True
                    break
            else:
                passed[bucket] = True
                bucket = (bucket + 1) & mask


cdef inline uint8_t presence(object found, dict weights) except? 7:
    cdef double total = 0.0
    cdef object weight
    for key in found:
        weight = weights.get(key)
        if weight is not None:
            total += <double>weight
    return <uint8_t>(255 * (1 - exp(-total)) + 0.5) if total > 0 else 0


def link_rows(list links, dict weights):
    cdef Py_ssize_t count = len(links), each, number, size
    cdef bytearray all_terms = bytearray(3 * count)
    cdef bytearray all_anchors = bytearray(2 * ANCHOR_WORDS * count)
    cdef uint8_t[::1] terms = all_terms if count else None
    cdef uint8_t[::1] anchors = all_anchors if count else None
    cdef bytes words
    cdef const uint8_t *code
    cdef uint32_t value
    cdef Py_ssize_t word
    cdef object link, evidence
    for each in range(count):
        link = links[each]
        evidence = link.terms
        if evidence is not None:
            terms[3 * each] = presence(evidence.url.terms, weights)
            terms[3 * each + 1] = presence(evidence.anchor.terms, weights)
            terms[3 * each + 2] = presence(evidence.around.terms, weights)
        words = link.words
        code = words
        number = 0
        for word in range(len(words) // 4):
            value = (code[4 * word] | <uint32_t>code[4 * word + 1] << 8
                     | <uint32_t>code[4 * word + 2] << 16
                     | <uint32_t>code[4 * word + 3] << 24)
            if value >> 29 == 0:
                value >>= MIXED
                anchors[2 * (ANCHOR_WORDS * each + number)] = value & 255
                anchors[2 * (ANCHOR_WORDS * each + number) + 1] = value >> 8
                number += 1
                if number == ANCHOR_WORDS:
                    break
    return bytes(all_terms), bytes(all_anchors)


def raw(const int64_t[::1] slots, const int8_t[:, ::1] vectors,
        const float[::1] direction, const uint8_t[:, ::1] terms,
        const uint16_t[:, ::1] anchors, const float[:, ::1] sums, float base,
        const float[::1] meaning, const float[::1] scores, const uint8_t[::1] parents,
        float[:, ::1] found):
    cdef Py_ssize_t row, place, slot, size = direction.shape[0]
    cdef float total, above
    cdef int used
    cdef uint16_t word
    cdef const int8_t *vector
    for row in range(slots.shape[0]):
        slot = slots[row]
        if size:
            vector = &vectors[slot, 0]
            total = 0.0
            for place in range(size):
                total += vector[place] * direction[place]
            found[row, 0] = meaning[row]
            found[row, 1] = total / 127
        else:
            found[row, 0] = terms[slot, 1] / <float>255
            found[row, 1] = terms[slot, 2] / <float>255
        found[row, 2] = terms[slot, 0] / <float>255
        above = 0.0
        used = 0
        for place in range(ANCHOR_WORDS):
            word = anchors[slot, place]
            if word:
                used += 1
                above += sums[word, 0] - base * sums[word, 1]
        found[row, 3] = above / sqrt(<float>used) if used else 0.0
        found[row, 5] = (scores[row] + base) / (parents[slot] + 1)
