"""What a crawl looks for now: its subject, and what people asked for last."""

from pathlib import Path

from opilio.assembly.plan import Plan
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import compile_topic
from opilio.subject.current import current_subject, follow_log
from opilio.subject.stored_subject import load_subject, save_subject
from opilio.topic import QueryLog, Topic


def test_what_people_asked_for_last_is_sought(tmp_path: Path):
    queries = tmp_path / "queries.txt"
    queries.write_text("steam engine\nsteam train\n")
    topic = Topic(name="t", query_log=QueryLog(file=str(queries), threshold=0.3))
    plan, folder = Plan(topic=topic), CrawlFolder(tmp_path / "crawl")
    log = follow_log(plan.topic)
    assert log
    save_subject(compile_topic(topic, log.build()), folder.subject)
    db = open_database(tmp_path / "crawl.db")
    assert current_subject(plan.topic, folder, db) == load_subject(folder.subject)
    queries.write_text("steam engine\nsteam train\n" + "electric train\n" * 9)
    log.take(log.look())
    db.execute("INSERT INTO learnt VALUES ('weights', ?)", (log.dump(),))
    now = current_subject(plan.topic, folder, db)
    db.close()
    assert set(now.weights) == {"electr", "train"}
    assert {"electric", "steam"} <= set(now.terms)
