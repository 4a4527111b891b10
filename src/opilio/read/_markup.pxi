# What tidying and the walk both know about markup; included by both.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr, memcmp, strlen

cdef enum:  # attributes that matter
    HREF, XLINK, SRC, REL, ALT, TITLE, CLASS, ID, ROLE, ATTRIBUTES

cdef const char *ATTRIBUTE[ATTRIBUTES]  # their names
ATTRIBUTE[HREF], ATTRIBUTE[XLINK], ATTRIBUTE[SRC] = b"href", b"xlink:href", b"src"
ATTRIBUTE[REL], ATTRIBUTE[ALT], ATTRIBUTE[TITLE] = b"rel", b"alt", b"title"
ATTRIBUTE[CLASS], ATTRIBUTE[ID], ATTRIBUTE[ROLE] = b"class", b"id", b"role"
cdef Py_ssize_t[ATTRIBUTES] ATTRIBUTE_SIZE
for _number in range(ATTRIBUTES):
    ATTRIBUTE_SIZE[_number] = strlen(ATTRIBUTE[_number])

cdef uint8_t[256] BLANK
for _number in range(256):
    BLANK[_number] = _number in b" \t\n\r\f"


cdef inline uint64_t hash_of(const char *name, Py_ssize_t size) noexcept nogil:
    cdef uint64_t found = 0xCBF29CE484222325
    cdef Py_ssize_t number
    for number in range(size):
        found = (found ^ <uint8_t>name[number]) * <uint64_t>0x100000001B3
    return found | 1  # 0 stands for an empty place


cdef inline bint is_word(
    const char *text, const char *wanted, Py_ssize_t length
) noexcept nogil:
    """Whether this word is here, in any case."""
    cdef Py_ssize_t number
    for number in range(length):
        if (text[number] | 0x20) != wanted[number]:
            return False
    return True


cdef inline const char *find(
    const char *text, const char *end, const char *wanted, Py_ssize_t length
) noexcept nogil:
    """Finds a string in a text; NULL if it is not there."""
    cdef const char *found
    while end - text >= length:
        found = <const char *>memchr(text, wanted[0], end - text - length + 1)
        if found == NULL or not memcmp(found, wanted, length):
            return found
        text = found + 1
    return NULL
