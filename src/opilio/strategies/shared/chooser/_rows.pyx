# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What `plain_rows` does, which says what that is, compiled."""

from libc.math cimport exp, rint, rintf, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

EDITION = 1

cdef enum:
    WIDTH = 16
    ANCHOR_WORDS = 6
    MIXED = 29 - 16  # bits of a word's code below its place
    HOST = 1  # as many pages as a mean is shrunk by
    PATH = 3
    PAGE = 2
    FLAT = 30

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
    cdef Py_ssize_t count = len(links), each, number, word, size = 0
    cdef bytearray all_terms = bytearray(3 * count)
    cdef bytearray all_anchors = bytearray(2 * ANCHOR_WORDS * count)
    cdef uint8_t[::1] terms = all_terms if count else None
    cdef uint8_t[::1] anchors = all_anchors if count else None
    cdef bytes words, vector
    cdef str url, host
    cdef list prints = [], hosts = [], vectors = []
    cdef const uint8_t *code
    cdef uint32_t value
    cdef object link, evidence
    for each in range(count):
        link = links[each]
        prints.append(link.fingerprint)
        url = link.url
        number = url.find("//") + 2
        hosts.append(url[number : url.find("/", number)])
        vector = link.vector
        size = max(size, len(vector))
        vectors.append(vector)
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
    for each in range(count):
        vector = vectors[each]
        if len(vector) < size:
            vectors[each] = vector.ljust(size, b"\0")
    return prints, hosts, bytes(all_terms), bytes(all_anchors), b"".join(vectors)


def raw(const int64_t[::1] slots, tuple columns, tuple groups, double base,
        const float[::1] direction, const float[:, ::1] sums, float[:, ::1] found):
    cdef const int8_t[:, ::1] vectors = columns[0]
    cdef const float[::1] meaning = columns[1]
    cdef const uint8_t[:, ::1] terms = columns[2]
    cdef const uint16_t[:, ::1] anchors = columns[3]
    cdef const float[::1] scores = columns[4]
    cdef const uint8_t[::1] parents = columns[5]
    cdef const int32_t[::1] hosts = columns[6]
    cdef const uint16_t[::1] paths = columns[7]
    cdef const int32_t[::1] pages = columns[8]
    cdef const double[::1] host_sum = groups[0], path_sum = groups[2]
    cdef const double[::1] page_sum = groups[4]
    cdef const int32_t[::1] host_count = groups[1], path_count = groups[3]
    cdef const int32_t[::1] page_count = groups[5]
    cdef Py_ssize_t row, place, slot, size = direction.shape[0]
    cdef float one, two, three, four, above
    cdef double host
    cdef int used
    cdef uint16_t word
    cdef const int8_t *vector
    for row in range(slots.shape[0]):
        slot = slots[row]
        if size:
            vector = &vectors[slot, 0]
            one = two = three = four = 0.0
            for place in range(0, size - 3, 4):
                one += vector[place] * direction[place]
                two += vector[place + 1] * direction[place + 1]
                three += vector[place + 2] * direction[place + 2]
                four += vector[place + 3] * direction[place + 3]
            for place in range(size - size % 4, size):
                one += vector[place] * direction[place]
            found[row, 0] = meaning[slot]
            found[row, 1] = (one + two + three + four) / 127
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
                above += sums[word, 0] - <float>base * sums[word, 1]
        found[row, 3] = above / sqrt(<float>used) if used else 0.0
        place = hosts[slot]
        host = (host_sum[place] + HOST * base) / (host_count[place] + HOST)
        found[row, 4] = host
        found[row, 5] = (scores[slot] + base) / (parents[slot] + 1)
        place = paths[slot]
        found[row, 6] = (path_sum[place] + PATH * host) / (path_count[place] + PATH)
        place = pages[slot]
        found[row, 7] = (page_sum[place] + PAGE * host) / (page_count[place] + PAGE)


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


def shared(tuple names, double bias, const float[:, :] added):
    cdef Py_ssize_t row, column
    cdef list found = []
    cdef dict parts
    cdef double usual = logistic(bias), total, slope
    cdef object first = rint(usual * 1e6) / 1e6
    for row in range(added.shape[0]):
        total = 0.0
        for column in range(added.shape[1]):
            total += added[row, column]
        if -1e-6 < total < 1e-6:
            slope = usual * (1 - usual)
        else:
            slope = (logistic(bias + total) - usual) / total
        parts = {names[0]: first}
        for column in range(added.shape[1]):
            parts[names[column + 1]] = rint(slope * added[row, column] * 1e6) / 1e6
        found.append(parts)
    return found


def begin(const int64_t[::1] slots, const int64_t[::1] rows, tuple given,
          tuple columns):
    cdef const int32_t[::1] from_hosts = given[0]
    cdef const uint16_t[::1] from_paths = given[1]
    cdef const uint8_t[:, ::1] from_terms = given[2]
    cdef const uint16_t[:, ::1] from_anchors = given[3]
    cdef const int8_t[:, ::1] from_vectors = given[4]
    cdef int32_t[::1] hosts = columns[0]
    cdef uint16_t[::1] paths = columns[1]
    cdef uint8_t[:, ::1] terms = columns[2]
    cdef uint16_t[:, ::1] anchors = columns[3]
    cdef int8_t[:, ::1] vectors = columns[4]
    cdef Py_ssize_t each, slot, row, place
    for each in range(slots.shape[0]):
        slot, row = slots[each], rows[each]
        hosts[slot] = from_hosts[row]
        paths[slot] = from_paths[row]
        for place in range(3):
            terms[slot, place] = from_terms[row, place]
        for place in range(ANCHOR_WORDS):
            anchors[slot, place] = from_anchors[row, place]
        for place in range(vectors.shape[1]):
            vectors[slot, place] = from_vectors[row, place]


def join(const int64_t[::1] slots, const int64_t[::1] rows, tuple given, tuple columns,
         const float[::1] shares, const uint8_t[::1] better):
    cdef const uint16_t[::1] from_paths = given[0]
    cdef const uint8_t[:, ::1] from_terms = given[1]
    cdef const uint16_t[:, ::1] from_anchors = given[2]
    cdef const int8_t[:, ::1] from_vectors = given[3]
    cdef uint16_t[::1] paths = columns[0]
    cdef uint8_t[:, ::1] terms = columns[1]
    cdef uint16_t[:, ::1] anchors = columns[2]
    cdef int8_t[:, ::1] vectors = columns[3]
    cdef Py_ssize_t each, slot, row, place, size = vectors.shape[1]
    cdef float share, mixed, length
    for each in range(slots.shape[0]):
        slot, row, share = slots[each], rows[each], shares[each]
        if better[each]:
            paths[slot] = from_paths[row]
            for place in range(ANCHOR_WORDS):
                anchors[slot, place] = from_anchors[row, place]
        for place in range(1, 3):
            mixed = terms[slot, place]
            mixed += share * (from_terms[row, place] - mixed)
            terms[slot, place] = <uint8_t>rintf(mixed)
        length = 0.0
        for place in range(size):
            mixed = vectors[slot, place]
            mixed += share * (from_vectors[row, place] - mixed)
            length += mixed * mixed
        if length == 0:
            for place in range(size):
                vectors[slot, place] = 0
            continue
        length = 127 / sqrt(length)
        for place in range(size):
            mixed = vectors[slot, place]
            mixed += share * (from_vectors[row, place] - mixed)
            vectors[slot, place] = <int8_t>rintf(mixed * length)
