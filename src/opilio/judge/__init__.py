"""Is this page relevant? One file a judge; `JUDGES` names them.

The published ones can also be had in other modes, as `blocks,mode=paper`.
"""

from collections.abc import Callable, Mapping
from functools import partial

from opilio.judge.association import Association
from opilio.judge.blocks import Blocks
from opilio.judge.bootstrapped import Bootstrapped
from opilio.judge.cosine import Cosine
from opilio.judge.learning import Learning
from opilio.judge.linear import Linear
from opilio.judge.ontoclassifier import OntoClassifier
from opilio.types import Judge, Subject

JUDGES: Mapping[str, Callable[[Subject], Judge]] = {
    "cosine": Cosine,
    "cosine,mode=paper": partial(Cosine, mode="paper"),
    "blocks": Blocks,
    "blocks,mode=paper": partial(Blocks, mode="paper"),
    "blocks,mode=maximum": partial(Blocks, mode="maximum"),
    "association": Association,
    "association,mode=paper": partial(Association, mode="paper"),
    "ontoclassifier": OntoClassifier,
    "ontoclassifier,mode=paper": partial(OntoClassifier, mode="paper"),
    "linear": Linear,
    "bootstrapped": Bootstrapped,
}

__all__ = [
    "JUDGES",
    "Association",
    "Blocks",
    "Bootstrapped",
    "Cosine",
    "Learning",
    "Linear",
    "OntoClassifier",
]
