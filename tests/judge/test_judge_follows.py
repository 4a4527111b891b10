"""A judge that learns goes on when people ask for other things than before."""

from pathlib import Path

from judge.learning_pages import KEYWORDS, crawl
from opilio.assembly.judge_and_strategy import JudgeAndStrategy
from opilio.assembly.plan import Plan
from opilio.assembly.registry import make_strategy
from opilio.judge import Bootstrapped
from opilio.settings import CrawlSettings
from opilio.settings import StoreSettings as Keep
from opilio.store.folder import CrawlFolder
from opilio.store.store import Store
from opilio.subject.compile import compile_topic
from opilio.topic import Topic


def test_new_weights_leave_what_was_learnt(tmp_path: Path):
    topic = Topic(name="sky", keywords=KEYWORDS)
    plan = Plan(
        topic=topic, crawl=CrawlSettings(judge="bootstrapped"), store=Keep(min_free=0)
    )
    folder = CrawlFolder(tmp_path / "sky")
    folder.make()
    subject = compile_topic(topic)
    store = Store(folder, plan.store)
    try:
        mind = JudgeAndStrategy(plan, subject, make_strategy(plan, subject), store)
        for page in crawl(100):
            mind.judge.judge(page)
        judge, _ = mind.remake({"galaxy": 1.0})
    finally:
        store.close()
    assert isinstance(judge, Bootstrapped)
    assert judge is not mind.judge
    assert judge.sample.rarity.pages == 100
    assert len(judge.keywords.weights) == len(KEYWORDS) + 1
    assert mind.learners["judge"] is judge
    assert judge.dump() is not None  # so that it takes the place of the one before
