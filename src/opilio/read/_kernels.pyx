# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The kernels of `plain_kernels` and `plain_text`, which say what each does, compiled.

Every function answers what the one of the same name answers there; the tests of reading
run with both. Lengths are checked here once, so that the loops need not; numbers of
nodes are trusted, as they come from the tree of terms alone.
"""

from libc.math cimport log, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from secrets import randbits

import numpy as np

from opilio.read import plain_kernels as plain
from opilio.read import plain_text
from opilio.read.plain_tree import in_order
from opilio.read.simhash import STEPS
from opilio.types import NOTHING, Counted, LinkTerms

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__)
    #define OPILIO_PREFETCH(p) __builtin_prefetch(p)
    #define opilio_trailing_zeros(value) __builtin_ctzll(value)
    #define opilio_ones_in(value) __builtin_popcountll(value)
    #else
    #define OPILIO_PREFETCH(p)
    static int opilio_trailing_zeros(uint64_t value) {
        int zeros = 0;
        while (!(value >> zeros & 1)) zeros++;
        return zeros;
    }
    static int opilio_ones_in(uint64_t value) {
        int ones = 0;
        for (; value; value &= value - 1) ones++;
        return ones;
    }
    #endif
    /* Eight bytes, the first of them in the lowest bits. */
    static inline uint64_t opilio_eight_from(const void *bytes) {
        uint64_t value;
        memcpy(&value, bytes, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        value = __builtin_bswap64(value);
    #endif
        return value;
    }
    """
    void prefetch "OPILIO_PREFETCH"(const void *) noexcept nogil
    int trailing_zeros "opilio_trailing_zeros"(uint64_t) noexcept nogil
    int ones_in "opilio_ones_in"(uint64_t) noexcept nogil
    uint64_t eight_from "opilio_eight_from"(const void *) noexcept nogil

cdef enum:
    LONG = 64
    NO_KEY = 1
    AHEAD = 12  # keys whose places are fetched before they are needed
    LOGS = 256  # counts whose logarithms are remembered
    LATIN_LEAD = 0xC2
    GENERAL_LEAD = 0xE2
    GENERAL_SECOND = 0x80

EDITION = 4

cdef uint64_t ODD = 0x9E3779B97F4A7C15
cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t GATHER = 0x0102040810204080
cdef uint64_t SALT = randbits(64) | 1  # nobody can choose words that share a place
cdef uint64_t KEY_SALT = int(plain.SALT)
cdef int64_t END = plain_text.END
cdef int64_t LONGEST_ANCHOR = plain_text.LONGEST_ANCHOR

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


cdef inline uint64_t mix(uint64_t value) noexcept nogil:
    value = value * ODD
    return value ^ (value >> 32)


cdef inline int64_t going_on(uint64_t eight) noexcept nogil:
    """How many of eight bytes of UTF-8 go on with a character."""
    return (((eight >> 7) & ~(eight >> 6) & ONES) * ONES) >> 56


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
    """Note for every 64 cells which are not zero; how many runs of these there are."""
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
    const uint8_t *cells, Py_ssize_t size, const uint64_t *marks,
    int64_t *begins, int64_t *ends,
) noexcept nogil:
    """Where each run begins, and where it ends."""
    cdef Py_ssize_t at, edge = 0
    cdef uint64_t edges, before = 0
    for at in range(0, size, 64):
        edges = marks[at >> 6] ^ (marks[at >> 6] << 1 | before)
        before = marks[at >> 6] >> 63
        while edges:
            if edge & 1:
                ends[edge >> 1] = at + trailing_zeros(edges)
            else:
                begins[edge >> 1] = at + trailing_zeros(edges)
            edge += 1
            edges &= edges - 1
    if edge & 1:
        ends[edge >> 1] = size


cdef inline uint64_t key_of(const uint8_t *run, Py_ssize_t length) noexcept nogil:
    """64 bits of a run, eight bytes at a time; 0 if it is too long."""
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
    """In which line each run is."""
    cdef const char *found = <const char *>memchr(text, b"\n", size)
    cdef Py_ssize_t run, line = 0
    for run in range(runs):
        while found and found < text + begins[run]:
            line += 1
            found = <const char *>memchr(found + 1, b"\n", text + size - found - 1)
        lines[run] = line


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
    """How many characters stand before each run."""
    cdef Py_ssize_t run, at = beyond_ascii(text, size, 0)
    cdef int64_t further = 0  # bytes that go on with a character
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


cdef check_table(const uint64_t[:, ::1] table):
    cdef Py_ssize_t rows = table.shape[0]
    if table.shape[1] != 3 or rows & (rows - 1) or rows < 2:
        raise ValueError("a table has three columns and 2ⁿ rows")


def look_up(const uint64_t[:, ::1] table not None, bytes text not None):
    cdef Py_ssize_t size = len(text), runs, at, unknown = 0
    cdef const uint8_t *source = text
    cdef bytes data = bytes(size + 9)
    # The object is new, and nobody else has seen it yet. Zeros around: eight bytes can
    # be read from anywhere in it.
    cdef uint8_t *cells = <uint8_t *><const uint8_t *>data + 1
    cdef uint64_t last = table.shape[0] - 1, key
    cdef int shift = 65 - (<object>(table.shape[0])).bit_length()
    cdef const uint64_t *rows = &table[0, 0]
    cdef const uint64_t *row
    cdef bint beyond = lower(source, cells, size)
    check_table(table)
    if beyond:
        blank(cells, size)
    cdef uint64_t[::1] marks = np.empty((size >> 6) + 1, np.uint64)
    runs = mark_runs(cells, size, &marks[0])
    columns = np.empty((5, runs), np.int64)
    cdef int64_t[:, ::1] cut = columns
    cdef int64_t *begins = &cut[0, 0]
    cdef int64_t *lines = &cut[1, 0]
    cdef int64_t *nodes = &cut[2, 0]
    cdef uint64_t *keys = <uint64_t *>&cut[3, 0]
    cdef uint64_t *stems = <uint64_t *>&cut[4, 0]
    find_runs(cells, size, &marks[0], begins, nodes)
    for at in range(runs):
        keys[at] = key_of(cells + begins[at], nodes[at] - begins[at])
    number_lines(text, size, runs, begins, lines)
    begins_array, lines_array, nodes_array = columns[:3]
    keys_array, stems_array = columns[3:].view(np.uint64)
    starts_array = begins_array
    cdef int64_t[::1] starts
    if beyond:
        starts = starts_array = np.empty(runs, np.int64)
        characters(source, size, runs, begins, &starts[0])
    cdef list new = []
    for at in range(runs):
        if at + AHEAD < runs:
            prefetch(rows + 3 * (keys[at + AHEAD] >> shift))
        key = keys[at]
        row = rows + 3 * (key >> shift)
        if row[0] != key:
            row = rows + 3 * (key & last)
            if row[0] != key:
                new.append(at)
                stems[at] = nodes[at] = 0
                continue
        stems[at] = row[1]
        nodes[at] = <int64_t>row[2]
    return (
        data, begins_array, starts_array, lines_array, keys_array,
        stems_array, nodes_array, new,
    )


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


def expand(
    const uint64_t[::1] tree not None,
    const int32_t[::1] begins not None,
    const uint64_t[::1] stems not None,
    const int64_t[::1] nodes not None,
    const int64_t[::1] starts not None,
    const int64_t[::1] lines not None,
    dict compounds not None,
):
    cdef int shift = 65 - (<object>(begins.shape[0])).bit_length()
    cdef Py_ssize_t size = stems.shape[0], done = 0, at = 0, number, some
    cdef uint64_t stem
    cdef int64_t offset
    if not nodes.shape[0] == starts.shape[0] == lines.shape[0] == size:
        raise ValueError("every run has a stem, a node, a place and a line")
    room = size + sum([len(each[0]) for each in compounds.values()])
    columns = np.empty((3, room), np.int64)
    stems_array = np.empty(room, np.uint64)
    cdef uint64_t[::1] new_stems = stems_array
    cdef int64_t[:, ::1] new = columns
    if compounds and not 0 <= min(compounds) <= max(compounds) < size:
        raise IndexError("there is no such run")
    for number in [*sorted(compounds), size]:
        some = number - done
        if some:
            memcpy(&new_stems[at], &stems[done], some * sizeof(uint64_t))
            memcpy(&new[0, at], &nodes[done], some * sizeof(int64_t))
            memcpy(&new[1, at], &starts[done], some * sizeof(int64_t))
            memcpy(&new[2, at], &lines[done], some * sizeof(int64_t))
            at += some
        done = number + 1
        if number == size:
            break
        within, offsets = compounds[number]
        if not within:  # a dash
            continue
        for stem, offset in zip(within, offsets):
            new_stems[at] = stem
            new[0, at] = node_of(&tree[0], &begins[0], shift, stem)
            new[1, at] = starts[number] + offset
            new[2, at] = lines[number]
            at += 1
    nodes_array, starts_array, lines_array = columns[:, :at]
    return stems_array[:at], nodes_array, starts_array, lines_array


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


cdef Py_ssize_t bisect(const int64_t[::1] values, int64_t value) noexcept:
    """How many of the ascending values are less; without branches, as no processor can
    guess them."""
    cdef Py_ssize_t low = 0, left = values.shape[0], half
    if not left:
        return 0
    while left > 1:
        half = left >> 1
        low += half if values[low + half - 1] < value else 0
        left -= half
    return low + (values[low] < value)


cdef struct Sum:
    Py_ssize_t words
    double squares
    int64_t most


cdef class Text:
    cdef readonly object hits
    cdef list names
    cdef const uint64_t[::1] stems
    cdef const int64_t[::1] nodes
    cdef const int64_t[::1] starts
    cdef const int64_t[::1] hit_words
    cdef const int64_t[::1] first
    cdef const int64_t[::1] last
    cdef const int64_t[::1] node
    cdef bint overlapping
    # Stems are numbered as they come, once they are to be counted.
    cdef int32_t[::1] numbers  # of each word, the number of its stem
    cdef int32_t[::1] times  # how often each stem was met in what is being counted
    cdef int32_t[::1] met  # for each of those that were, the first word that has it
    cdef Py_ssize_t kinds  # how many were
    cdef bint numbered

    def __cinit__(self, tree, row, bint overlapping, apart=None, others=None):
        cdef const uint8_t[::1] ends = tree[4]
        cdef const int64_t[::1] lines = row[3]
        self.names = tree[0]
        self.stems, self.nodes, self.starts = row[:3]
        self.overlapping = overlapping
        cdef Py_ssize_t size = self.stems.shape[0]
        if not self.nodes.shape[0] == self.starts.shape[0] == lines.shape[0] == size:
            raise ValueError("every word has a stem, a node, a place and a line")
        if not len(self.names) == len(tree[1]) == len(tree[3]) == ends.shape[0]:
            raise ValueError("every node has a hash, marks and a name")
        if apart is not None and len(apart) < size:
            raise ValueError("there are more words than marks")
        found = self.find_phrases(tree[1], tree[2], tree[3], ends, lines, apart)
        self.first, self.last, self.node = (
            found if others is None else in_order([found, others])
        )
        self.find_hits(ends)

    cdef find_phrases(
        self,
        const uint64_t[::1] hashes,
        const int32_t[::1] begins,
        const uint8_t[::1] goes_on,
        const uint8_t[::1] ends,
        const int64_t[::1] lines,
        const uint8_t[::1] apart,
    ):
        """First word, last word and node of every phrase in a line."""
        cdef Py_ssize_t size = self.stems.shape[0], word, at
        cdef int shift = 65 - (<object>(begins.shape[0])).bit_length()
        cdef bint some_apart = apart is not None
        cdef const int64_t[::1] nodes = self.nodes
        cdef int64_t node
        cdef Py_ssize_t found = 0, here, room = 16
        columns = np.empty((room, 3), np.int64)
        cdef int64_t[:, ::1] rows = columns
        for word in range(size):
            node = nodes[word]
            if not node or not goes_on[node]:
                continue
            here = found
            at = word
            while goes_on[node] and at + 1 < size:
                at += 1
                if some_apart and apart[at] or lines[at] != lines[word]:
                    break
                node = node_of(
                    &hashes[0], &begins[0], shift, mix(hashes[node]) ^ self.stems[at]
                )
                if not node:
                    break
                if ends[node]:
                    if found == room:
                        room *= 2
                        columns = np.resize(columns, (room, 3))
                        rows = columns
                    rows[found, 0], rows[found, 1], rows[found, 2] = word, at, node
                    found += 1
            if found > here + 1:
                columns[here:found] = columns[here:found][::-1]  # the longest first
        return columns[:found].T.copy()

    cdef find_hits(self, const uint8_t[::1] ends):
        """The words where a term begins."""
        cdef Py_ssize_t size = self.nodes.shape[0], word, found = 0, phrase = 0
        cdef int64_t first = self.first[0] if self.first.shape[0] else -1
        cdef const int64_t[::1] nodes = self.nodes
        numbers = np.empty(size, np.int64)
        cdef int64_t[::1] words = numbers
        for word in range(size):
            if word != first:
                if nodes[word] and ends[nodes[word]]:
                    words[found] = word
                    found += 1
                continue
            words[found] = word
            found += 1
            while phrase < self.first.shape[0] and self.first[phrase] == word:
                phrase += 1
            first = self.first[phrase] if phrase < self.first.shape[0] else -1
        self.hit_words = self.hits = numbers[:found]

    cdef number_stems(self):
        cdef Py_ssize_t size = self.stems.shape[0], word
        cdef int bits = 6
        cdef uint64_t at, mask, stem
        cdef int32_t kind, kinds = 0
        if self.numbered:
            return
        while (<int64_t>1 << bits) < 2 * size:
            bits += 1
        mask = (<uint64_t>1 << bits) - 1
        cdef int32_t[::1] table = np.zeros(mask + 1, np.int32)  # 0: a free place
        cdef uint64_t[::1] known = np.empty(size + 1, np.uint64)
        cdef int32_t[::1] numbers = np.empty(size, np.int32)
        self.times = np.zeros(size + 1, np.int32)
        self.met = np.empty(size + 1, np.int32)
        self.numbers = numbers
        self.numbered = True
        for word in range(size):
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
            numbers[word] = kind

    cdef void meet(self, int64_t begin, int64_t end) noexcept:
        """Count the words between two places, too."""
        cdef Py_ssize_t word, kinds = self.kinds
        cdef const int32_t *numbers = &self.numbers[0]
        cdef int32_t *times = &self.times[0]
        cdef int32_t *met = &self.met[0]
        for word in range(bisect(self.starts, begin), bisect(self.starts, end)):
            met[kinds] = <int32_t>word
            kinds += times[numbers[word]] == 0
            times[numbers[word]] += 1
        self.kinds = kinds

    cdef Sum sum_up(self) noexcept:
        """What was counted, which is then forgotten."""
        cdef Sum found = Sum(0, 0, 0)
        cdef const int32_t *numbers = &self.numbers[0]
        cdef const int32_t *met = &self.met[0]
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
        """Put the terms between two places to those found before; None: none yet."""
        cdef dict until
        cdef int64_t word, done = -1, stop, final
        cdef Py_ssize_t hits = self.hit_words.shape[0], phrase
        cdef Py_ssize_t at = self.next_hit(begin)
        cdef bint any_phrase
        cdef str name
        if at == hits or self.starts[self.hit_words[at]] >= end:
            return found
        until = {} if self.overlapping else None
        stop = bisect(self.starts, end)
        for at in range(at, hits):
            word = self.hit_words[at]
            if word >= stop:
                break
            if word <= done:
                continue
            any_phrase = False
            for phrase in range(bisect(self.first, word), self.first.shape[0]):
                if self.first[phrase] != word:
                    break
                final = self.last[phrase]
                if final >= stop:
                    continue
                if self.overlapping:
                    if word <= until.get(self.node[phrase], -1):
                        continue
                    until[self.node[phrase]] = final
                elif done < word or done == final:
                    done = final
                else:
                    continue
                any_phrase = True
                found = one_more(found, self.names[self.node[phrase]])
            if self.overlapping or not any_phrase:
                name = self.names[self.nodes[word]]
                if name:
                    found = one_more(found, name)
        return found

    cdef Py_ssize_t next_hit(self, int64_t place) noexcept:
        """The first of the hits that does not begin before a place."""
        cdef Py_ssize_t low = 0, high = self.hit_words.shape[0], middle
        while low < high:
            middle = (low + high) >> 1
            if self.starts[self.hit_words[middle]] < place:
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
        if not self.hit_words.shape[0]:
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
        cdef int64_t[::1] places = np.empty(size + 1, np.int64)
        cdef int64_t[::1] following = np.empty(size, np.int64)  # of the same block
        cdef int64_t[::1] cut_of = np.empty(number, np.int64)  # the first of each
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

    def stem_counts(self, int64_t end):
        cdef Py_ssize_t at
        self.number_stems()
        self.meet(0, end)
        stems_array = np.empty(self.kinds, np.uint64)
        counts_array = np.empty(self.kinds, np.int64)
        cdef uint64_t[::1] stems = stems_array
        cdef int64_t[::1] counts = counts_array
        for at in range(self.kinds):
            stems[at] = self.stems[self.met[at]]
            counts[at] = self.times[self.numbers[self.met[at]]]
        self.sum_up()
        order = stems_array.argsort()
        return stems_array[order], counts_array[order]


cdef dict one_more(dict found, str name):
    if found is None:
        found = {}
    found[name] = found.get(name, 0) + 1
    return found
