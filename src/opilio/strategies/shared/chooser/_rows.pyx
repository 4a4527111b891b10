# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What `plain_rows` does, which says what that is, compiled."""

from opilio.strategies.shared.chooser import plain_rows

from libc.math cimport exp, rintf, sqrt
from libc.string cimport memcpy
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

EDITION = 9

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(object, Py_UCS4, Py_ssize_t, Py_ssize_t, int) except -2
    Py_ssize_t PyUnicode_Tailmatch(object, object, Py_ssize_t, Py_ssize_t, int) except -1

cdef enum:
    WIDTH = 16
    ANCHOR_WORDS = 6
    ADDRESS_WORDS = 5
    BEFORE_WORDS = 2
    AFTER_WORDS = 3
    LINK_WORDS = 16
    PARTS = 4  # of a link whose words are kept: LinkPart.ANCHOR to AFTER
    MIXED = 29 - 16  # bits of a word's code below its place
    MOST_PARENTS = 4

# Of the parts of a link, in the order of LinkPart: where their words begin, how many
# are kept, and whether these are the last ones.
cdef Py_ssize_t[4] START = [0, 6, 11, 13]
cdef Py_ssize_t[4] ROOM = [ANCHOR_WORDS, ADDRESS_WORDS, BEFORE_WORDS, AFTER_WORDS]
cdef bint[4] FROM_END = [False, True, True, False]

cdef uint64_t MIX = plain_rows.MIX
cdef int32_t FREE = -1
cdef int64_t GONE = -2
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


cdef str section(str url, Py_ssize_t start):
    cdef Py_ssize_t stop = PyUnicode_FindChar(url, <Py_UCS4>63, start, MOST, 1)
    cdef Py_ssize_t size = stop if stop >= 0 else len(url)
    cdef Py_ssize_t place, folder
    cdef str deep = ""
    if stop >= 0:
        return url[start : stop + 1]
    folder = PyUnicode_FindChar(url, <Py_UCS4>47, start, MOST, 1)
    if folder < 0:
        return ""
    for place in range(folder + 1, size):
        if url[place] == u"/":
            deep += "/"
    return url[start:folder] + deep + ("" if url[size - 1] == u"/" else "*")


cdef void word_places(bytes words, uint16_t *places):
    """Write the places of the words of a link, part by part."""
    cdef const uint8_t *code = words
    cdef Py_ssize_t word, part, count = len(words) // 4, column
    cdef Py_ssize_t[8] many, seen
    cdef uint32_t value
    for part in range(8):
        many[part] = seen[part] = 0
    for word in range(count):
        many[code[4 * word + 3] >> 5] += 1
    for word in range(count):
        value = (code[4 * word] | <uint32_t>code[4 * word + 1] << 8
                 | <uint32_t>code[4 * word + 2] << 16
                 | <uint32_t>code[4 * word + 3] << 24)
        part = value >> 29
        if part >= PARTS:
            continue
        column = seen[part]
        seen[part] += 1
        if FROM_END[part] and many[part] > ROOM[part]:
            column -= many[part] - ROOM[part]
        if 0 <= column < ROOM[part]:
            places[START[part] + column] = <uint16_t>((value & 0x1FFFFFFF) >> MIXED)


def link_rows(list links, dict weights, place_of):
    cdef Py_ssize_t count = len(links), each, number, word, size = 0, host = -1
    cdef bytearray all_prints = bytearray(8 * count)
    cdef bytearray all_hosts = bytearray(2 * count)
    cdef bytearray all_sections = bytearray(2 * count)
    cdef bytearray all_terms = bytearray(3 * count)
    cdef bytearray all_words = bytearray(2 * LINK_WORDS * count)
    cdef int64_t *prints = <int64_t *><char *>all_prints
    cdef uint16_t *hosts = <uint16_t *><char *>all_hosts
    cdef uint16_t *sections = <uint16_t *><char *>all_sections
    cdef uint8_t *terms = <uint8_t *><char *>all_terms
    cdef uint16_t *places_of = <uint16_t *><char *>all_words
    cdef bytes words, vector
    cdef str url, name = "", before = "", part, part_before = ""
    cdef dict numbers = {}, known = {}
    cdef list vectors = [], places = []  # of sections, by the number of a host
    cdef uint16_t place = 0
    cdef bint same
    cdef object link, evidence, found
    for each in range(count):
        link = links[each]
        prints[each] = link.fingerprint
        url = link.url
        # Most links lead to the host of the one before, many to its section.
        same = host >= 0 and PyUnicode_Tailmatch(url, before, 0, MOST, -1) == 1
        if not same:
            number = PyUnicode_FindChar(url, <Py_UCS4>47, 0, MOST, 1) + 2
            word = PyUnicode_FindChar(url, <Py_UCS4>47, number, MOST, 1)
            if number < 2 or word < 0:
                raise ValueError(f"{url} is no canonical URL")
            name, before = url[number:word], url[: word + 1]
            host = numbers.setdefault(name, len(numbers))
            if host == len(places):
                places.append({})
            known = places[host]
        part = section(url, len(before))
        if not same or part != part_before:
            found = known.get(part)
            if found is None:
                known[part] = found = place_of(name, part)
            place, part_before = found, part
        hosts[each], sections[each] = <uint16_t>host, place
        vector = link.vector
        size = max(size, len(vector))
        vectors.append(vector)
        evidence = link.terms
        if evidence is not None:
            terms[3 * each] = presence(evidence.url.terms, weights)
            terms[3 * each + 1] = presence(evidence.anchor.terms, weights)
            terms[3 * each + 2] = presence(evidence.around.terms, weights)
        words = link.words
        word_places(words, places_of + LINK_WORDS * each)
    for each in range(count):
        vector = vectors[each]
        if len(vector) < size:
            vectors[each] = vector.ljust(size, b"\0")
    return (tuple(numbers), bytes(all_prints), bytes(all_hosts), bytes(all_sections),
            bytes(all_terms), bytes(all_words), b"".join(vectors))


def distinct(links, left_out):
    cdef dict found = {}
    cdef list prints
    cdef bytearray packed
    cdef int64_t *target
    cdef Py_ssize_t each
    for link in links:
        found[link.fingerprint] = link
    found.pop(left_out, None)
    prints = list(found)
    packed = bytearray(8 * len(prints))
    target = <int64_t *><char *>packed
    for each in range(len(prints)):
        target[each] = prints[each]
    return list(found.values()), prints, bytes(packed)


def sort_out(list links, const int64_t[::1] slots, const uint8_t[::1] parents,
             int64_t[::1] ahead):
    cdef Py_ssize_t each, count = 0
    cdef list teaching = [], settled = [], known = []
    for each in range(slots.shape[0]):
        if slots[each] == GONE:
            settled.append(links[each].fingerprint)
        elif slots[each] >= 0 and parents[slots[each]] >= MOST_PARENTS:
            settled.append(links[each].fingerprint)
            known.append(slots[each])
        else:
            teaching.append(links[each])
            ahead[count] = slots[each]
            count += 1
    return teaching, settled, known


def enter(const int64_t[::1] slots, const uint8_t[::1] fresh, tuple given,
          tuple columns, int32_t page, double score, int64_t[::1] joined,
          float[::1] shares):
    cdef const int32_t[::1] from_hosts = given[0]
    cdef const uint16_t[::1] from_sections = given[1]
    cdef const uint8_t[:, ::1] from_terms = given[2]
    cdef const uint16_t[:, ::1] from_words = given[3]
    cdef const uint8_t[:, ::1] from_vectors = given[4]
    cdef int32_t[::1] hosts = columns[0]
    cdef uint16_t[::1] sections = columns[1]
    cdef uint8_t[:, ::1] terms = columns[2]
    cdef uint16_t[:, ::1] words = columns[3]
    cdef int32_t[::1] pages = columns[4]
    cdef float[::1] scores = columns[5]
    cdef uint8_t[::1] parents = columns[6]
    cdef float[::1] told = columns[7]
    cdef uint8_t[:, ::1] vectors = columns[8]
    cdef Py_ssize_t row, slot, place, count = 0, size = vectors.shape[1]
    cdef double before, weight = PARENT + score
    cdef float mixed, share
    for row in range(slots.shape[0]):
        slot = slots[row]
        if slot < 0:
            continue
        if fresh[row]:
            hosts[slot] = from_hosts[row]
            sections[slot] = from_sections[row]
            pages[slot] = page
            scores[slot] = <float>score
            parents[slot] = 1
            told[slot] = 0.0
            for place in range(3):
                terms[slot, place] = from_terms[row, place]
            if size:
                memcpy(&vectors[slot, 0], &from_vectors[row, 0], size)
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
        for place in range(LINK_WORDS):
            words[slot, place] = from_words[row, place]
    return count
