# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What `plain_rows` does, which says what that is, compiled."""

from libc.math cimport exp, rint, rintf, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

EDITION = 2

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(object, Py_UCS4, Py_ssize_t, Py_ssize_t, int) except -2
    Py_ssize_t PyUnicode_Tailmatch(object, object, Py_ssize_t, Py_ssize_t, int) except -1

cdef enum:
    WIDTH = 16
    ANCHOR_WORDS = 6
    MIXED = 29 - 16  # bits of a word's code below its place
    HOST = 1  # as many pages as a mean is shrunk by
    PATH = 3
    PAGE = 2
    FLAT = 30
    LIMIT = 4
    MOST_PARENTS = 4

cdef uint64_t MIX = 0x9E3779B97F4A7C15
cdef int32_t FREE = -1
cdef double PARENT = 0.2
cdef Py_ssize_t MOST = 0x7FFFFFFF  # characters


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
    if not found:
        return 0
    for key in found:
        weight = weights.get(key)
        if weight is not None:
            total += <double>weight
    return <uint8_t>(255 * (1 - exp(-total)) + 0.5) if total > 0 else 0


def link_rows(list links, dict weights, place_of):
    cdef Py_ssize_t count = len(links), each, number, word, size = 0, host = -1
    cdef bytearray all_prints = bytearray(8 * count)
    cdef bytearray all_hosts = bytearray(2 * count)
    cdef bytearray all_paths = bytearray(2 * count)
    cdef bytearray all_terms = bytearray(3 * count)
    cdef bytearray all_anchors = bytearray(2 * ANCHOR_WORDS * count)
    cdef int64_t *prints = <int64_t *><char *>all_prints
    cdef uint16_t *hosts = <uint16_t *><char *>all_hosts
    cdef uint16_t *paths = <uint16_t *><char *>all_paths
    cdef uint8_t *terms = <uint8_t *><char *>all_terms
    cdef uint8_t *anchors = <uint8_t *><char *>all_anchors
    cdef bytes words, vector
    cdef str url, name = "", before = "", path, path_before = ""
    cdef dict numbers = {}
    cdef list vectors = []
    cdef const uint8_t *code
    cdef uint32_t value
    cdef uint16_t place = 0
    cdef bint same
    cdef object link, evidence
    for each in range(count):
        link = links[each]
        prints[each] = link.fingerprint
        url = link.url
        path = link.path
        # Most links lead to the host of the one before, and many have its path.
        same = host >= 0 and PyUnicode_Tailmatch(url, before, 0, MOST, -1) == 1
        if not same:
            number = PyUnicode_FindChar(url, <Py_UCS4>47, 0, MOST, 1) + 2
            word = PyUnicode_FindChar(url, <Py_UCS4>47, number, MOST, 1)
            if number < 2 or word < 0:
                raise ValueError(f"{url} is no canonical URL")
            name, before = url[number:word], url[: word + 1]
            host = numbers.setdefault(name, len(numbers))
        if not same or path != path_before:
            place, path_before = place_of(name, path), path
        hosts[each], paths[each] = <uint16_t>host, place
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
    return (tuple(numbers), bytes(all_prints), bytes(all_hosts), bytes(all_paths),
            bytes(all_terms), bytes(all_anchors), b"".join(vectors))


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


cdef dict parts_of(tuple names, double bias, object usual, const float *added,
                   Py_ssize_t columns, const uint8_t *used):
    """What a promise is made of, column by column, without those that never count."""
    cdef Py_ssize_t column
    cdef double total = 0.0, before = logistic(bias), slope
    cdef dict parts = {names[0]: usual}
    for column in range(columns):
        total += added[column]
    if -1e-6 < total < 1e-6:
        slope = before * (1 - before)
    else:
        slope = (logistic(bias + total) - before) / total
    for column in range(columns):
        if used[column]:
            parts[names[column + 1]] = rint(slope * added[column] * 1e6) / 1e6
    return parts


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
    cdef object usual = rint(logistic(bias) * 1e6) / 1e6, found
    if width > 64:
        raise ValueError("there are at most 64 kinds of evidence")
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
                 parts_of(names, bias, usual, &added[row, 0], width, used))
        if row < count:
            latest[links[slots[row]]] = found
            if changed[row] == 2:
                lower.append((links[slots[row]], found))
        else:
            revised[links[slots[row]]] = found
    revised.update(lower)


def enter(const int64_t[::1] slots, const uint8_t[::1] fresh, tuple given,
          tuple columns, int32_t page, double score, int64_t[::1] joined,
          float[::1] shares):
    cdef const int32_t[::1] from_hosts = given[0]
    cdef const uint16_t[::1] from_paths = given[1]
    cdef const uint8_t[:, ::1] from_terms = given[2]
    cdef const uint16_t[:, ::1] from_anchors = given[3]
    cdef int32_t[::1] hosts = columns[0]
    cdef uint16_t[::1] paths = columns[1]
    cdef uint8_t[:, ::1] terms = columns[2]
    cdef uint16_t[:, ::1] anchors = columns[3]
    cdef int32_t[::1] pages = columns[4]
    cdef float[::1] scores = columns[5]
    cdef uint8_t[::1] parents = columns[6]
    cdef float[::1] told = columns[7]
    cdef Py_ssize_t row, slot, place, count = 0
    cdef double before, weight = PARENT + score
    cdef float mixed, share
    for row in range(slots.shape[0]):
        slot = slots[row]
        if slot < 0:
            continue
        if fresh[row]:
            hosts[slot] = from_hosts[row]
            pages[slot] = page
            scores[slot] = <float>score
            parents[slot] = 1
            told[slot] = 0.0
            for place in range(3):
                terms[slot, place] = from_terms[row, place]
        elif parents[slot] >= MOST_PARENTS or pages[slot] == page:
            continue
        else:
            before = PARENT * parents[slot] + scores[slot]
            share = <float>(weight / (before + weight))
            joined[count], shares[count] = row, share
            count += 1
            for place in range(1, 3):
                mixed = terms[slot, place]
                mixed += share * (from_terms[row, place] - mixed)
                terms[slot, place] = <uint8_t>rintf(mixed)
            before /= parents[slot]
            scores[slot] += <float>score
            parents[slot] += 1
            if weight <= before:
                continue
        paths[slot] = from_paths[row]
        for place in range(ANCHOR_WORDS):
            anchors[slot, place] = from_anchors[row, place]
    return count


def mix(int8_t[:, ::1] vectors, const int64_t[::1] slots,
        const int8_t[:, ::1] given, const int64_t[::1] rows, const float[::1] shares):
    cdef Py_ssize_t each, slot, row, place, size = vectors.shape[1]
    cdef float share, mixed, length
    for each in range(slots.shape[0]):
        slot, row, share = slots[each], rows[each], shares[each]
        length = 0.0
        for place in range(size):
            mixed = vectors[slot, place]
            mixed += share * (given[row, place] - mixed)
            length += mixed * mixed
        if length == 0:
            for place in range(size):
                vectors[slot, place] = 0
            continue
        length = 127 / sqrt(length)
        for place in range(size):
            mixed = vectors[slot, place]
            mixed += share * (given[row, place] - mixed)
            vectors[slot, place] = <int8_t>rintf(mixed * length)
