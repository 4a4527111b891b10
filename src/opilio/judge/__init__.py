"""Is this page relevant? One file a judge; `JUDGES` names them.

The published ones can also be had in other modes, as `blocks,mode=paper`; their
`mode=fixed` is what the name alone says.
"""

from collections.abc import Callable
from functools import partial

from opilio.errors import BadInput
from opilio.judge.association import Association
from opilio.judge.blocks import Blocks
from opilio.judge.bootstrapped import Bootstrapped
from opilio.judge.cosine import Cosine
from opilio.judge.learning import Learning
from opilio.judge.linear import Linear
from opilio.judge.ontoclassifier import OntoClassifier
from opilio.judge.opilio import Opilio
from opilio.protocols import Judge
from opilio.records import Subject

Make = Callable[[Subject], Judge]


class Judges(dict[str, Make]):
    """Judges by name, which also know what to say to a mode that is not listed."""

    def __contains__(self, name: object) -> bool:
        """Is it the name of a judge, be it with a mode that this one has not?"""
        return super().__contains__(str(name).partition(",mode=")[0])

    def __missing__(self, name: str) -> Make:
        """The judge in the mode that is its default; BadInput for one it has not."""
        judge, _, mode = name.partition(",mode=")
        if not mode or judge not in self:
            raise KeyError(name)
        others = [
            other.partition("=")[2] for other in self if other.startswith(f"{judge},")
        ]
        if not others:
            raise BadInput(
                f"the judge {judge!r} has no modes; leave out ',mode={mode}'"
            )
        if mode != "fixed":
            modes = ", ".join(["fixed (the default)", *others])
            raise BadInput(f"the judge {judge!r} has no mode {mode!r}; it has: {modes}")
        return self[judge]


_listed: dict[str, Make] = {
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
    "opilio": Opilio,
}
JUDGES = Judges(_listed)

__all__ = [
    "JUDGES",
    "Association",
    "Blocks",
    "Bootstrapped",
    "Cosine",
    "Learning",
    "Linear",
    "OntoClassifier",
    "Opilio",
]
