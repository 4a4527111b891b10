from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from opilio.read.plain_kernels import Hashes, Integers, Marks

def split(text: bytes) -> tuple[bytes, Integers, Integers, Hashes]: ...
def look_up(table: Hashes, keys: Hashes) -> tuple[Hashes, Integers, Integers]: ...
def learn(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    table: Hashes,
    keys: Hashes,
    new: Integers,
    stems: Hashes,
    nodes: Integers,
) -> None: ...
def characters(text: bytes, starts: Integers) -> Integers: ...
def phrases(
    nodes: Hashes,
    begins: npt.NDArray[np.int32],
    goes_on: Marks,
    ends: Marks,
    text: bytes,
    starts: Integers,
    stems: Hashes,
    of_words: Integers,
    apart: Marks | None,
) -> tuple[Integers, Integers, Integers]: ...
def hits(ends: Marks, of_words: Integers, first: Integers) -> Integers: ...
def weigh(stems: Hashes) -> tuple[float, int]: ...
def tallies(
    stems: Hashes,
    starts: Integers,
    owners: Integers,
    begins: Integers,
    ends: Integers,
    number: int,
    only: Collection[int] | None = None,
) -> tuple[list[int], list[float], list[int]]: ...
def count_terms(
    names: Sequence[str],
    nodes: Integers,
    starts: Integers,
    hits: Integers,
    phrases: tuple[Integers, Integers, Integers],
    overlapping: bool,
    owners: Integers,
    begins: Integers,
    ends: Integers,
) -> dict[int, dict[str, int]]: ...
