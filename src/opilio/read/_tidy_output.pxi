# Writes text as a parser would write it; a part of `_tidy.pyx`.

cdef dict ENTITIES = {name.encode(): value.encode() for name, value in html5.items()}
cdef uint8_t[256] IN_VALUE  # copied unchanged
cdef uint8_t[256] WORD  # letters and digits

for _number in range(256):
    IN_VALUE[_number] = _number not in b"&<>\"\r\0"
    WORD[_number] = chr(_number).isascii() and chr(_number).isalnum()


class Unsure(Exception):
    """The page must be read by the real parser."""


cdef class Output:
    """The output so far."""

    cdef char *out
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.out)

    cdef inline int need(self, Py_ssize_t more) except -1:
        """Make room."""
        cdef char *out
        if self.room - self.size < more:
            out = <char *>realloc(self.out, 2 * self.room + more)
            if out == NULL:
                raise MemoryError
            self.out, self.room = out, 2 * self.room + more
        return 0

    cdef inline int write(self, const char *what, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.out + self.size, what, size)
        self.size += size
        return 0

    cdef int write_escaped(self, const char *what, Py_ssize_t size) except -1:
        """Write characters that stand for themselves."""
        cdef Py_ssize_t number
        for number in range(size):
            if what[number] == c"&":
                self.write(b"&amp;", 5)
            elif what[number] == c"<":
                self.write(b"&lt;", 4)
            elif what[number] == c">":
                self.write(b"&gt;", 4)
            elif what[number] == c'"':
                self.write(b"&quot;", 6)
            else:
                self.write(what + number, 1)
        return 0

    cdef int write_reference(
        self, const char **text, const char *end, bint in_value
    ) except -1:
        """Write what an ampersand and what follows it stand for."""
        cdef const char *start = text[0]
        cdef const char *at = start + 1
        cdef bytes name, meant
        cdef Py_ssize_t size
        if at < end and at[0] == c"#":
            return self.write_number(text, end)
        while at < end and WORD[<uint8_t>at[0]]:
            at += 1
        size = at - start - 1
        if at < end and at[0] == c";" and size:
            name = start[1 : size + 2]
            meant = ENTITIES.get(name)
            if meant is not None:
                text[0] = at + 1
                return self.write_escaped(meant, PyBytes_GET_SIZE(meant))
        # Some are known without a semicolon, too, even if letters follow.
        if not in_value:
            for size in range(2, min(size, 6) + 1):
                if start[1 : size + 1] in ENTITIES:
                    raise Unsure
        elif size <= 6 and (at >= end or at[0] != c"="):
            if start[1 : size + 1] in ENTITIES:
                raise Unsure
        text[0] = start + 1
        return self.write(b"&amp;", 5)

    cdef int write_number(self, const char **text, const char *end) except -1:
        """Write the character of this number."""
        cdef const char *at = text[0] + 2
        cdef int base = 10, digit
        cdef long code = 0
        cdef bytes meant
        if at < end and (at[0] | 0x20) == c"x":
            base = 16
            at += 1
        while at < end and WORD[<uint8_t>at[0]]:
            digit = at[0] - c"0" if at[0] <= c"9" else (at[0] | 0x20) - c"a" + 10
            code = code * base + digit
            if digit >= base or code > 0x10FFFF:
                raise Unsure
            at += 1
        if at >= end or at[0] != c";" or code < 32 or 127 <= code < 160:
            raise Unsure
        if 0xD800 <= code < 0xE000 or code & 0xFFFE == 0xFFFE:
            raise Unsure
        text[0] = at + 1
        meant = chr(code).encode()
        return self.write_escaped(meant, PyBytes_GET_SIZE(meant))

    cdef int write_text(self, const char *start, const char *end) except -1:
        """Write text in which there are no tags."""
        cdef const char *found
        while start < end:
            found = <const char *>memchr(start, c"&", end - start)
            if found == NULL:
                found = end
            self.write(start, found - start)
            start = found
            if start < end:
                self.write_reference(&start, end, False)
        return 0

    cdef int write_value(self, const char *start, const char *end) except -1:
        """Write the value of an attribute."""
        cdef const char *from_here
        while start < end:
            from_here = start
            while start < end and IN_VALUE[<uint8_t>start[0]]:
                start += 1
            self.write(from_here, start - from_here)
            if start == end:
                return 0
            if start[0] == c"&":
                self.write_reference(&start, end, True)
            elif start[0] == c"\r":
                start += 1
                if start == end or start[0] != c"\n":
                    self.write(b"\n", 1)
            else:
                self.write_escaped(start, 1)
                start += 1
        return 0


cdef bint is_utf_8(const char *text, Py_ssize_t size) noexcept nogil:
    """Whether this is valid UTF-8 without zeros."""
    cdef const uint8_t *at = <const uint8_t *>text
    cdef const uint8_t *end = at + size
    cdef uint64_t eight
    cdef uint8_t code
    cdef int more, number
    cdef uint8_t lowest, highest
    if memchr(text, 0, size) != NULL:
        return False
    while at < end:
        if end - at >= 8:
            memcpy(&eight, at, 8)
            if not eight & <uint64_t>0x8080808080808080:
                at += 8
                continue
        code = at[0]
        at += 1
        if code < 0x80:
            continue
        lowest, highest = 0x80, 0xBF
        if 0xC2 <= code <= 0xDF:
            more = 1
        elif 0xE0 <= code <= 0xEF:
            more = 2
            if code == 0xE0:
                lowest = 0xA0
            elif code == 0xED:
                highest = 0x9F
        elif 0xF0 <= code <= 0xF4:
            more = 3
            if code == 0xF0:
                lowest = 0x90
            elif code == 0xF4:
                highest = 0x8F
        else:
            return False
        if end - at < more or not lowest <= at[0] <= highest:
            return False
        for number in range(1, more):
            if not 0x80 <= at[number] <= 0xBF:
                return False
        at += more
    return True
