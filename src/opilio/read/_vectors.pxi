# Vectors of texts from those of their words, as `plain_vectors`; part of `_kernels`.

cdef enum:
    FREE = 1
    UNSEEN = -2
    STEPS_OF_ONE = 127
    MOST_AROUND = 10
    MOST_HEADING = 8

cdef uint64_t USED = <uint64_t>1 << 32
cdef float ROUND = 12582912  # 1.5 * 2**23


cdef Held table_of_rows(table, bint writable):
    cdef Held held = Held(table, 8, writable)
    cdef Py_ssize_t size = held.size // 2
    if held.size != 2 * size or size & (size - 1) or size < 2:
        raise ValueError("a table has two columns and 2ⁿ rows")
    return held


def put_rows(table, keys, rows):
    cdef Held held = table_of_rows(table, True)
    cdef Held of_keys = Held(keys, 8), of_rows = Held(rows, 4)
    cdef uint64_t *places = <uint64_t *>held.buffer.buf
    cdef const uint64_t *all_keys = <const uint64_t *>of_keys.buffer.buf
    cdef uint64_t mask = held.size // 2 - 1, at
    cdef int shift = 64 - ones_in(mask)
    cdef Py_ssize_t word, steps
    if of_keys.size != of_rows.size:
        raise ValueError("every key has a row")
    for word in range(of_keys.size):
        at = all_keys[word] >> shift
        steps = 0
        while places[2 * at] != FREE:
            at = (at + 1) & mask
            steps += 1
            if steps > <Py_ssize_t>mask:
                raise IndexError("a table is full")
        places[2 * at] = all_keys[word]
        places[2 * at + 1] = (<const int32_t *>of_rows.buffer.buf)[word]


def find_rows(table, keys, begins, ends):
    cdef Held held = table_of_rows(table, True), of_keys = Held(keys, 8)
    cdef Held of_begins = Held(begins, 8), of_ends = Held(ends, 8)
    cdef Py_ssize_t size = held.size // 2, words = of_keys.size, stretch, word
    if of_begins.size != of_ends.size:
        raise ValueError("every stretch has a begin and an end")
    cdef uint64_t *places = <uint64_t *>held.buffer.buf
    cdef const uint64_t *all_keys = <const uint64_t *>of_keys.buffer.buf
    cdef const int64_t *first = <const int64_t *>of_begins.buffer.buf
    cdef const int64_t *last = <const int64_t *>of_ends.buffer.buf
    cdef uint64_t mask = size - 1, key, at
    cdef int shift = 64 - ones_in(mask)
    array = np.zeros(words, np.int32)
    cdef Held of_rows = Held(array, 4, True)
    cdef int32_t *rows = <int32_t *>of_rows.buffer.buf
    cdef Py_ssize_t steps
    for stretch in range(of_begins.size):
        if first[stretch] < 0 or last[stretch] > words:
            raise IndexError("a stretch has words that are not there")
        for word in range(first[stretch], last[stretch]):
            key = all_keys[word]
            if rows[word] or not key:
                continue
            at = key >> shift
            steps = 0
            while places[2 * at] != key and places[2 * at] != FREE and steps < size:
                at = (at + 1) & mask
                steps += 1
            if places[2 * at] != key:
                rows[word] = -1
                continue
            places[2 * at + 1] |= USED
            rows[word] = <int32_t>places[2 * at + 1]
            if not rows[word]:
                rows[word] = UNSEEN  # its row is 0; it need not be looked up again
    for word in range(words):
        if rows[word] == UNSEEN:
            rows[word] = 0
    return array


def blend(matrix, rows, begins, ends, groups, weights):
    cdef Held of_matrix = Held(matrix, 4), of_rows = Held(rows, 4)
    cdef Held of_begins = Held(begins, 8), of_ends = Held(ends, 8)
    cdef Held of_groups = Held(groups, 8), of_weights = Held(weights, 4)
    cdef Py_ssize_t height = matrix.shape[0], size = matrix.shape[1]
    cdef Py_ssize_t lines = len(begins), columns = of_groups.size
    cdef Py_ssize_t line, column, word, at, group
    if of_matrix.size != height * size:
        raise ValueError("a matrix has as many values as its shape says")
    if not of_begins.size == of_ends.size == lines * columns:
        raise ValueError("every stretch has a begin and an end")
    cdef const float *values = <const float *>of_matrix.buffer.buf
    cdef const float *vector
    cdef const int32_t *row = <const int32_t *>of_rows.buffer.buf
    cdef const int64_t *first = <const int64_t *>of_begins.buffer.buf
    cdef const int64_t *last = <const int64_t *>of_ends.buffer.buf
    cdef const int64_t *group_of = <const int64_t *>of_groups.buffer.buf
    cdef const float *weight_of = <const float *>of_weights.buffer.buf
    cdef bytes data = PyBytes_FromStringAndSize(NULL, lines * size)
    # The object is new, so writing into it is safe.
    cdef signed char *target = <signed char *>PyBytes_AS_STRING(data)
    cdef Room room = Room(2 * sizeof(float) * size)
    cdef float *total = <float *>room.memory
    cdef float *part = total + size
    cdef float scale
    for word in range(of_rows.size):
        if not 0 <= row[word] < height:
            raise IndexError("a word has a row that is not there")
    for at in range(lines * columns):
        if first[at] < 0 or last[at] > of_rows.size:
            raise IndexError("a stretch has words that are not there")
    for line in range(lines):
        memset(total, 0, sizeof(float) * size)
        for group in range(of_weights.size):
            memset(part, 0, sizeof(float) * size)
            for column in range(columns):
                if group_of[column] != group:
                    continue
                at = line * columns + column
                for word in range(first[at], last[at]):
                    if row[word]:
                        add_vector(part, values + size * row[word], size)
            scale = weight_of[group] * over_length(part, size)
            for at in range(size):
                total[at] += scale * part[at]
        scale = STEPS_OF_ONE * over_length(total, size)
        for at in range(size):
            # To the nearest number: what is added leaves no bits for fractions.
            target[at] = <signed char>((scale * total[at] + ROUND) - ROUND)
        target += size
    return data


cdef inline void add_vector(
    float *target, const float *vector, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(size):
        target[at] += vector[at]


cdef inline float over_length(const float *vector, Py_ssize_t size) noexcept nogil:
    """One by the length of a vector; 0 if it has none."""
    cdef Py_ssize_t at
    cdef float[4] sums
    cdef double squares
    memset(sums, 0, sizeof(sums))
    # Four independent sums, so that additions run in parallel.
    for at in range(0, size - 3, 4):
        sums[0] += vector[at] * vector[at]
        sums[1] += vector[at + 1] * vector[at + 1]
        sums[2] += vector[at + 2] * vector[at + 2]
        sums[3] += vector[at + 3] * vector[at + 3]
    for at in range(size & ~3, size):
        sums[0] += vector[at] * vector[at]
    squares = <double>sums[0] + sums[1] + sums[2] + sums[3]
    return <float>(1 / sqrt(squares)) if squares > 0 else 0


def link_stretches(starts, spots, list ends not None, list headings not None):
    cdef Held of_starts = Held(starts, 8)
    cdef const int64_t *places = <const int64_t *>of_starts.buffer.buf
    cdef Py_ssize_t size = of_starts.size, links = len(spots), link
    cdef int64_t first, start, end, last, limit, name, after, head, foot
    if len(ends) != 2 * links + 3 or len(headings) != links:
        raise ValueError("every link has a spot, an address, a name and a heading")
    found = np.empty((2, links, 5), np.int64)
    cdef Held memory = Held(found, 8, True)
    cdef int64_t *begins = <int64_t *>memory.buffer.buf
    cdef int64_t *stops = begins + 5 * links
    limit = ends[0]
    for link, (first, start, end, last) in enumerate(spots):
        name, after = ends[2 * link + 3], ends[2 * link + 4]
        head, foot = headings[link]
        begins[0] = bisect(places, size, min(start, limit))
        stops[0] = bisect(places, size, min(end, limit))
        begins[1] = bisect(places, size, name) if name < after else 0
        stops[1] = bisect(places, size, after) if name < after else 0
        begins[2] = bisect(places, size, min(first, limit))
        stops[2] = begins[0]
        begins[3] = stops[0]
        stops[3] = bisect(places, size, min(last, limit))
        begins[4] = bisect(places, size, min(head, limit)) if head < foot else 0
        stops[4] = bisect(places, size, min(foot, limit)) if head < foot else 0
        stops[0] = max(begins[0], min(stops[0], begins[0] + MOST_AROUND))
        stops[1] = max(begins[1], min(stops[1], begins[1] + MOST_AROUND))
        begins[2] = min(stops[2], max(begins[2], stops[2] - MOST_AROUND))
        stops[3] = max(begins[3], min(stops[3], begins[3] + MOST_AROUND))
        stops[4] = max(begins[4], min(stops[4], begins[4] + MOST_HEADING))
        begins += 5
        stops += 5
    return found[0], found[1]
