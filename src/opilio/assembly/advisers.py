"""Makes the adviser of a judge that asks for second opinions."""

from __future__ import annotations

import os
import time

from opilio.assembly.plan import Plan
from opilio.protocols import Adviser
from opilio.records import Subject
from opilio.store.store import Store


def check_adviser(plan: Plan) -> None:
    """Raise BadInput if the adviser that the settings name cannot be used."""
    if plan.crawl.judge == "embedding":
        from opilio.advise.embedding import load_model

        load_model(plan.embedding.model)
    else:
        from opilio.fetch.llm_endpoint import endpoint_url, read_key

        endpoint_url(plan.llm)
        read_key(plan.llm, os.environ)


def open_adviser(plan: Plan, subject: Subject, store: Store) -> Adviser:
    """The adviser that the settings name."""
    if plan.crawl.judge == "embedding":
        from opilio.advise.embedding import EmbeddingAdviser, load_model

        return EmbeddingAdviser(load_model(plan.embedding.model), subject)
    from opilio.advise.llm import LlmAdviser
    from opilio.advise.llm_messages import LlmAnswer
    from opilio.fetch.llm_endpoint import LlmEndpoint
    from opilio.store.llm_answers import LlmAnswers

    endpoint = LlmEndpoint(plan.llm, plan.fetch, os.environ)
    return LlmAdviser(
        plan.llm,
        plan.topic.name,
        subject,
        endpoint.post,
        endpoint.close,
        LlmAnswers(store.db, LlmAnswer),
        time.monotonic,
    )
