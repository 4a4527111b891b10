from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from opilio.read import plain_text
from opilio.read.parsed_markup import Spot
from opilio.read.plain_kernels import Runs
from opilio.read.plain_tree import Hashes, Integers, Row
from opilio.read.plain_vectors import Matrix, Rows

EDITION: int

def look_up(table: Hashes, text: str, longest: int) -> Runs: ...
def learn(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    table: Hashes,
    runs: Runs,
    found: dict[bytes, int],
) -> None: ...
def expand(
    tree: Hashes,
    begins: npt.NDArray[np.int32],
    stems: Hashes,
    nodes: Integers,
    starts: Integers,
    lines: Integers,
    compounds: Mapping[int, tuple[Sequence[int], Sequence[int]]],
) -> Row: ...
def find_rows(
    table: Hashes, keys: Hashes, begins: Integers, ends: Integers
) -> Rows: ...
def put_rows(table: Hashes, keys: Hashes, rows: Rows) -> None: ...
def link_stretches(
    starts: Integers,
    spots: Sequence[Spot],
    ends: list[int],
    headings: list[tuple[int, int]],
) -> tuple[Integers, Integers]: ...
def link_words(
    starts: Integers,
    stems: Hashes,
    spots: Sequence[Spot],
    ends: list[int],
    headings: list[tuple[int, int]],
) -> list[bytes]: ...
def blend(
    matrix: Matrix,
    rows: Rows,
    begins: Integers,
    ends: Integers,
    groups: Integers,
    weights: npt.NDArray[np.float32],
) -> bytes: ...

class Text(plain_text.Text): ...
