# Memory that C code writes to or reads from; included by the compiled kernels.

from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release
from cpython.buffer cimport PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)

cdef enum:
    AT_ONCE = 16  # characters

ctypedef fused Unit:
    uint8_t
    uint16_t
    uint32_t


cdef class Room:
    """Temporary memory."""

    cdef void *memory

    def __cinit__(self, size_t size):
        self.memory = malloc(size + 1)
        if self.memory == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.memory)


cdef class Encoded:
    """A text in UTF-8 with a zero after it; quicker than Python's own way for texts that
    are ASCII but for a few characters, as most are."""

    cdef const char *data
    cdef Py_ssize_t size
    cdef object kept  # what has the memory

    def __cinit__(self, str text not None, str errors not None):
        cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text)
        cdef int kind = PyUnicode_KIND(text)
        cdef Room room
        if PyUnicode_IS_ASCII(text):
            self.kept, self.size = text, size
            self.data = <const char *>PyUnicode_DATA(text)
            return
        # A character takes at most one byte more than in the string, or as many.
        self.kept = room = Room(size * (kind + 1 if kind < 4 else 4))
        self.data = <const char *>room.memory
        if kind == 1:
            self.size = encode(<const uint8_t *>PyUnicode_DATA(text), size, room)
        elif kind == 2:
            self.size = encode(<const uint16_t *>PyUnicode_DATA(text), size, room)
        else:
            self.size = encode(<const uint32_t *>PyUnicode_DATA(text), size, room)
        if self.size < 0:
            self.kept = text.encode("utf-8", errors)
            self.data = PyBytes_AS_STRING(self.kept)
            self.size = PyBytes_GET_SIZE(self.kept)


cdef Py_ssize_t encode(const Unit *source, Py_ssize_t size, Room room) noexcept:
    """Write characters as UTF-8; returns the number of bytes, -1 for a lone
    surrogate."""
    cdef char *begin = <char *>room.memory
    cdef char *target = begin
    cdef Py_ssize_t at = 0, until
    cdef Unit code, all_of_them
    while at < size:
        until = min(at + AT_ONCE, size)
        all_of_them = 0x80
        if until - at == AT_ONCE:
            all_of_them = 0
            for code in source[at:until]:
                all_of_them |= code
        if all_of_them < 0x80:
            for code in source[at:until]:
                target[0] = <char>code
                target += 1
        else:
            for code in source[at:until]:
                if code >> 11 == 0x1B:
                    return -1
                target = put(target, code)
        at = until
    target[0] = 0
    return target - begin


cdef inline char *put(char *target, uint32_t code) noexcept nogil:
    """Write a character as UTF-8; returns where the next one goes."""
    if code < 0x80:
        target[0] = <char>code
        return target + 1
    if code < 0x800:
        target[0] = <char>(0xC0 | code >> 6)
    else:
        if code < 0x10000:
            target[0] = <char>(0xE0 | code >> 12)
        else:
            target[0] = <char>(0xF0 | code >> 18)
            target[1] = <char>(0x80 | code >> 12 & 0x3F)
            target += 1
        target[1] = <char>(0x80 | code >> 6 & 0x3F)
        target += 1
    target[1] = <char>(0x80 | code & 0x3F)
    return target + 2
