"""Proposes better keywords for a crawl from the pages it kept, and applies them."""

from __future__ import annotations

from collections.abc import Sequence

from opilio.assembly.ontology_loop import read_pages
from opilio.assembly.plan import Plan, load_plan
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder
from opilio.subject.topic_updates import (
    ACCEPTED,
    AUTOMATIC,
    REJECTED,
    decisions,
    record,
    with_updates,
)
from opilio.topic.keyword_updates import FEWEST, KeywordChange, propose_keywords

PAGES = 200  # of either kind that are read
ALL = "all"


def proposals_for(folder: CrawlFolder, plan: Plan | None = None) -> list[KeywordChange]:
    """What the pages of a crawl suggest to change; nothing that was decided before."""
    topic = with_updates((plan or load_plan(folder)).topic, folder)
    kept = [page.text for page in read_pages(folder, topic, PAGES, relevant=True)]
    if len(kept) < FEWEST:
        return []
    others = [page.text for page in read_pages(folder, topic, PAGES, relevant=False)]
    decided = [one.change.term for one in decisions(folder)]
    return propose_keywords(
        topic.weights(), kept, others, language=topic.language, without=decided
    )


def decide(
    folder: CrawlFolder, accepted: Sequence[str], rejected: Sequence[str]
) -> list[KeywordChange]:
    """Accept and reject changes by their terms (`all`: every one); those accepted."""
    proposed = {one.term.casefold(): one for one in proposals_for(folder.require())}

    def chosen(names: Sequence[str]) -> list[KeywordChange]:
        if ALL in names:
            return list(proposed.values())
        for name in names:
            if name.casefold() not in proposed:
                known = ", ".join(one.term for one in proposed.values()) or "nothing"
                raise BadInput(f"{name!r} is not proposed; these are: {known}")
        return [proposed[name.casefold()] for name in names]

    taken, refused = chosen(accepted), chosen(rejected)
    if refused:
        record(folder, REJECTED, refused)
    if taken:
        record(folder, ACCEPTED, taken)
    return taken


def update_automatically(folder: CrawlFolder, plan: Plan) -> list[KeywordChange]:
    """Accept all that is proposed, if the topic allows it; answers what changed."""
    if plan.topic.update != "auto" or not folder.database.is_file():
        return []
    changes = proposals_for(folder, plan)
    if changes:
        record(folder, AUTOMATIC, changes)
    return changes
