"""Makes the adviser of a judge that asks for second opinions."""

from __future__ import annotations

from opilio.advise.embedding import EmbeddingAdviser, load_model
from opilio.assembly.plan import Plan
from opilio.protocols import Adviser
from opilio.records import Subject


def check_adviser(plan: Plan) -> None:
    """Raise BadInput if the adviser that the settings name cannot be used."""
    load_model(plan.embedding.model)


def open_adviser(plan: Plan, subject: Subject) -> Adviser:
    """The adviser that the settings name."""
    return EmbeddingAdviser(load_model(plan.embedding.model), subject)
