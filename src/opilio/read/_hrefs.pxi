# The hrefs of settled links, so that nothing is made of them but a number; included by
# the walk.

from secrets import randbits

cdef enum:
    HREFS = 1 << 14  # places, of 96 bytes each
    LONGEST_HREF = 80  # bytes; longer ones are not remembered
    MOST_FOLDERS = 1 << 16

cdef uint64_t HREF_SALT = randbits(64)  # no page can choose hrefs that share a place

cdef struct Href:
    int64_t fingerprint
    int32_t folder
    int32_t size  # 0: the place is free
    char[LONGEST_HREF] text


cdef class Hrefs:
    """A cache of what hrefs lead to, for the pages of each folder.

    An href has two places. It takes the first if that is free; if not, it replaces
    whatever is in the second. Hrefs that depend on the name of their page are left out,
    and so are those with an ampersand, which the markup may write in several ways.
    """

    cdef Href *places
    cdef dict folders
    cdef int32_t folder

    def __cinit__(self):
        self.folders = {}
        self.places = <Href *>calloc(HREFS, sizeof(Href))
        if self.places == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.places)

    def enter(self, str folder not None):
        """The next page is in this folder."""
        if len(self.folders) == MOST_FOLDERS:
            self.folders.clear()
            memset(self.places, 0, HREFS * sizeof(Href))
        self.folder = self.folders.setdefault(folder, len(self.folders) + 1)

    cdef inline uint64_t place_of(self, const char *href, Py_ssize_t size) noexcept nogil:
        cdef uint64_t found = HREF_SALT ^ <uint64_t>self.folder, eight
        cdef Py_ssize_t at = 0
        while at < size:
            eight = 0
            memcpy(&eight, href + at, min(8, size - at))
            found = (found ^ eight) * <uint64_t>0x9E3779B97F4A7C15
            found ^= found >> 29
            at += 8
        return (found ^ found >> 17) & (HREFS - 1)

    cdef Href *find(self, const char *href, Py_ssize_t size) noexcept nogil:
        """The place of an href, or NULL."""
        cdef uint64_t place
        cdef Href *found
        cdef int turn
        if not 0 < size <= LONGEST_HREF or memchr(href, c"&", size) != NULL:
            return NULL
        place = self.place_of(href, size)
        for turn in range(2):
            found = &self.places[place ^ turn]
            if (
                found.size == size
                and found.folder == self.folder
                and not memcmp(found.text, href, size)
            ):
                return found
        return NULL

    cdef int put(self, str href, int64_t fingerprint) except -1:
        """Remember where an href leads to."""
        cdef Py_ssize_t size = PyUnicode_GET_LENGTH(href)
        cdef const char *text
        cdef Href *place
        if not PyUnicode_IS_ASCII(href) or not 0 < size <= LONGEST_HREF:
            return 0
        text = <const char *>PyUnicode_DATA(href)
        if text[0] == c"?" or text[0] == c"#" or memchr(text, c"&", size) != NULL:
            return 0
        place = self.find(text, size)
        if place == NULL:
            place = &self.places[self.place_of(text, size)]
            if place.size:
                place = &self.places[self.place_of(text, size) ^ 1]
        place.fingerprint, place.folder, place.size = fingerprint, self.folder, size
        memcpy(place.text, text, size)
        return 0
