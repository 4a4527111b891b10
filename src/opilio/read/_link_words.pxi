# The words of links, as in `plain_link_words`; included by `_kernels`.

cdef enum:
    STRETCHES = 7  # parts of a link that have words
    MOST_CODES = 96  # words of all of them
    SHORTENED = 35  # bits of a stem's hash that are left out

cdef uint32_t[STRETCHES] PART_OF
cdef Py_ssize_t[STRETCHES] MOST_OF
PART_OF[:] = [0, 0, 1, 2, 3, 4, 5]
MOST_OF[:] = [20, 20, 16, 10, 10, 10, 10]


def link_words(starts, stems, spots, list ends not None, list headings not None):
    cdef Held of_starts = Held(starts, 8), of_stems = Held(stems, 8)
    cdef const int64_t *places = <const int64_t *>of_starts.buffer.buf
    cdef const uint64_t *hashes = <const uint64_t *>of_stems.buffer.buf
    cdef Py_ssize_t size = of_starts.size, links = len(spots), link, part, word
    cdef int64_t first, start, end, last, head, foot, limit, address, name, after
    cdef Py_ssize_t[STRETCHES] begins
    cdef Py_ssize_t[STRETCHES] lengths
    cdef unsigned char[4 * MOST_CODES] codes
    cdef unsigned char *to
    cdef uint32_t code
    cdef list found = []
    if of_stems.size != size:
        raise ValueError("every word has a stem")
    if len(ends) != 2 * links + 3 or len(headings) != links:
        raise ValueError("every link has a spot, an address, a name and a heading")
    limit = ends[0]
    begins[6] = bisect(places, size, limit)
    lengths[6] = bisect(places, size, ends[1]) - begins[6]
    for link, (first, start, end, last) in enumerate(spots):
        address, name, after = ends[2 * link + 2], ends[2 * link + 3], ends[2 * link + 4]
        head, foot = headings[link]
        begins[0] = bisect(places, size, name)
        lengths[0] = bisect(places, size, after) - begins[0]
        begins[1] = bisect(places, size, min(start, limit))
        begins[4] = bisect(places, size, min(end, limit))
        lengths[1] = begins[4] - begins[1]
        begins[2] = bisect(places, size, address)
        lengths[2] = begins[0] - begins[2]
        lengths[3] = begins[1] - bisect(places, size, min(first, limit))
        begins[3] = begins[1] - max(0, min(lengths[3], MOST_OF[3]))  # the nearest
        lengths[4] = bisect(places, size, min(last, limit)) - begins[4]
        begins[5] = bisect(places, size, min(head, limit))
        lengths[5] = bisect(places, size, min(foot, limit)) - begins[5]
        to = codes
        for part in range(STRETCHES):
            for word in range(min(lengths[part], MOST_OF[part])):
                code = hashes[begins[part] + word] >> SHORTENED
                code |= PART_OF[part] << 29
                to[0] = code
                to[1] = code >> 8
                to[2] = code >> 16
                to[3] = code >> 24
                to += 4
        found.append(PyBytes_FromStringAndSize(<char *>codes, to - codes))
    return found
