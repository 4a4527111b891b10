"""Checks the plan of a crawl and compiles its topic, before anything is built."""

from __future__ import annotations

from pathlib import Path

import msgspec

from opilio import extensions
from opilio.assembly.plan import Plan
from opilio.assembly.registry import BY_NAME, Own
from opilio.fetch.addresses import parse_networks
from opilio.fetch.proxy_and_certificates import parse_proxy
from opilio.records import Subject
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import compile_topic
from opilio.subject.stored_subject import load_subject

ADVISED = ("embedding", "llm")  # judges that ask for second opinions


def check_plan(plan: Plan, own: Own = BY_NAME) -> None:
    """Raise BadInput if the plan cannot be built, before anything is written."""
    own.check(plan)
    for name in plan.topic.sources.sources:
        extensions.find_class("seed source", name)
    parse_networks(plan.fetch.allow_networks)
    parse_proxy(plan.fetch.proxy)
    if plan.crawl.judge in ADVISED:
        from opilio.assembly.advisers import check_adviser

        check_adviser(plan)
    if plan.browser.render != "never" and not plan.is_offline:
        from opilio.fetch.browser.chromium import find_chromium, require_playwright

        require_playwright()
        find_chromium(plan.browser.executable)
    if plan.replay:
        from opilio.fetch.replay import check_archive  # only replays need it

        for name in plan.replay:
            check_archive(Path(name))


def prepare(
    plan: Plan, folder: CrawlFolder, *, fresh: bool = False, own: Own = BY_NAME
) -> Subject:
    """Check a plan and compile its topic; a resumed crawl has its subject, unless
    its ontology was improved."""
    check_plan(plan, own)
    plan, is_improved = with_accepted(plan, folder)
    if folder.subject.is_file() and not fresh and not is_improved:
        return load_subject(folder.subject)
    topic, asked = plan.topic, None
    if topic.asked:
        from opilio.subject.current import follow_log

        log = follow_log(topic)
        asked = log.build() if log else None
    if topic.ontology:
        from opilio.subject.improved_ontology import with_improved

        topic = with_improved(topic, folder)
    subject = compile_topic(topic, asked, plan.crawl.vectors, plan.crawl.weights)
    own.make_judge(plan, subject)  # raises BadInput if the topic lacks something,
    strategy = own.make_strategy(plan, subject)  # as does this
    if own.strategy is None and (plan.options or not subject.weights):
        from opilio.strategies.shared.inputs import require_input

        name, has_classes = plan.crawl.strategy, plan.topic.classes is not None
        require_input(name, strategy, subject, has_classes)
    if strategy.reads.look_ahead and plan.topic.classes:
        from opilio.subject.class_rules import check_classes

        check_classes(plan.topic.classes)
    return subject


def with_accepted(plan: Plan, folder: CrawlFolder) -> tuple[Plan, bool]:
    """The plan with the keywords that were accepted for this crawl, and whether its
    topic must be compiled again because something was accepted."""
    if not folder.keywords.is_file() and not folder.ontology.is_dir():
        return plan, False
    from opilio.subject.improved_ontology import is_improved
    from opilio.subject.topic_updates import with_updates

    topic = with_updates(plan.topic, folder)
    return msgspec.structs.replace(plan, topic=topic), is_improved(folder)
