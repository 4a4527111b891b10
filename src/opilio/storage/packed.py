"""Packs the main text of a page and the facts about it for storing, and unpacks them.

Text and Markdown say nearly the same, so that compressed they take little more room
than one of them.
"""

from __future__ import annotations

import msgspec
from isal import isal_zlib

from opilio.records import Extraction

InflateError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub
LEVEL = 2
MOST = 2**27  # bytes

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Extraction).decode


def pack_extraction(extraction: Extraction) -> bytes:
    """An extraction in compressed form."""
    return isal_zlib.compress(_encode(extraction), LEVEL)


def unpack_extraction(packed: bytes) -> Extraction | None:
    """The extraction in its compressed form; None if it is damaged."""
    try:
        unpacked = isal_zlib.decompressobj().decompress(packed, MOST)
        return _decode(unpacked)
    except (InflateError, ValueError):  # msgspec's errors are ValueErrors
        return None
