"""Is this page relevant? One file a judge; `JUDGES` names them."""

from collections.abc import Callable, Mapping

from opilio.judge.association import Association
from opilio.judge.blocks import Blocks
from opilio.judge.bootstrapped import Bootstrapped
from opilio.judge.cosine import Cosine
from opilio.judge.linear import Linear
from opilio.judge.ontoclassifier import OntoClassifier
from opilio.types import Judge, Subject

JUDGES: Mapping[str, Callable[[Subject], Judge]] = {
    "cosine": Cosine,
    "blocks": Blocks,
    "association": Association,
    "ontoclassifier": OntoClassifier,
    "linear": Linear,
    "bootstrapped": Bootstrapped,
}

__all__ = [
    "JUDGES",
    "Association",
    "Blocks",
    "Bootstrapped",
    "Cosine",
    "Linear",
    "OntoClassifier",
]
