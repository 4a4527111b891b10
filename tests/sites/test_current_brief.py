"""What a crawl looks for now: its brief, and what people asked for last."""

from pathlib import Path

from opilio.assembly.plan import Plan
from opilio.assembly.reader_setup import current_brief, follow_log
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.subject.compile import load_brief, make_brief, save_brief
from opilio.topic import QueryLog, Topic


def test_what_people_asked_for_last_is_sought(tmp_path: Path):
    queries = tmp_path / "queries.txt"
    queries.write_text("steam engine\nsteam train\n")
    topic = Topic(name="t", query_log=QueryLog(file=str(queries), threshold=0.3))
    plan, folder = Plan(topic=topic), CrawlFolder(tmp_path / "crawl")
    log = follow_log(plan)
    assert log
    save_brief(make_brief(topic, log.build()), folder.brief)
    db = open_database(tmp_path / "crawl.db")
    assert current_brief(plan, folder, db) == load_brief(folder.brief)
    queries.write_text("steam engine\nsteam train\n" + "electric train\n" * 9)
    log.take(log.look())
    db.execute("INSERT INTO learnt VALUES ('weights', ?)", (log.dump(),))
    now = current_brief(plan, folder, db)
    db.close()
    assert set(now.subject.weights) == {"electr", "train"}
    assert {"electric", "steam"} <= set(now.terms)
