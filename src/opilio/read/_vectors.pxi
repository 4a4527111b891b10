# Vectors of texts from those of their words, as in `plain_vectors`; included by
# `_kernels`.

cdef enum:
    FREE = 1
    UNSEEN = -2
    STEPS_OF_ONE = 127


def find_rows(table, keys, begins, ends):
    cdef Held held = Held(table, 8), of_keys = Held(keys, 8)
    cdef Held of_begins = Held(begins, 8), of_ends = Held(ends, 8)
    cdef Py_ssize_t size = held.size // 2, words = of_keys.size, stretch, word
    if held.size != 2 * size or size & (size - 1) or size < 2:
        raise ValueError("a table has two columns and 2ⁿ rows")
    if of_begins.size != of_ends.size:
        raise ValueError("every stretch has a begin and an end")
    cdef const uint64_t *places = <const uint64_t *>held.buffer.buf
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
            rows[word] = <int32_t>places[2 * at + 1] if places[2 * at] == key else -1
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
    # The object is new, and nobody else has seen it yet.
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
            target[at] = <signed char>rint(scale * total[at])
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
    cdef double squares = 0
    for at in range(size):
        squares += <double>vector[at] * vector[at]
    return <float>(1 / sqrt(squares)) if squares > 0 else 0
