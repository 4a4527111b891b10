"""Copies of pages that other workers have are recognised."""

import json

from cluster.test_worker import SETTINGS, rows, worker
from crawling import end_of
from opilio.cluster.elsewhere import PagesElsewhere, SeenElsewhere
from opilio.cluster.shards import shard_of
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import open_database
from opilio.store.copies import ContentSeen, NearCopies

TEXT = "honey of a bee in its hive " * 30
COUNT = 12


def test_pages_of_others_have_numbers_below_0(tmp_path):
    db, seen, near = open_database(tmp_path / "crawl.db"), ContentSeen(), NearCopies()
    pages = PagesElsewhere(db, seen, near)
    pages.add(SeenElsewhere("http://redirect.test/", 0, 0, 0.0))
    for number in range(1, 3000):
        url = f"http://host.test/{number}"
        pages.add(SeenElsewhere(url, 7 * number, 0, float(number)))
    pages.add(SeenElsewhere("http://near.test/", 5, 2**40, 9.0))
    assert pages.find(seen.find(7 * 1234)) == ("http://host.test/1234", 1234.0)
    assert seen.find(7 * 1234) < 0
    assert pages.find(near.find(2**40 + 1)) == ("http://near.test/", 9.0)
    assert not seen.find(0) and not near.find(255)
    db.close()


async def test_a_copy_of_another_workers_page_is_not_kept_twice(crawled, dsn):
    """Sites of two workers have the same page, byte by byte, as one found before."""
    hosts = [f"copy{n}.test" for n in range(COUNT)]
    assert len({shard_of(host) for host in hosts}) > 8
    links = {f"http://{host}/": "bee" for host in hosts}
    first = {"http://first.test/": "bee", "/later": "bee"}
    web = {"http://seed.test/": page("Bees", "bee honey hive", first)}
    web["http://seed.test/later"] = page("Later", "bee hive", links)
    web |= dict.fromkeys(("http://first.test/", *links), page("Honey", TEXT))
    life = await crawled(SmallWeb(web), settings_text=SETTINGS.replace("0.02", "0.5"))
    started = [await worker(life, dsn, number) for number in (1, 2)]
    for ended in [await end_of(one) for one in started]:
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["ended"] == "exhausted"
    states = dict(rows(dsn, "SELECT url, state FROM link"))
    assert set(states) == set(web)
    known = {f for (f,) in rows(dsn, "SELECT fingerprint FROM link")}
    copies = rows(dsn, "SELECT copy_of FROM page WHERE copy_of IS NOT NULL")
    assert copies and {original for (original,) in copies} <= known
    assert list(states.values()).count("copy") == len(copies)
