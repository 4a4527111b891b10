# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The kernels of `plain_kernels`, which says what each does, compiled.

Every function answers what the one of the same name answers there; the tests of reading
run with both. Lengths are checked here once, so that the loops need not; numbers of
nodes are trusted, as they come from the tree of terms alone.
"""

from libc.math cimport log, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memchr, memcpy, memset

import numpy as np

from opilio.read import plain_kernels as plain
from opilio.read.simhash import STEPS

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define OPILIO_PREFETCH(p) __builtin_prefetch(p)
    #else
    #define OPILIO_PREFETCH(p)
    #endif
    """
    void prefetch "OPILIO_PREFETCH"(const void *) noexcept nogil

cdef enum:
    LONG = 64
    NO_KEY = 1
    AHEAD = 12  # keys whose places are fetched before they are needed
    LOGS = 256  # counts whose logarithms are remembered
    LATIN_LEAD = 0xC2
    GENERAL_LEAD = 0xE2
    GENERAL_SECOND = 0x80

EDITION = 1

cdef uint64_t ODD = 0x9E3779B97F4A7C15

cdef uint8_t[256] ASCII
cdef uint8_t[256] LATIN
cdef uint8_t[256] GENERAL
cdef double[LOGS] WEIGHTS
cdef int64_t[LOGS] FINE

cdef int code
for code in range(256):
    ASCII[code] = plain._ASCII[code]
    LATIN[code] = plain._LATIN[code]
    GENERAL[code] = plain._GENERAL[code]
for code in range(1, LOGS):
    WEIGHTS[code] = 1 + log(code)
    FINE[code] = <int64_t>rint(STEPS * WEIGHTS[code])


cdef inline uint64_t mix(uint64_t value) noexcept nogil:
    value = value * ODD
    return value ^ (value >> 32)


cdef inline double weight(int64_t times) noexcept nogil:
    return WEIGHTS[times] if times < LOGS else 1 + log(<double>times)


cdef inline int separator(const uint8_t *text, Py_ssize_t left) noexcept nogil:
    """How many of the next bytes are a separator beyond ASCII."""
    cdef uint8_t second = text[1] if left > 1 else 0
    cdef uint8_t third = text[2] if left > 2 else 0
    if text[0] == LATIN_LEAD:
        return 2 if LATIN[second] else 0
    if text[0] == GENERAL_LEAD and second == GENERAL_SECOND and GENERAL[third]:
        return 3
    return 0


def split(bytes text not None):
    cdef Py_ssize_t size = len(text), at = 0, runs = 0, start = 0, length
    cdef const uint8_t *source = text
    cdef bytes data = bytes(size + 9)
    # The object is new, and nobody else has seen it yet.
    cdef uint8_t *cells = <uint8_t *><const uint8_t *>data + 1
    cdef uint8_t byte
    cdef int skipped
    cdef uint64_t key, eight
    cdef Py_ssize_t done
    starts_array = np.empty(size // 2 + 1, np.int64)
    lengths_array = np.empty(size // 2 + 1, np.int64)
    keys_array = np.empty(size // 2 + 1, np.uint64)
    cdef int64_t[::1] starts = starts_array
    cdef int64_t[::1] lengths = lengths_array
    cdef uint64_t[::1] keys = keys_array
    while at < size:
        if not ASCII[source[at]]:
            at += 1
            continue
        start = at
        while at < size:
            byte = ASCII[source[at]]
            if not byte:
                break
            if byte > 127:
                skipped = separator(source + at, size - at)
                if skipped:
                    break
            cells[at] = byte
            at += 1
        length = at - start
        if length:
            starts[runs] = start
            lengths[runs] = length
            key = 0
            if length <= LONG:
                # What follows the run is not written yet: zeros.
                for done in range(0, length, 8):
                    memcpy(&eight, cells + start + done, 8)
                    key = mix(key ^ eight)
            keys[runs] = key
            runs += 1
        if at < size:
            at += skipped if source[at] > 127 else 1
    return data, starts_array[:runs], lengths_array[:runs], keys_array[:runs]


cdef check_table(const uint64_t[:, ::1] table):
    cdef Py_ssize_t rows = table.shape[0]
    if table.shape[1] != 3 or rows & (rows - 1) or rows < 2:
        raise ValueError("a table has three columns and 2ⁿ rows")


def look_up(const uint64_t[:, ::1] table not None, const uint64_t[::1] keys not None):
    cdef Py_ssize_t size = keys.shape[0], at, unknown = 0
    cdef uint64_t last = table.shape[0] - 1, key
    cdef int shift = 65 - (<object>(table.shape[0])).bit_length()
    cdef const uint64_t *row
    stems_array = np.empty(size, np.uint64)
    nodes_array = np.empty(size, np.int64)
    new_array = np.empty(size, np.int64)
    cdef uint64_t[::1] stems = stems_array
    cdef int64_t[::1] nodes = nodes_array
    cdef int64_t[::1] new = new_array
    check_table(table)
    for at in range(size):
        if at + AHEAD < size:
            prefetch(&table[keys[at + AHEAD] >> shift, 0])
        key = keys[at]
        row = &table[key >> shift, 0]
        if row[0] != key:
            row = &table[key & last, 0]
            if row[0] != key:
                new[unknown] = at
                unknown += 1
        stems[at] = row[1]
        nodes[at] = <int64_t>row[2]
    return stems_array, nodes_array, new_array[:unknown]


cdef inline int64_t node_of(
    const uint64_t *nodes, const int32_t *begins, int shift, uint64_t value
) noexcept nogil:
    # The last of the nodes is the greatest number there is: the search ends.
    cdef int64_t at = begins[value >> shift]
    while nodes[at] < value:
        at += 1
    return at if nodes[at] == value else 0


def learn(
    const uint64_t[::1] tree not None,
    const int32_t[::1] begins not None,
    uint64_t[:, ::1] table not None,
    const uint64_t[::1] keys not None,
    const int64_t[:] new not None,
    const uint64_t[::1] stems not None,
    int64_t[::1] nodes not None,
):
    cdef int shift = 65 - (<object>(begins.shape[0])).bit_length()
    cdef int first = 65 - (<object>(table.shape[0])).bit_length()
    cdef uint64_t last = table.shape[0] - 1, key, place
    cdef int64_t word
    cdef Py_ssize_t at
    check_table(table)
    if not keys.shape[0] == stems.shape[0] == nodes.shape[0]:
        raise ValueError("every word has a key, a stem and a node")
    for at in range(new.shape[0]):
        word = new[at]
        if not 0 <= word < keys.shape[0]:
            raise IndexError("there is no such word")
        nodes[word] = node_of(&tree[0], &begins[0], shift, stems[word])
        key = keys[word]
        if key:
            place = key >> first
            if table[place, 0] != NO_KEY and table[place, 0] != key:
                place = key & last
            table[place, 0] = key
            table[place, 1] = stems[word]
            table[place, 2] = <uint64_t>nodes[word]


def characters(bytes text not None, starts_array):
    if text.isascii():
        return starts_array
    cdef const int64_t[::1] starts = np.ascontiguousarray(starts_array)
    cdef Py_ssize_t size = len(text), words = starts.shape[0], at = 0, word
    cdef const uint8_t *source = text
    cdef int64_t further = 0
    found = np.empty(words, np.int64)
    cdef int64_t[::1] before = found
    for word in range(words):
        if starts[word] > size:
            raise ValueError("a word begins after the text")
        while at < starts[word]:
            further += (source[at] & 0xC0) == 0x80
            at += 1
        before[word] = starts[word] - further
    return found


def phrases(
    const uint64_t[::1] nodes not None,
    const int32_t[::1] begins not None,
    const uint8_t[::1] goes_on not None,
    const uint8_t[::1] ends not None,
    bytes text not None,
    const int64_t[:] starts not None,
    const uint64_t[::1] stems not None,
    const int64_t[::1] of_words not None,
    const uint8_t[::1] apart,
):
    cdef const char *source = text
    cdef Py_ssize_t size = stems.shape[0], word, at, found = 0, here, low, high
    cdef int shift = 65 - (<object>(begins.shape[0])).bit_length()
    cdef bint some_apart = apart is not None
    cdef int64_t node, swap
    cdef Py_ssize_t room = 64
    columns = np.empty((room, 3), np.int64)
    cdef int64_t[:, ::1] rows = columns
    if not starts.shape[0] == of_words.shape[0] == size:
        raise ValueError("every word has a stem, a node and a place")
    if size and starts[size - 1] > len(text) or some_apart and apart.shape[0] < size:
        raise ValueError("there are more words than text, or marks")
    for word in range(size):
        node = of_words[word]
        if not node or not goes_on[node]:
            continue
        here = found
        at = word
        while goes_on[node] and at + 1 < size:
            at += 1
            if some_apart and apart[at] or starts[at] < starts[at - 1]:
                break
            if memchr(source + starts[at - 1], b"\n", starts[at] - starts[at - 1]):
                break
            node = node_of(
                &nodes[0], &begins[0], shift, mix(nodes[node]) ^ stems[at]
            )
            if not node:
                break
            if ends[node]:
                if found == room:
                    room *= 2
                    columns = np.resize(columns, (room, 3))
                    rows = columns
                rows[found, 0] = word
                rows[found, 1] = at
                rows[found, 2] = node
                found += 1
        low, high = here, found - 1
        while low < high:  # the longest first
            for column in range(1, 3):
                swap = rows[low, column]
                rows[low, column] = rows[high, column]
                rows[high, column] = swap
            low += 1
            high -= 1
    first, last, node_column = columns[:found].T.copy()
    return first, last, node_column


def hits(
    const uint8_t[::1] ends not None,
    const int64_t[::1] of_words not None,
    const int64_t[:] first not None,
):
    cdef Py_ssize_t word, found = 0, phrase = 0
    numbers = np.empty(of_words.shape[0], np.int64)
    cdef int64_t[::1] words = numbers
    for word in range(of_words.shape[0]):
        while phrase < first.shape[0] and first[phrase] < word:
            phrase += 1
        if (
            ends[of_words[word]]
            or phrase < first.shape[0] and first[phrase] == word
        ):
            words[found] = word
            found += 1
    return numbers[:found]


cdef struct Kind:
    # A stem of an owner, and how often it was met; 0: a free place.
    uint64_t stem
    int32_t owner
    int32_t times


cdef struct Kinds:
    # An open table of them.
    Kind *places
    uint64_t mask


cdef int make_kinds(Kinds *kinds, Py_ssize_t words) except -1:
    cdef uint64_t room = 64
    while room < <uint64_t>(2 * words):
        room *= 2
    kinds.places = <Kind *>calloc(room, sizeof(Kind))
    kinds.mask = room - 1
    if not kinds.places:
        raise MemoryError
    return 0


cdef inline void meet(Kinds *kinds, uint64_t stem, int32_t owner) noexcept nogil:
    cdef uint64_t at = mix(stem + <uint64_t>owner * ODD) >> 7 & kinds.mask
    cdef Kind *kind = &kinds.places[at]
    while kind.times:
        if kind.stem == stem and kind.owner == owner:
            kind.times += 1
            return
        at = (at + 1) & kinds.mask
        kind = &kinds.places[at]
    kind.stem = stem
    kind.owner = owner
    kind.times = 1


# Each of the eight bits of a byte in sixteen bits of its own.
cdef uint64_t[256][2] SPREAD
for code in range(256):
    SPREAD[code][0] = SPREAD[code][1] = 0
    for bit in range(4):
        SPREAD[code][0] |= <uint64_t>(code >> bit & 1) << (16 * bit)
        SPREAD[code][1] |= <uint64_t>(code >> (bit + 4) & 1) << (16 * bit)


cdef void add_up(uint64_t *lanes, int64_t *above) noexcept nogil:
    """Put what the sixteen bits of each place hold to what was there, and clear it."""
    cdef int lane, bit
    for lane in range(16):
        for bit in range(4):
            above[4 * lane + bit] += lanes[lane] >> (16 * bit) & 0xFFFF
        lanes[lane] = 0


cdef weigh(const uint64_t[:] stems):
    cdef Py_ssize_t size = stems.shape[0], at, pending = 0
    cdef Kinds kinds
    cdef int64_t[64] above
    cdef uint64_t[16] lanes
    cdef int64_t times, total = 0
    cdef uint64_t stem, fine, simhash = 0
    cdef double squares = 0, one
    cdef int bit, byte
    if not size:
        return 0.0, 0
    make_kinds(&kinds, size)
    memset(above, 0, sizeof(above))
    memset(lanes, 0, sizeof(lanes))
    for at in range(size):
        meet(&kinds, stems[at], 0)
    for at in range(<Py_ssize_t>kinds.mask + 1):
        times = kinds.places[at].times
        if not times:
            continue
        one = weight(times)
        squares += one * one
        # At most 255, as no text has more than 2²⁰ words.
        fine = FINE[times] if times < LOGS else <uint64_t>rint(FINE[1] * one)
        total += fine
        stem = kinds.places[at].stem
        for byte in range(8):
            lanes[2 * byte] += SPREAD[stem & 255][0] * fine
            lanes[2 * byte + 1] += SPREAD[stem & 255][1] * fine
            stem >>= 8
        pending += 1
        if pending == 256:
            add_up(lanes, above)
            pending = 0
    add_up(lanes, above)
    free(kinds.places)
    for bit in range(64):
        if 2 * above[bit] > total:
            simhash |= <uint64_t>1 << bit
    return sqrt(squares), <int64_t>simhash


cdef Py_ssize_t bisect(const int64_t[:] values, int64_t value) noexcept:
    """How many of the ascending values are less."""
    cdef Py_ssize_t low = 0, high = values.shape[0], middle
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


cdef Py_ssize_t next_hit(
    const int64_t[:] hits, const int64_t[:] starts, int64_t place
) noexcept:
    """The first of the hits that does not begin before a place."""
    cdef Py_ssize_t low = 0, high = hits.shape[0], middle
    while low < high:
        middle = (low + high) >> 1
        if starts[hits[middle]] < place:
            low = middle + 1
        else:
            high = middle
    return low


cdef struct Span:
    # A part of a text by the characters before it and before what follows it.
    int64_t owner
    int64_t begin
    int64_t end


cdef class Asked:
    """The words of a text, their terms, and the parts of it that are asked for."""

    cdef list names
    cdef const int64_t[:] nodes
    cdef const uint64_t[:] stems
    cdef const int64_t[:] starts
    cdef const int64_t[:] hits
    cdef const int64_t[:] first
    cdef const int64_t[:] last
    cdef const int64_t[:] node
    cdef bint overlapping
    cdef Span *spans
    cdef Py_ssize_t size

    def __cinit__(self, text, parts):
        self.names, self.nodes, self.stems, self.starts = text[:4]
        self.hits, phrases, self.overlapping = text[4:]
        self.first, self.last, self.node = phrases
        if not self.nodes.shape[0] == self.stems.shape[0] == self.starts.shape[0]:
            raise ValueError("every word has a stem, a node and a place")
        if not self.first.shape[0] == self.last.shape[0] == self.node.shape[0]:
            raise ValueError("every phrase has two ends and a node")
        self.spans = <Span *>calloc(len(parts) + 1, sizeof(Span))
        if not self.spans:
            raise MemoryError
        for owner, begin, end in parts:
            if owner < 0:
                raise ValueError("a part belongs to nobody")
            self.spans[self.size] = Span(owner, begin, end)
            self.size += 1

    def __dealloc__(self):
        free(self.spans)

    cdef dict terms(self):
        """The terms of each owner."""
        cdef dict found = {}
        cdef Py_ssize_t at
        if self.hits.shape[0]:
            for at in range(self.size):
                self.note_span(&self.spans[at], found)
        return found

    cdef int note_span(self, Span *span, dict found) except -1:
        cdef dict until = {}
        cdef int64_t word, end, done = -1, stop
        cdef Py_ssize_t phrase, at = next_hit(self.hits, self.starts, span.begin)
        cdef bint any_phrase
        cdef str name
        if at == self.hits.shape[0] or self.starts[self.hits[at]] >= span.end:
            return 0
        end = bisect(self.starts, span.end)
        for at in range(at, self.hits.shape[0]):
            word = self.hits[at]
            if word >= end:
                break
            if word <= done:
                continue
            any_phrase = False
            for phrase in range(bisect(self.first, word), self.first.shape[0]):
                if self.first[phrase] != word:
                    break
                stop = self.last[phrase]
                if stop >= end:
                    continue
                if self.overlapping:
                    if word <= until.get(self.node[phrase], -1):
                        continue
                    until[self.node[phrase]] = stop
                elif done < word or done == stop:
                    done = stop
                else:
                    continue
                any_phrase = True
                note(found, span.owner, self.names[self.node[phrase]])
            if self.overlapping or not any_phrase:
                name = self.names[self.nodes[word]]
                if name:
                    note(found, span.owner, name)
        return 0

    cdef int meet_words(self, Kinds *kinds, const int32_t *of_owner) except -1:
        """The stems of all owners that have a number; how many are not 0 is unknown."""
        cdef Py_ssize_t at, word, words = 0
        cdef int64_t first
        for at in range(self.size):
            if of_owner[self.spans[at].owner] >= 0:
                words += max(
                    bisect(self.starts, self.spans[at].end)
                    - bisect(self.starts, self.spans[at].begin),
                    0,
                )
        make_kinds(kinds, words)
        for at in range(self.size):
            if of_owner[self.spans[at].owner] >= 0:
                first = bisect(self.starts, self.spans[at].begin)
                for word in range(first, bisect(self.starts, self.spans[at].end)):
                    meet(kinds, self.stems[word], of_owner[self.spans[at].owner])
        return 0


cdef int note(dict found, int64_t owner, str name) except -1:
    cdef dict terms = found.get(owner)
    if terms is None:
        terms = found[owner] = {}
    terms[name] = terms.get(name, 0) + 1
    return 0


cdef struct Sum:
    int64_t words
    int64_t most
    double squares


cdef list sums(Asked asked, Py_ssize_t owners, dict only):
    """(words, norm, most) of all owners, or of those in `only`, in their order."""
    cdef Kinds kinds
    cdef Py_ssize_t at, number = owners if only is None else len(only)
    cdef int64_t times
    cdef double one
    cdef Sum *each = <Sum *>calloc(number + 1, sizeof(Sum))
    cdef int32_t *of_owner = <int32_t *>calloc(owners + 1, sizeof(int32_t))
    try:
        if not (each and of_owner):
            raise MemoryError
        for at in range(owners):
            of_owner[at] = <int32_t>at if only is None else -1
        if only is not None:
            for at, owner in enumerate(only):
                of_owner[<Py_ssize_t>owner] = <int32_t>at
        asked.meet_words(&kinds, of_owner)
        for at in range(<Py_ssize_t>kinds.mask + 1):
            times = kinds.places[at].times
            if times:
                one = weight(times)
                total = &each[kinds.places[at].owner]
                total.words += times
                total.squares += one * one
                total.most = max(total.most, times)
        free(kinds.places)
        return [
            (each[at].words, sqrt(each[at].squares), each[at].most)
            for at in range(number)
        ]
    finally:
        free(each)
        free(of_owner)


cdef Py_ssize_t owners_of(Asked asked):
    cdef Py_ssize_t at, number = 0
    for at in range(asked.size):
        number = max(number, asked.spans[at].owner + 1)
    return number


def count_parts(text, list parts not None):
    asked = Asked(text, parts)
    cdef dict terms = asked.terms()
    if not terms:
        return {}
    cdef list norms = sums(asked, owners_of(asked), terms)
    return {
        owner: (found, one[1]) for (owner, found), one in zip(terms.items(), norms)
    }


def count_blocks(text, list parts not None, Py_ssize_t number):
    asked = Asked(text, parts)
    if owners_of(asked) > number:
        raise ValueError("a part belongs to no block")
    cdef dict terms = asked.terms()
    return [
        (words, terms.get(block, {}), norm, most)
        for block, (words, norm, most) in enumerate(sums(asked, number, None))
    ]


def count_text(text, int64_t end):
    asked = Asked(text, [(0, 0, end)])
    cdef Py_ssize_t words = bisect(asked.starts, end)
    cdef dict terms = asked.terms()
    norm, simhash = weigh(asked.stems[:words])
    return words, terms.get(0, {}), norm, simhash
