import numpy as np
import numpy.typing as npt

from opilio.read.plain_kernels import Hashes, Integers, Marks, Part, Text

EDITION: int

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
def count_parts(
    text: Text, parts: list[Part]
) -> dict[int, tuple[dict[str, int], float]]: ...
def count_text(text: Text, end: int) -> tuple[int, dict[str, int], float, int]: ...
def count_blocks(
    text: Text, parts: list[Part], number: int
) -> list[tuple[int, dict[str, int], float, int]]: ...
