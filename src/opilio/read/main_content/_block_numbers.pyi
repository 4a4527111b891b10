from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.outline import TextBlock
from opilio.read.main_content.plain_block_numbers import Likeness, Numbers

EDITION: int

def numbers_of(text: str) -> tuple[float, ...]: ...
def own_rows(
    blocks: Sequence[TextBlock], levels: Sequence[int], likeness: Likeness
) -> Numbers: ...
def kind_rows(
    parents: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.int64],
    shares: Numbers,
    width: int,
    absent: float,
) -> Numbers: ...
def side_rows(
    parents: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.int64],
    shares: Numbers,
    bad: int,
    good: int,
    comment: int,
    large: float,
    absent: float,
) -> Numbers: ...
def odds(
    rows: Numbers,
    columns: npt.NDArray[np.int16],
    thresholds: Numbers,
    leaves: Numbers,
) -> npt.NDArray[np.float64]: ...
