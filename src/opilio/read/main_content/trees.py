"""Boosted decision trees: reads them from a file and asks them about rows of numbers.

`python -m bench.main_text train` makes the file from pages whose main text is known.
All trees are complete, so that they can be asked together: the children of question
number q are 2q + 1 (at most the threshold) and 2q + 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from opilio.read.main_content.block_numbers import odds
from opilio.read.main_content.plain_block_numbers import Numbers

FILE = Path(__file__).parents[2] / "pretrained" / "main_text.npz"


@dataclass(frozen=True)
class Trees:
    """Trees that are asked together; each answer adds to the log odds."""

    columns: npt.NDArray[np.int16]  # tree × question: the column asked about
    thresholds: npt.NDArray[np.float32]
    leaves: npt.NDArray[np.float32]  # tree × leaf

    def chances(self, rows: Numbers) -> npt.NDArray[np.float64]:
        """The probability of each row."""
        told = odds(rows, self.columns, self.thresholds, self.leaves)
        return 1 / (1 + np.exp(-told))


@cache
def load_trees() -> tuple[Trees, Trees]:
    """The trees that look at a block first and second."""
    with np.load(FILE, allow_pickle=False) as file:
        return (
            Trees(file["columns_1"], file["thresholds_1"], file["leaves_1"]),
            Trees(file["columns_2"], file["thresholds_2"], file["leaves_2"]),
        )
