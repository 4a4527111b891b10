"""What a visited link taught the default strategy, for other workers of the crawl."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.uint16]
Singles = npt.NDArray[np.float32]


class LinkExperience(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The evidence of a link when it was chosen, and what came of it."""

    row: bytes  # its features, standardised, float32
    offset: float  # what the trained weights said
    score: float  # of its page
    section: int
    vector: bytes  # float16; empty without word vectors
    words: bytes = b""  # their places, uint16


_encode = msgspec.msgpack.Encoder().encode
unpack_experience = msgspec.msgpack.Decoder(LinkExperience).decode


def pack_experience(
    row: Singles,
    offset: float,
    score: float,
    section: int,
    vector: Singles,
    words: Places,
) -> bytes:
    """The experience as bytes."""
    return _encode(
        LinkExperience(
            row.astype("<f4").tobytes(),
            offset,
            score,
            section,
            vector.astype("<f2").tobytes(),
            words.astype("<u2").tobytes(),
        )
    )
