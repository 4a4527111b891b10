"""Is this page relevant? One file a judge; `JUDGES` names them."""

from collections.abc import Callable, Mapping

from opilio.judge.cosine import Cosine
from opilio.types import Judge, Subject

JUDGES: Mapping[str, Callable[[Subject], Judge]] = {
    "cosine": Cosine,
}

__all__ = ["JUDGES", "Cosine"]
