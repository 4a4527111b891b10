# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The kernels of `plain_kernels` and `plain_text`, which say what each does, compiled.

Every function answers what the one of the same name answers there; the tests of reading
run with both. Lengths are checked here once, so that the loops need not; numbers of
nodes are trusted, as they come from the tree of terms alone.
"""

from libc.math cimport log, rint, sqrt
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, realloc
from libc.string cimport memchr, memcpy, memset

include "_bits.pxi"
include "_memory.pxi"

from secrets import randbits

import numpy as np

from opilio.text import word_sequence
from opilio.read import plain_kernels as plain
from opilio.read import plain_text
from opilio.read.plain_tree import in_order
from opilio.read.simhash import STEPS
from opilio.records import NOTHING, Counted, LinkTerms

cdef enum:
    LONG = 64
    NO_KEY = 1
    AHEAD = 12  # keys whose places are fetched before they are needed
    LOGS = 256  # counts whose logarithms are remembered
    FIRST_BITS = 11  # of a table of stems; most pages need no more
    FIRST_PHRASES = 16
    LATIN_LEAD = 0xC2
    GENERAL_LEAD = 0xE2
    GENERAL_SECOND = 0x80

EDITION = 8

cdef uint64_t ODD = 0x9E3779B97F4A7C15
cdef uint64_t GATHER = 0x0102040810204080
cdef uint64_t SALT = randbits(64) | 1  # no page can choose words that share a place
cdef uint64_t KEY_SALT = int(plain.SALT)
cdef int64_t END = plain_text.END
cdef int64_t LONGEST_ANCHOR = plain_text.LONGEST_ANCHOR
cdef Py_ssize_t MOST_WORDS = word_sequence.MOST
cdef Py_ssize_t MOST_TOLD = word_sequence.MOST_TOLD

cdef uint8_t[256] LATIN
cdef uint8_t[256] GENERAL
cdef double[LOGS] WEIGHTS
cdef uint64_t[LOGS] FINE

cdef int code
for code in range(256):
    LATIN[code] = plain._LATIN[code]
    GENERAL[code] = plain._GENERAL[code]
for code in range(1, LOGS):
    WEIGHTS[code] = 1 + log(code)
    FINE[code] = <uint64_t>rint(STEPS * WEIGHTS[code])


cdef class Held:
    """The memory of an array; much faster than a typed memory view."""

    cdef Py_buffer buffer
    cdef Py_ssize_t size  # how many values

    def __cinit__(self, array, Py_ssize_t width, bint writable=False):
        flags = PyBUF_WRITABLE if writable else PyBUF_SIMPLE
        PyObject_GetBuffer(array, &self.buffer, flags)
        if self.buffer.itemsize != width:
            raise ValueError("an array has values of another size")
        self.size = self.buffer.len // width

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


cdef inline uint64_t mix(uint64_t value) noexcept nogil:
    value = value * ODD
    return value ^ (value >> 32)


cdef inline double weight(int64_t times) noexcept nogil:
    return WEIGHTS[times] if times < LOGS else 1 + log(<double>times)


cdef bint lower(const uint8_t *text, uint8_t *cells, Py_ssize_t size) noexcept nogil:
    """Put letters in lower case, digits and zeros for what else is ASCII into cells;
    whether there is anything beyond ASCII."""
    cdef Py_ssize_t at
    cdef uint8_t byte, small, kept, beyond = 0
    for at in range(size):
        byte = text[at]
        small = byte | 0x20
        beyond |= byte
        kept = byte if (<uint8_t>(byte - 48) < 10) | (byte > 127) else 0
        cells[at] = small if <uint8_t>(small - 97) < 26 else kept
    return beyond > 127


cdef void blank(uint8_t *cells, Py_ssize_t size) noexcept nogil:
    """Zeros for the separators that Western texts use beside those in ASCII."""
    cdef uint8_t *end = cells + size
    cdef uint8_t *at = <uint8_t *>memchr(cells, LATIN_LEAD, size)
    while at:
        if LATIN[at[1]]:
            at[0] = at[1] = 0
        at = <uint8_t *>memchr(at + 1, LATIN_LEAD, end - at - 1)
    at = <uint8_t *>memchr(cells, GENERAL_LEAD, size)
    while at:
        if at[1] == GENERAL_SECOND and GENERAL[at[2]]:
            at[0] = at[1] = at[2] = 0
        at = <uint8_t *>memchr(at + 1, GENERAL_LEAD, end - at - 1)


cdef Py_ssize_t mark_runs(
    const uint8_t *cells, Py_ssize_t size, uint64_t *marks
) noexcept nogil:
    """Mark the cells that are not zero, in words of 64; returns the number of runs."""
    cdef Py_ssize_t at, part, runs = 0
    cdef uint64_t eight, found, before = 0
    for at in range(0, size, 64):
        found = 0
        for part in range(0, min(64, size - at), 8):
            eight = eight_from(cells + at + part)
            eight = ((eight & ~(ONES << 7)) + ~(ONES << 7)) | eight
            found |= ((eight >> 7 & ONES) * GATHER >> 56) << part
        marks[at >> 6] = found
        runs += ones_in(found & ~(found << 1 | before))
        before = found >> 63
    return runs


cdef void find_runs(
    Py_ssize_t size, const uint64_t *marks, int64_t *begins, int64_t *ends
) noexcept nogil:
    """Where each run begins, and where it ends."""
    cdef Py_ssize_t at
    cdef uint64_t here, shifted, found, before = 0
    for at in range(0, size, 64):
        here = marks[at >> 6]
        shifted = here << 1 | before
        before = here >> 63
        found = here & ~shifted
        while found:
            begins[0] = at + trailing_zeros(found)
            begins += 1
            found &= found - 1
        found = shifted & ~here
        while found:
            ends[0] = at + trailing_zeros(found)
            ends += 1
            found &= found - 1
    if before:
        ends[0] = size


cdef inline uint64_t key_of(const uint8_t *run, Py_ssize_t length) noexcept nogil:
    """The 64-bit hash of a run, eight bytes at a time; 0 if it is too long."""
    cdef uint64_t key = KEY_SALT
    if length > LONG:
        return 0
    while length > 8:
        key = mix(mix(key ^ eight_from(run)))
        run += 8
        length -= 8
    return mix(key ^ (eight_from(run) & (~<uint64_t>0 >> (64 - 8 * length))))


cdef void number_lines(
    const char *text, Py_ssize_t size, Py_ssize_t runs, const int64_t *begins,
    int64_t *lines,
) noexcept nogil:
    """The line of each run."""
    cdef const char *found = text - 1
    cdef Py_ssize_t run = 0, line = 0, until
    while run < runs:
        found = <const char *>memchr(found + 1, b"\n", text + size - found - 1)
        until = size if found == NULL else found - text
        while run < runs and begins[run] < until:
            lines[run] = line
            run += 1
        line += 1


cdef Py_ssize_t beyond_ascii(
    const uint8_t *text, Py_ssize_t size, Py_ssize_t at
) noexcept nogil:
    """The first byte from there on that is not ASCII, or the end."""
    while at + 8 <= size and not eight_from(text + at) & (ONES << 7):
        at += 8
    while at < size and text[at] < 128:
        at += 1
    return at


cdef void characters(
    const uint8_t *text, Py_ssize_t size, Py_ssize_t runs, const int64_t *begins,
    int64_t *starts,
) noexcept nogil:
    """The number of characters before each run."""
    cdef Py_ssize_t run, at = beyond_ascii(text, size, 0)
    cdef int64_t further = 0  # continuation bytes
    for run in range(runs):
        if begins[run] > at:
            while at + 8 <= begins[run]:
                further += going_on(eight_from(text + at))
                at += 8
            while at < begins[run]:
                further += (text[at] & 0xC0) == 0x80
                at += 1
            at = beyond_ascii(text, size, at)
        starts[run] = begins[run] - further


cdef Held held_table(table, bint writable):
    cdef Held held = Held(table, 8, writable)
    cdef Py_ssize_t rows = held.size // 3
    if held.size != 3 * rows or rows & (rows - 1) or rows < 2:
        raise ValueError("a table has three columns and 2ⁿ rows")
    return held


def look_up(table, str text not None, Py_ssize_t longest):
    cdef Held held = held_table(table, False)
    cdef Encoded encoded = Encoded(text, "replace")
    cdef Py_ssize_t size = min(encoded.size, longest), runs, at
    cdef const uint8_t *source = <const uint8_t *>encoded.data
    cdef bytes data = PyBytes_FromStringAndSize(NULL, size + 9)
    # The object is new, so writing into it is safe. Zeros around: eight bytes can
    # be read from anywhere in it.
    PyBytes_AS_STRING(data)[0] = 0
    cdef uint8_t *cells = <uint8_t *>PyBytes_AS_STRING(data) + 1
    memset(cells + size, 0, 8)
    cdef bint beyond = lower(source, cells, size)
    if beyond:
        blank(cells, size)
    cdef Room room = Room(8 * ((size >> 6) + 1))
    cdef uint64_t *marks = <uint64_t *>room.memory
    runs = mark_runs(cells, size, marks)
    columns = np.empty((5 + beyond, runs), np.int64)
    cdef Held memory = Held(columns, 8, True)
    cdef int64_t *begins = <int64_t *>memory.buffer.buf
    cdef int64_t *lines = begins + runs
    cdef int64_t *nodes = lines + runs
    cdef uint64_t *keys = <uint64_t *>(nodes + runs)
    cdef uint64_t *stems = keys + runs
    find_runs(size, marks, begins, nodes)
    for at in range(runs):
        keys[at] = key_of(cells + begins[at], nodes[at] - begins[at])
    number_lines(<const char *>source, size, runs, begins, lines)
    if beyond:
        characters(source, size, runs, begins, begins + 5 * runs)
    new = find_stems(held, runs, keys, stems, nodes)
    for at in new:  # what has no node yet ends where the node would be
        new[at] = cells[begins[at] : nodes[at]]
        nodes[at] = 0
    unsigned = columns[3:5].view(np.uint64)
    return (
        data, columns[0], columns[5 if beyond else 0], columns[1], unsigned[0],
        unsigned[1], columns[2], new,
    )


cdef dict find_stems(
    Held table, Py_ssize_t runs, const uint64_t *keys, uint64_t *stems, int64_t *nodes
):
    """Fetch stems and nodes from a table; the numbers of those that it does not have,
    whose nodes stay as they are."""
    cdef dict new = {}
    cdef uint64_t last = table.size // 3 - 1, key
    cdef int shift = 64 - ones_in(last)
    cdef const uint64_t *rows = <const uint64_t *>table.buffer.buf
    cdef const uint64_t *row
    cdef Py_ssize_t at
    for at in range(runs):
        if at + AHEAD < runs:
            prefetch(rows + 3 * (keys[at + AHEAD] >> shift))
        key = keys[at]
        row = rows + 3 * (key >> shift)
        if row[0] != key:
            row = rows + 3 * (key & last)
            if row[0] != key:
                new[at] = None
                stems[at] = 0
                continue
        stems[at] = row[1]
        nodes[at] = <int64_t>row[2]
    return new


cdef class Nodes:
    """The nodes of a tree, to be found by their hashes."""

    cdef Held held, held_begins
    cdef const uint64_t *hashes
    cdef const int32_t *begins
    cdef int shift

    def __cinit__(self, hashes, begins):
        self.held, self.held_begins = Held(hashes, 8), Held(begins, 4)
        self.hashes = <const uint64_t *>self.held.buffer.buf
        self.begins = <const int32_t *>self.held_begins.buffer.buf
        self.shift = 64 - ones_in(self.held_begins.size - 1)

    cdef inline int64_t find(self, uint64_t value) noexcept:
        # The last of the nodes is the greatest number there is: the search ends.
        cdef int64_t at = self.begins[value >> self.shift]
        while self.hashes[at] < value:
            at += 1
        return at if self.hashes[at] == value else 0


def learn(tree, begins, table, runs, dict found not None):
    cdef Nodes known = Nodes(tree, begins)
    cdef Held held = held_table(table, True)
    cdef Held of_keys = Held(runs[4], 8)
    cdef Held of_stems = Held(runs[5], 8, True)
    cdef Held of_nodes = Held(runs[6], 8, True)
    cdef uint64_t *rows = <uint64_t *>held.buffer.buf
    cdef const uint64_t *keys = <const uint64_t *>of_keys.buffer.buf
    cdef uint64_t *stems = <uint64_t *>of_stems.buffer.buf
    cdef int64_t *nodes = <int64_t *>of_nodes.buffer.buf
    cdef uint64_t last = held.size // 3 - 1, key
    cdef int shift = 64 - ones_in(last)
    cdef uint64_t *row
    cdef Py_ssize_t word
    cdef dict new = runs[7]
    if not of_keys.size == of_stems.size == of_nodes.size:
        raise ValueError("every word has a key, a stem and a node")
    for word, text in new.items():
        stem = found.get(text)
        if stem is None:
            continue
        if not 0 <= word < of_keys.size:
            raise IndexError("there is no such word")
        stems[word] = stem
        nodes[word] = known.find(stems[word])
        key = keys[word]
        if key:
            row = rows + 3 * (key >> shift)
            if row[0] != NO_KEY and row[0] != key:
                row = rows + 3 * (key & last)
            row[0], row[1], row[2] = key, stems[word], <uint64_t>nodes[word]


cdef inline void copy_runs(
    Held source, Py_ssize_t start, void *target, Py_ssize_t at, Py_ssize_t some
) noexcept:
    memcpy(<char *>target + 8 * at, <char *>source.buffer.buf + 8 * start, 8 * some)


def expand(tree, begins, stems, nodes, starts, lines, dict compounds not None):
    cdef Nodes known = Nodes(tree, begins)
    cdef Held of_stems = Held(stems, 8), of_nodes = Held(nodes, 8)
    cdef Held of_starts = Held(starts, 8), of_lines = Held(lines, 8)
    cdef Py_ssize_t size = of_stems.size, done = 0, at = 0, number, some, room
    cdef int64_t offset
    if not of_nodes.size == of_starts.size == of_lines.size == size:
        raise ValueError("every run has a stem, a node, a place and a line")
    room = size + sum([len(each[0]) for each in compounds.values()])
    columns = np.empty((4, room), np.int64)
    cdef Held memory = Held(columns, 8, True)
    cdef uint64_t *new_stems = <uint64_t *>memory.buffer.buf
    cdef int64_t *new_nodes = <int64_t *>new_stems + room
    cdef int64_t *new_starts = new_nodes + room
    cdef int64_t *new_lines = new_starts + room
    if compounds and not 0 <= min(compounds) <= max(compounds) < size:
        raise IndexError("there is no such run")
    for number in [*sorted(compounds), size]:
        some = number - done
        copy_runs(of_stems, done, new_stems, at, some)
        copy_runs(of_nodes, done, new_nodes, at, some)
        copy_runs(of_starts, done, new_starts, at, some)
        copy_runs(of_lines, done, new_lines, at, some)
        at += some
        done = number + 1
        if number == size:
            break
        within, offsets = compounds[number]
        if not within:  # a dash
            continue
        for stem, offset in zip(within, offsets, strict=True):
            new_stems[at] = stem
            new_nodes[at] = known.find(new_stems[at])
            new_starts[at] = (<int64_t *>of_starts.buffer.buf)[number] + offset
            new_lines[at] = (<int64_t *>of_lines.buffer.buf)[number]
            at += 1
    columns = columns[:, :at]
    return columns[0].view(np.uint64), columns[1], columns[2], columns[3]


# Each of the eight bits of a byte, spread to sixteen bits.
cdef uint64_t[256][2] SPREAD
for code in range(256):
    SPREAD[code][0] = SPREAD[code][1] = 0
    for bit in range(4):
        SPREAD[code][0] |= <uint64_t>(code >> bit & 1) << (16 * bit)
        SPREAD[code][1] |= <uint64_t>(code >> (bit + 4) & 1) << (16 * bit)


cdef void add_up(uint64_t *lanes, int64_t *above) noexcept nogil:
    """Add the sixteen bits of each place to the total, and clear them."""
    cdef int lane, bit
    for lane in range(16):
        for bit in range(4):
            above[4 * lane + bit] += lanes[lane] >> (16 * bit) & 0xFFFF
        lanes[lane] = 0


cdef Py_ssize_t bisect(
    const int64_t *values, Py_ssize_t left, int64_t value
) noexcept nogil:
    """How many of the ascending values are smaller; without branches, which could not
    be predicted."""
    cdef Py_ssize_t low = 0, half
    if not left:
        return 0
    while left > 1:
        half = left >> 1
        low += half if values[low + half - 1] < value else 0
        left -= half
    return low + (values[low] < value)


cdef inline uint8_t *put_words(
    uint8_t *target, const uint64_t *stems, Py_ssize_t size
) noexcept nogil:
    """Write 32 bits of each stem, the lowest first; where the next ones go."""
    cdef Py_ssize_t at
    for at in range(size):
        target[4 * at] = <uint8_t>stems[at]
        target[4 * at + 1] = <uint8_t>(stems[at] >> 8)
        target[4 * at + 2] = <uint8_t>(stems[at] >> 16)
        target[4 * at + 3] = <uint8_t>(stems[at] >> 24)
    return target + 4 * size


cdef struct Sum:
    Py_ssize_t words
    double squares
    int64_t most


cdef struct Phrase:
    int64_t first, last, node


cdef class Text:
    cdef list names
    cdef Held of_stems, of_nodes, of_starts
    cdef const uint64_t *stems
    cdef const int64_t *nodes
    cdef const int64_t *starts
    cdef Py_ssize_t size
    cdef int64_t *hit_words  # the words where a term begins
    cdef Py_ssize_t hit_count
    cdef Phrase *phrases
    cdef Py_ssize_t phrase_count, phrase_room
    cdef bint overlapping
    # Stems are numbered as they come, once they are to be counted.
    cdef int32_t *numbers  # of each word, the number of its stem
    cdef int32_t *times  # how often each stem was met in what is being counted
    cdef int32_t *met  # for each of those that were, the first word that has it
    cdef Py_ssize_t kinds  # how many were

    def __cinit__(self, tree, row, bint overlapping, apart=None, others=None):
        cdef Held ends = Held(tree[4], 1), goes_on = Held(tree[3], 1)
        cdef Held lines = Held(row[3], 8)
        cdef Nodes nodes = Nodes(tree[1], tree[2])
        self.names = tree[0]
        self.of_stems, self.of_nodes = Held(row[0], 8), Held(row[1], 8)
        self.of_starts = Held(row[2], 8)
        self.stems = <const uint64_t *>self.of_stems.buffer.buf
        self.nodes = <const int64_t *>self.of_nodes.buffer.buf
        self.starts = <const int64_t *>self.of_starts.buffer.buf
        self.size = self.of_stems.size
        self.overlapping = overlapping
        if not self.of_nodes.size == self.of_starts.size == lines.size == self.size:
            raise ValueError("every word has a stem, a node, a place and a line")
        if not len(self.names) == nodes.held.size == goes_on.size == ends.size:
            raise ValueError("every node has a hash, marks and a name")
        cdef Held marks = Held(apart, 1) if apart is not None else None
        if marks is not None and marks.size < self.size:
            raise ValueError("there are more words than marks")
        self.hit_words = <int64_t *>malloc(8 * self.size + 8)
        if self.hit_words == NULL:
            raise MemoryError
        self.find_terms(nodes, goes_on, ends, lines, marks)
        if others is not None:
            self.take_in(others)

    def __dealloc__(self):
        free(self.hit_words)
        free(self.phrases)
        free(self.numbers)

    cdef int find_terms(
        self, Nodes known, Held goes_on, Held ends, Held lines, Held apart
    ) except -1:
        """The words where a term begins, and every phrase in a line."""
        cdef const uint8_t *more = <const uint8_t *>goes_on.buffer.buf
        cdef const uint8_t *whole = <const uint8_t *>ends.buffer.buf
        cdef const uint8_t *marks = NULL
        cdef const int64_t *line = <const int64_t *>lines.buffer.buf
        cdef Py_ssize_t word, at, here
        cdef int64_t node
        if apart is not None:
            marks = <const uint8_t *>apart.buffer.buf
        for word in range(self.size):
            node = self.nodes[word]
            if not node:
                continue
            here = self.phrase_count
            at = word
            while more[node] and at + 1 < self.size:
                at += 1
                if marks != NULL and marks[at] or line[at] != line[word]:
                    break
                node = known.find(mix(known.hashes[node]) ^ self.stems[at])
                if not node:
                    break
                if whole[node]:
                    self.add_phrase(word, at, node)
            if self.phrase_count > here + 1:
                self.turn(here)
            if self.phrase_count > here or whole[self.nodes[word]]:
                self.hit_words[self.hit_count] = word
                self.hit_count += 1
        return 0

    cdef int add_phrase(self, int64_t first, int64_t last, int64_t node) except -1:
        cdef Py_ssize_t room
        cdef Phrase *phrases
        if self.phrase_count == self.phrase_room:
            room = max(FIRST_PHRASES, 2 * self.phrase_room)
            phrases = <Phrase *>realloc(self.phrases, room * sizeof(Phrase))
            if phrases == NULL:
                raise MemoryError
            self.phrases, self.phrase_room = phrases, room
        self.phrases[self.phrase_count] = Phrase(first, last, node)
        self.phrase_count += 1
        return 0

    cdef void turn(self, Py_ssize_t low) noexcept:
        """Put the longest phrase of a word first."""
        cdef Py_ssize_t high = self.phrase_count - 1
        while low < high:
            self.phrases[low], self.phrases[high] = self.phrases[high], self.phrases[low]
            low += 1
            high -= 1

    cdef int take_in(self, others) except -1:
        """Add other phrases."""
        cdef Py_ssize_t at
        cdef list own = []
        for at in range(self.phrase_count):
            own += self.phrases[at].first, self.phrases[at].last, self.phrases[at].node
        found = in_order([np.array(own, np.int64).reshape(-1, 3).T, others])
        self.phrase_count = 0
        for first, last, node in zip(*(column.tolist() for column in found)):
            if not 0 <= first <= last < self.size:
                raise IndexError("a phrase has words that are not there")
            self.add_phrase(first, last, node)
        hits = np.union1d(self.hits, found[0])
        for at in range(len(hits)):
            self.hit_words[at] = hits[at]
        self.hit_count = len(hits)
        return 0

    @property
    def hits(self):
        data = PyBytes_FromStringAndSize(<char *>self.hit_words, 8 * self.hit_count)
        return np.frombuffer(data, np.int64)

    cdef int number_stems(self) except -1:
        cdef int bits = FIRST_BITS
        cdef Py_ssize_t word
        cdef uint64_t at, mask = (<uint64_t>1 << bits) - 1, stem
        cdef int32_t kind, kinds = 0
        cdef int32_t *table  # 0: a free place
        if self.numbers != NULL:
            return 0
        cdef Room room = Room(8 * (self.size + 1))
        cdef uint64_t *known = <uint64_t *>room.memory
        self.numbers = <int32_t *>malloc(3 * sizeof(int32_t) * (self.size + 1))
        table = numbered(known, 0, bits)
        if self.numbers == NULL or table == NULL:
            free(table)
            self.forget()
        self.times = self.numbers + self.size + 1
        self.met = self.times + self.size + 1
        for word in range(self.size):
            stem = self.stems[word]
            at = (stem * SALT) >> (64 - bits)
            kind = table[at]
            while kind and known[kind] != stem:
                at = (at + 1) & mask
                kind = table[at]
            if not kind:
                kinds += 1
                kind = table[at] = kinds
                known[kind] = stem
                self.times[kind] = 0
                if 2 * kinds > <int64_t>mask:
                    bits += 2
                    mask = (<uint64_t>1 << bits) - 1
                    free(table)
                    table = numbered(known, kinds, bits)
                    if table == NULL:
                        self.forget()
            self.numbers[word] = kind
        free(table)
        return 0

    cdef int forget(self) except -1:
        """Free the numbers and report that memory is exhausted."""
        free(self.numbers)
        self.numbers = NULL
        raise MemoryError

    cdef void meet(self, int64_t begin, int64_t end) noexcept:
        """Count the words between two places, too."""
        cdef Py_ssize_t word, kinds = self.kinds
        cdef const int32_t *numbers = self.numbers
        cdef int32_t *times = self.times
        cdef int32_t *met = self.met
        for word in range(self.word_at(begin), self.word_at(end)):
            met[kinds] = <int32_t>word
            kinds += times[numbers[word]] == 0
            times[numbers[word]] += 1
        self.kinds = kinds

    cdef inline Py_ssize_t word_at(self, int64_t place) noexcept:
        """The first word that does not begin before a place."""
        return bisect(self.starts, self.size, place)

    cdef Sum sum_up(self) noexcept:
        """The counts, which are then reset."""
        cdef Sum found = Sum(0, 0, 0)
        cdef const int32_t *numbers = self.numbers
        cdef const int32_t *met = self.met
        cdef int32_t *times
        cdef Py_ssize_t at
        cdef double one
        for at in range(self.kinds):
            times = &self.times[numbers[met[at]]]
            one = weight(times[0])
            found.words += times[0]
            found.squares += one * one
            found.most = max(found.most, times[0])
            times[0] = 0
        self.kinds = 0
        return found

    cdef uint64_t simhash(self) noexcept:
        """The SimHash of what was counted."""
        cdef Py_ssize_t at, pending = 0
        cdef int64_t[64] above
        cdef uint64_t[16] lanes
        cdef int64_t times, total = 0
        cdef uint64_t stem, fine, found = 0
        cdef int bit, byte
        memset(above, 0, sizeof(above))
        memset(lanes, 0, sizeof(lanes))
        for at in range(self.kinds):
            times = self.times[self.numbers[self.met[at]]]
            # At most 255, as no text has more than 2²⁰ words.
            if times < LOGS:
                fine = FINE[times]
            else:
                fine = <uint64_t>rint(FINE[1] * weight(times))
            total += fine
            stem = self.stems[self.met[at]]
            for byte in range(8):
                lanes[2 * byte] += SPREAD[stem & 255][0] * fine
                lanes[2 * byte + 1] += SPREAD[stem & 255][1] * fine
                stem >>= 8
            pending += 1
            if pending == 256:
                add_up(lanes, above)
                pending = 0
        add_up(lanes, above)
        for bit in range(64):
            if 2 * above[bit] > total:
                found |= <uint64_t>1 << bit
        return found

    cdef dict note(self, int64_t begin, int64_t end, dict found):
        """Add the terms between two places to those found before; None: none yet."""
        cdef dict until
        cdef int64_t word, done = -1, stop
        cdef Py_ssize_t hits = self.hit_count, phrase
        cdef const Phrase *one
        cdef Py_ssize_t at = self.next_hit(begin)
        cdef bint any_phrase
        cdef str name
        if at == hits or self.starts[self.hit_words[at]] >= end:
            return found
        until = {} if self.overlapping else None
        stop = self.word_at(end)
        for at in range(at, hits):
            word = self.hit_words[at]
            if word >= stop:
                break
            if word <= done:
                continue
            any_phrase = False
            for phrase in range(self.next_phrase(word), self.phrase_count):
                one = &self.phrases[phrase]
                if one.first != word:
                    break
                if one.last >= stop:
                    continue
                if self.overlapping:
                    if word <= until.get(one.node, -1):
                        continue
                    until[one.node] = one.last
                elif done < word or done == one.last:
                    done = one.last
                else:
                    continue
                any_phrase = True
                found = one_more(found, self.names[one.node])
            if self.overlapping or not any_phrase:
                name = self.names[self.nodes[word]]
                if name:
                    found = one_more(found, name)
        return found

    cdef Py_ssize_t next_hit(self, int64_t place) noexcept:
        """The first of the hits that does not begin before a place."""
        cdef Py_ssize_t low = 0, high = self.hit_count, middle
        while low < high:
            middle = (low + high) >> 1
            if self.starts[self.hit_words[middle]] < place:
                low = middle + 1
            else:
                high = middle
        return low

    cdef Py_ssize_t next_phrase(self, int64_t word) noexcept:
        """The first of the phrases that does not begin before a word."""
        cdef Py_ssize_t low = 0, high = self.phrase_count, middle
        while low < high:
            middle = (low + high) >> 1
            if self.phrases[middle].first < word:
                low = middle + 1
            else:
                high = middle
        return low

    cdef counted(self, int64_t begin, int64_t end, int64_t again, int64_t until):
        """The terms in two parts of the text as one."""
        cdef dict terms = self.note(again, until, self.note(begin, end, None))
        if terms is None:
            return NOTHING
        self.number_stems()
        self.meet(begin, end)
        self.meet(again, until)
        return Counted(terms, sqrt(self.sum_up().squares))

    def between(self, int64_t begin, int64_t end):
        return self.counted(begin, end, end, end)

    def links(self, spots, list ends not None):
        cdef int64_t first, start, end, last, address, name, after, limit
        cdef Py_ssize_t number
        cdef dict found = {}
        if len(ends) != 2 * len(spots) + 3:
            raise ValueError("every link has a spot, an address and a name")
        if not self.hit_count:
            return found
        limit = ends[0]
        for number, (first, start, end, last) in enumerate(spots):
            if last > limit:
                first, start = min(first, limit), min(start, limit)
                end, last = min(end, limit), min(last, limit)
            address = ends[2 * number + 2]
            name = ends[2 * number + 3]
            after = ends[2 * number + 4]
            anchor = self.counted(
                start, min(end, start + LONGEST_ANCHOR), name, after
            )
            around = self.counted(first, start, end, last)
            url = self.counted(address, name, name, name)
            if not (anchor is NOTHING and around is NOTHING and url is NOTHING):
                found[number] = LinkTerms(anchor, around, url)
        return found

    def blocks(self, cuts, Py_ssize_t number):
        cdef Py_ssize_t size = len(cuts), block, cut
        cdef Room room = Room(8 * (2 * size + 1 + max(number, 0)))
        cdef int64_t *places = <int64_t *>room.memory
        cdef int64_t *following = places + size + 1  # of the same block
        cdef int64_t *cut_of = following + size  # the first of each
        cdef dict terms
        cdef Sum found
        cdef list told = []
        self.number_stems()
        for cut, (place, _) in enumerate(cuts):
            places[cut] = place
        places[size] = END
        for block in range(number):
            cut_of[block] = -1
        for cut in range(size - 1, -1, -1):
            block = cuts[cut][1]
            if block >= number:
                raise ValueError("a part belongs to no block")
            if block >= 0:
                following[cut] = cut_of[block]
                cut_of[block] = cut
        for block in range(number):
            terms = None
            cut = cut_of[block]
            while cut >= 0:
                terms = self.note(places[cut], places[cut + 1], terms)
                self.meet(places[cut], places[cut + 1])
                cut = following[cut]
            found = self.sum_up()
            terms = {} if terms is None else terms
            told.append((found.words, terms, sqrt(found.squares), found.most))
        return told

    def total(self, int64_t end):
        cdef dict terms = self.note(0, end, None)
        cdef uint64_t simhash
        cdef Sum found
        self.number_stems()
        self.meet(0, end)
        simhash = self.simhash()
        found = self.sum_up()
        terms = {} if terms is None else terms
        return found.words, terms, sqrt(found.squares), <int64_t>simhash

    def sequence(self, int64_t text, int64_t title, int64_t headings):
        cdef Py_ssize_t words = self.word_at(text), told = self.word_at(title)
        cdef Py_ssize_t first = self.word_at(headings)
        cdef uint64_t[2] lengths
        lengths[0] = min(max(told - words, 0), MOST_TOLD)
        lengths[1] = min(self.size - first, MOST_TOLD)
        cdef Py_ssize_t size = 2 + lengths[0] + lengths[1] + min(words, MOST_WORDS)
        cdef bytes data = PyBytes_FromStringAndSize(NULL, 4 * size)
        # The object is new, so writing into it is safe.
        cdef uint8_t *target = <uint8_t *>PyBytes_AS_STRING(data)
        target = put_words(target, lengths, 2)
        target = put_words(target, self.stems + words, lengths[0])
        target = put_words(target, self.stems + first, lengths[1])
        put_words(target, self.stems, min(words, MOST_WORDS))
        return data

    def stem_counts(self, int64_t end):
        cdef Py_ssize_t at
        self.number_stems()
        self.meet(0, end)
        stems_array = np.empty(self.kinds, np.uint64)
        counts_array = np.empty(self.kinds, np.int64)
        cdef Held of_stems = Held(stems_array, 8, True)
        cdef Held of_counts = Held(counts_array, 8, True)
        for at in range(self.kinds):
            (<uint64_t *>of_stems.buffer.buf)[at] = self.stems[self.met[at]]
            (<int64_t *>of_counts.buffer.buf)[at] = (
                self.times[self.numbers[self.met[at]]]
            )
        self.sum_up()
        order = stems_array.argsort()
        return stems_array[order], counts_array[order]


cdef int32_t *numbered(
    const uint64_t *known, int32_t kinds, int bits
) noexcept nogil:
    """A table for the numbers of stems, with 2**bits places."""
    cdef uint64_t at, mask = (<uint64_t>1 << bits) - 1
    cdef int32_t kind
    cdef int32_t *table = <int32_t *>calloc(mask + 1, sizeof(int32_t))
    if table == NULL:
        return NULL
    for kind in range(1, kinds + 1):
        at = (known[kind] * SALT) >> (64 - bits)
        while table[at]:
            at = (at + 1) & mask
        table[at] = kind
    return table


cdef dict one_more(dict found, str name):
    if found is None:
        found = {}
    found[name] = found.get(name, 0) + 1
    return found


include "_link_words.pxi"
include "_vectors.pxi"
