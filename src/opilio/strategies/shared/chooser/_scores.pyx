# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The loops of `plain_scores`, which documents them, compiled."""

from libc.math cimport exp, isnan, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

EDITION = 6

cdef extern from "Python.h":
    str PyUnicode_FromStringAndSize(const char *, Py_ssize_t)

cdef bytes _pairs = b"".join([b"%02d" % number for number in range(100)])
cdef const char *PAIRS = _pairs  # 00 to 99

cdef float AROUND = 0.5

cdef enum:
    ANCHOR_WORDS = 6
    OWN_WORDS = 11  # of anchor and address
    LINK_WORDS = 16
    HOST = 1  # as many pages as a mean is shrunk by
    PAGE = 2
    FLAT = 30
    LIMIT = 4


def raw(const int64_t[::1] slots, tuple columns, tuple groups, double base,
        double square, const float[:, ::1] tables, const float[:, ::1] sums,
        const float[:, ::1] worth, float[:, ::1] found):
    cdef const uint8_t[:, ::1] vectors = columns[0]
    cdef const float[::1] meaning = columns[1]
    cdef float[::1] taught = columns[2]
    cdef const uint8_t[:, ::1] terms = columns[3]
    cdef const uint16_t[:, ::1] words = columns[4]
    cdef const float[::1] scores = columns[5]
    cdef const uint8_t[::1] parents = columns[6]
    cdef const int32_t[::1] hosts = columns[7]
    cdef const uint16_t[::1] sections = columns[8]
    cdef const int32_t[::1] pages = columns[9]
    cdef const double[::1] host_sum = groups[0], part_sum = groups[2]
    cdef const double[::1] page_sum = groups[4]
    cdef const int32_t[::1] host_count = groups[1], part_count = groups[3]
    cdef const int32_t[::1] page_count = groups[5]
    cdef const double[::1] squares = groups[6]
    cdef Py_ssize_t row, place, slot, size = tables.shape[0]
    cdef float one, two, three, four, above, length, part
    cdef double host, host_square
    cdef int used
    cdef uint16_t word
    cdef const uint8_t *vector
    for row in range(slots.shape[0]):
        slot = slots[row]
        if size:
            if isnan(taught[slot]):
                vector = &vectors[slot, 0]
                one = two = three = four = 0.0
                for place in range(0, size - 3, 4):
                    one += tables[place, vector[place]]
                    two += tables[place + 1, vector[place + 1]]
                    three += tables[place + 2, vector[place + 2]]
                    four += tables[place + 3, vector[place + 3]]
                for place in range(size - size % 4, size):
                    one += tables[place, vector[place]]
                taught[slot] = one + two + three + four
            found[row, 0] = meaning[slot]
            found[row, 1] = taught[slot]
        else:
            found[row, 0] = terms[slot, 1] / <float>255
            found[row, 1] = terms[slot, 2] / <float>255
        found[row, 2] = terms[slot, 0] / <float>255
        above = 0.0
        used = 0
        for place in range(ANCHOR_WORDS):
            word = words[slot, place]
            if word:
                used += 1
                above += sums[word, 0] - <float>base * sums[word, 1]
        found[row, 3] = above / sqrt(<float>used) if used else 0.0
        place = hosts[slot]
        host = (host_sum[place] + HOST * base) / (host_count[place] + HOST)
        found[row, 4] = host
        host_square = (squares[place] + HOST * square) / (host_count[place] + HOST)
        found[row, 5] = (scores[slot] + base) / (parents[slot] + 1)
        place = sections[slot]
        found[row, 6] = ((part_sum[place] + 0.5 * max(host_square, square))
                         / (part_count[place] + 0.5))
        place = pages[slot]
        found[row, 7] = (page_sum[place] + PAGE * host) / (page_count[place] + PAGE)
        length = above = 0.0
        for place in range(LINK_WORDS):
            word = words[slot, place]
            if word:
                part = 1 if place < OWN_WORDS else AROUND
                length += part * part * worth[word, 0] * worth[word, 0]
                above += part * worth[word, 1]
        found[row, 8] = above / sqrt(length) if length > 0 else 0.0


def moved(const int64_t[::1] slots, const int64_t[::1] links, const float[:, ::1] then,
          tuple waiting, tuple evidence, float[::1] total):
    cdef const int64_t[::1] link = waiting[0]
    cdef const float[::1] told = waiting[1]
    cdef Py_ssize_t row, column, count = 0, width = then.shape[1]
    cdef bytearray all_wait = bytearray(8 * slots.shape[0] or 8)
    cdef bytearray all_rows = bytearray(8 * slots.shape[0] or 8)
    cdef bytearray all_now = bytearray(4 * width * slots.shape[0] or 4)
    cdef int64_t *wait = <int64_t *><char *>all_wait
    cdef int64_t *rows = <int64_t *><char *>all_rows
    cdef float *now = <float *><char *>all_now
    for row in range(slots.shape[0]):
        if link[slots[row]] == links[row] and told[slots[row]] >= 0:
            wait[count], rows[count] = slots[row], row
            count += 1
    if count:
        raw(<int64_t[:count]>wait, *evidence, <float[:count, :width]>now)
    for row in range(count):
        for column in range(width):
            total[column] += now[row * width + column] - then[rows[row], column]
    return count


def add_words(const uint16_t[::1] words, const uint8_t[::1] shares, float score,
              const float[::1] rare, float[:, ::1] sums):
    cdef Py_ssize_t each
    cdef double square = 0.0
    cdef float value, length
    for each in range(shares.shape[0]):
        square += <double>shares[each] * shares[each]
    if square == 0:
        return
    length = sqrt(square)
    for each in range(words.shape[0]):
        value = shares[each] / length * rare[words[each]]
        sums[words[each], 0] += score * value
        sums[words[each], 1] += value


cdef inline double logistic(double logit) noexcept:
    return 1 / (1 + exp(-min(max(logit, -FLAT), FLAT)))


def weigh(const int64_t[::1] slots, float[:, ::1] rows, tuple scales, tuple visits,
          double explore, double bias, float[:, ::1] added, float[::1] promises):
    cdef const float[::1] mean = scales[0], spread = scales[1], weights = scales[2]
    cdef const int32_t[::1] hosts = visits[0], counts = visits[1]
    cdef Py_ssize_t row, column, last = rows.shape[1]
    cdef float z, part, total
    cdef double pages
    for row in range(slots.shape[0]):
        total = 0.0
        for column in range(last):
            z = (rows[row, column] - mean[column]) / spread[column]
            z = min(max(z, -<float>LIMIT), <float>LIMIT)
            rows[row, column] = z
            part = z * weights[column]
            added[row, column] = part
            total += part
        pages = 1.0 + counts[hosts[slots[row]]]
        part = <float>(explore / (pages * pages))
        added[row, last] = part
        promises[row] = <float>logistic(total + part + bias)


cdef char *write_number(char *at, double value) noexcept:
    """Write a number with six digits after the point; returns where it ends."""
    cdef int64_t micros = <int64_t>rint(value * 1e6)
    cdef uint64_t size = <uint64_t>(-micros if micros < 0 else micros)
    cdef uint32_t after = <uint32_t>(size % 1000000)
    if micros < 0:
        at[0] = c"-"
        at += 1
    size //= 1000000
    if size > 99:  # a promise is at most 1; its parts may be more, but not so much
        size = 99
    if size > 9:
        at[0] = <char>(48 + size // 10)
        at += 1
    at[0] = <char>(48 + size % 10)
    at[1] = c"."
    memcpy(at + 2, PAIRS + 2 * (after // 10000), 2)
    memcpy(at + 4, PAIRS + 2 * (after // 100 % 100), 2)
    memcpy(at + 6, PAIRS + 2 * (after % 100), 2)
    return at + 8


cdef str parts_of(char *room, tuple names, double bias, const float *added,
                  Py_ssize_t columns, const uint8_t *used):
    """What a promise is made of, in JSON: the share of each column that counts."""
    cdef Py_ssize_t column, size
    cdef double total = 0.0, before = logistic(bias), slope
    cdef char *at = room
    cdef bytes name = names[0]
    for column in range(columns):
        total += added[column]
    if -1e-6 < total < 1e-6:
        slope = before * (1 - before)
    else:
        slope = (logistic(bias + total) - before) / total
    at[0] = c"{"
    at += 1
    memcpy(at, <const char *>name, len(name))
    at = write_number(at + len(name), before)
    for column in range(columns):
        if used[column]:
            at[0] = c","
            name = names[column + 1]
            memcpy(at + 1, <const char *>name, len(name))
            at = write_number(at + 1 + len(name), slope * added[column])
    at[0] = c"}"
    return PyUnicode_FromStringAndSize(room, at + 1 - room)


def tell(const int64_t[::1] slots, Py_ssize_t count, const float[::1] promises,
         const float[:, ::1] added, tuple columns, tuple names, double bias,
         float change, dict latest, dict revised):
    cdef float[::1] told = columns[0]
    cdef const int64_t[::1] links = columns[1]
    cdef Py_ssize_t row, column, width = added.shape[1], slot
    cdef uint8_t[64] used
    cdef float now
    cdef list lower = []
    cdef bytearray all_changed = bytearray(slots.shape[0] or 1)
    cdef uint8_t[::1] changed = all_changed
    cdef bytearray room = bytearray(sum([len(name) + 32 for name in names]))
    cdef object found
    if width > 64 or len(names) != width + 1:
        raise ValueError("there are at most 64 kinds of evidence, each with a name")
    for column in range(width):
        used[column] = False
    for row in range(slots.shape[0]):
        slot = slots[row]
        now = told[slot]
        if row < count:
            changed[row] = 2 if promises[row] < now * (1 - change) else 1
            told[slot] = promises[row]
        elif abs(promises[row] - now) > change * now:
            changed[row] = 1
    for row in range(slots.shape[0]):
        if changed[row]:
            for column in range(width):
                used[column] |= added[row, column] != 0
    for row in range(slots.shape[0]):
        if not changed[row]:
            continue
        told[slots[row]] = promises[row]
        found = (promises[row],
                 parts_of(room, names, bias, &added[row, 0], width, used))
        if row < count:
            latest[links[slots[row]]] = found
            if changed[row] == 2:
                lower.append((links[slots[row]], found))
        else:
            revised[links[slots[row]]] = found
    revised.update(lower)
