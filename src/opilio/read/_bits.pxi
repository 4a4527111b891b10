# Operations on eight bytes at a time; included by the compiled kernels.

from libc.stdint cimport int64_t, uint64_t

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

cdef uint64_t ONES = 0x0101010101010101


cdef inline int64_t going_on(uint64_t eight) noexcept nogil:
    """How many of eight bytes of UTF-8 are continuation bytes."""
    return (((eight >> 7) & ~(eight >> 6) & ONES) * ONES) >> 56
