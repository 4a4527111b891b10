"""The judges, which decide how relevant a page is: one module each, named in `JUDGES`.

Published ones also have other modes, as in `blocks,mode=paper`; the name alone means
`mode=fixed`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from opilio.errors import BadInput
from opilio.protocols import Judge
from opilio.records import Subject

if TYPE_CHECKING:
    from opilio.judge.association import Association
    from opilio.judge.blocks import Blocks
    from opilio.judge.bootstrapped import Bootstrapped
    from opilio.judge.cosine import Cosine
    from opilio.judge.learning_judge import Learning
    from opilio.judge.linear import Linear
    from opilio.judge.ontoclassifier import OntoClassifier
    from opilio.judge.opilio import Opilio
    from opilio.judge.svm import Svm

Make = Callable[[Subject], Judge]
CLASSES = {
    "Association": "association",
    "Blocks": "blocks",
    "Bootstrapped": "bootstrapped",
    "Cosine": "cosine",
    "Learning": "learning_judge",
    "Linear": "linear",
    "OntoClassifier": "ontoclassifier",
    "Opilio": "opilio",
    "Svm": "svm",
}


def __getattr__(name: str) -> Any:
    """The class of a judge, imported on first use."""
    if name not in CLASSES:
        raise AttributeError(f"module 'opilio.judge' has no attribute {name!r}")
    return getattr(import_module(f"opilio.judge.{CLASSES[name]}"), name)


def made_as(name: str, **options: str) -> Make:
    """A function that makes a judge of this class, importing it only then."""

    def make(subject: Subject) -> Judge:
        judge: Judge = __getattr__(name)(subject, **options)
        return judge

    return make


class Judges(dict[str, Make]):
    """Judges by name, with error messages for modes that do not exist."""

    def __contains__(self, name: object) -> bool:
        """Whether it names a judge, even with a mode that this judge lacks."""
        return super().__contains__(str(name).partition(",mode=")[0])

    def __missing__(self, name: str) -> Make:
        """The judge in its default mode; BadInput for a mode that it lacks."""
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
    "cosine": made_as("Cosine"),
    "cosine,mode=paper": made_as("Cosine", mode="paper"),
    "blocks": made_as("Blocks"),
    "blocks,mode=paper": made_as("Blocks", mode="paper"),
    "blocks,mode=maximum": made_as("Blocks", mode="maximum"),
    "association": made_as("Association"),
    "association,mode=paper": made_as("Association", mode="paper"),
    "ontoclassifier": made_as("OntoClassifier"),
    "ontoclassifier,mode=paper": made_as("OntoClassifier", mode="paper"),
    "linear": made_as("Linear"),
    "svm": made_as("Svm"),
    "bootstrapped": made_as("Bootstrapped"),
    "opilio": made_as("Opilio"),
    "embedding": made_as("Opilio", adviser="embedding"),
    "llm": made_as("Opilio", adviser="llm"),
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
    "Svm",
]
