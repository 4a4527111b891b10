"""Stores unit vectors in short codes: a byte for every four dimensions.

    encode(vectors)      float32, n × size  ->  uint8, n × ⌈size/4⌉
    decode(codes, size)  the vectors again, nearly
    tables(direction)    float32, ⌈size/4⌉ × 256: from these,
    dots(codes, slots, tables)   direction·vector of some rows, a lookup for each byte
    mix(codes, slots, given, rows, shares, size)
                         moves the vectors of some rows towards others, in place

Byte j of a code stands for the dimensions j, j + w, j + 2w and j + 3w, w = ⌈size/4⌉.
Its lower four bits are their signs, its upper four say which of sixteen shapes is
nearest to their sizes. The shapes are those with the least mean square error for normal
numbers (.102, that of two bits for each number is .118), found once by Lloyd's
algorithm; so the codes fit the vectors of any table, and nothing is trained or stored.
Zeros are encoded as zeros, and decoded as such. `docs/results/costs.md` compares this
with other codes.
"""

from opilio.vectors import plain_codes

try:
    from opilio.vectors import _codes

    if _codes.EDITION != plain_codes.EDITION:
        raise ImportError("it was compiled for another version of the package")
except (ImportError, AttributeError):
    _codes = plain_codes  # type: ignore[misc]

Codes = plain_codes.Codes
GROUP = plain_codes.GROUP

tables = plain_codes.tables
encode = _codes.encode
decode = _codes.decode
dots = _codes.dots
mix = _codes.mix


def width(size: int) -> int:
    """The bytes of a vector of so many dimensions."""
    return -(-size // GROUP)
