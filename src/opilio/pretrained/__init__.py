"""Weights that were learnt before the crawl, over many topics and webs.

`opilio lab train` makes them. One file holds the weights of the judge and of the
chooser, with word vectors and without, and where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from opilio.errors import BadInput

FORMAT = 1
PACKAGED = Path(__file__).with_name("weights.json")


class LogisticWeights(msgspec.Struct, frozen=True):
    """A logistic regression: the weight of each feature by its name."""

    weights: Mapping[str, float]
    bias: float

    def of(self, name: str) -> float:
        """The weight of a feature; 0 if it has none."""
        return self.weights.get(name, 0.0)


class Weights(msgspec.Struct, frozen=True):
    """Everything that judge and chooser know from the start."""

    opening: LogisticWeights  # the judge before its critics have learnt anything
    judge: LogisticWeights
    chooser: LogisticWeights


class WeightsFile(msgspec.Struct, frozen=True):
    """The contents of a weights file."""

    format: int
    with_vectors: Weights
    without_vectors: Weights
    provenance: Mapping[str, Any] = {}  # webs, topics, versions, how well it did


@cache
def load_weights(path: str = "") -> WeightsFile:
    """Read a weights file; without a path, the one that is part of the package."""
    file = Path(path) if path else PACKAGED
    try:
        found = msgspec.json.decode(file.read_bytes(), type=WeightsFile)
    except OSError as error:
        raise BadInput(
            f"the weights file {file} cannot be read: {error.strerror}"
        ) from None
    except msgspec.DecodeError as error:
        raise BadInput(
            f"{file} is not a weights file ({error}); make one with: opilio lab train"
        ) from None
    if found.format != FORMAT:
        raise BadInput(
            f"{file} has format {found.format}, this version reads {FORMAT}; make it "
            "again with: opilio lab train"
        )
    return found


def weights_for(path: str, vectors: bool) -> Weights:
    """The weights for crawls with word vectors, or without."""
    found = load_weights(path)
    return found.with_vectors if vectors else found.without_vectors
