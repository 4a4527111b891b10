"""Measures what the pages of other workers cost a worker, by their number.

    python -m bench.hearing [--pages 2000] [--workers 1,4,50] [--times 20]

One worker crawls a synthetic web of many domains with the default judge and strategy.
Then one of so many workers hears its lessons as if others had told them, in CPU time.
Judge and strategy learn again whenever there are 1.15 times as many pages; since that
becomes rare, it is measured apart. At last a worker begins with the newest model;
`--times`: with so many times as many lessons in it, the same again under the names of
other workers.
"""

import argparse
import asyncio
import json
import resource
import shutil
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.postgres_server import PostgresServer
from opilio.assembly.build import Ways, assemble
from opilio.assembly.plan import load_plan
from opilio.assembly.rejudge import Offline
from opilio.cluster.common import fetch_plan
from opilio.cluster.connection import open_postgres
from opilio.cluster.lessons import Hearing, one_of
from opilio.cluster.models import newest
from opilio.cluster.schema import make_ready
from opilio.cluster.shards import fair_share, shard_of
from opilio.cluster.sharing import ShardFrontier, ShardSharing, ShardStore
from opilio.judge.opilio import Opilio as Judge
from opilio.lab.synthetic.dials import Dials
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.protocols import Experienced
from opilio.store.folder import CrawlFolder
from opilio.strategies.opilio import Opilio as Strategy
from opilio.subject.stored_subject import load_subject

SETTINGS = """
[politeness]
delay = 0.0
[crawl]
readers = 1
[store]
min_free = 0
"""
KEEP = """
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER kept BEFORE DELETE ON lesson_page FOR EACH ROW EXECUTE FUNCTION keep()
"""  # lessons, although models have learnt from them
AT_A_TIME = 50  # as in a worker
fits: list[float] = []  # seconds of each time that something was learnt again


def timed(method: Any) -> Any:
    def measured(self: Any) -> None:
        began = time.process_time()
        method(self)
        fits.append(time.process_time() - began)

    return measured


Judge.fit = timed(Judge.fit)
Strategy.learn = timed(Strategy.learn)


TIMES = """
INSERT INTO worker (name, until, ended)
    SELECT 'again', now(), 'again' FROM generate_series(2, %(times)s);
INSERT INTO lesson (worker, number, at, packed, shard, seen, is_whole)
    SELECT w.id, number, l.at, packed, shard, seen, is_whole
    FROM lesson AS l, worker AS w WHERE w.ended = 'again';
INSERT INTO told_link (shard, worker, number, packed)
    SELECT shard, w.id, number, packed
    FROM told_link, worker AS w WHERE w.ended = 'again';
INSERT INTO progress (worker, lessons)
    SELECT w.id, max(number) FROM lesson, worker AS w
    WHERE w.ended = 'again' GROUP BY w.id;
UPDATE model SET heads = (SELECT jsonb_object_agg(worker::text, lessons) FROM progress);
ANALYZE lesson; ANALYZE told_link
"""


class Share:
    """The shards of the first of so many workers."""

    worker = 0

    def __init__(self, workers: int) -> None:
        self.epochs = dict.fromkeys(range(fair_share(workers, 0)), 1)

    def __contains__(self, shard: int) -> bool:
        return shard in self.epochs

    def owns(self, host: str) -> bool:
        return shard_of(host) in self.epochs


async def crawl(home: Path, dsn: str, pages: int) -> float:
    """Crawl so many pages; returns the CPU time of a page in milliseconds."""
    web = SyntheticWeb(Dials(seed=3, pages=4 * pages, hosts=300, topics=8))
    home.mkdir()
    (home / "topic.toml").write_text(web.topic_file(web.topics[0]))
    (home / "settings.toml").write_text(SETTINGS)
    async with serve(web) as server:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "opilio.cli", "crawl", str(home / "topic.toml")),
            *("-o", str(home / "box"), "-q", "--max-pages", str(pages)),
            *("--settings", str(home / "settings.toml"), "--store", dsn),
            *("--proxy", server.proxy_url),
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await process.wait() == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1000 * spent / pages


async def hear(
    dsn: str, workers: int, *, sampled: bool = True, from_model: bool = False
) -> dict[str, float]:
    """Hear all lessons as one of so many workers."""
    folder = CrawlFolder(Path(tempfile.mkdtemp(prefix="hearing-")))
    folder.make()
    shards: Any = Share(workers)

    def frontier(*arguments: Any, **settings: Any) -> ShardFrontier:
        made = ShardFrontier(*arguments, **settings)
        made.shards = shards
        return made

    def store(*arguments: Any) -> ShardStore:
        made = ShardStore(*arguments)
        made.watch()
        return made

    ways = Ways(
        frontier=frontier,
        store=store,
        fetch=lambda *_: Offline(),
        adviser=lambda *_: None,
    )
    hearing = Hearing(0, shards.epochs)
    hearing.one_of = one_of(workers) if sampled else 1
    fits.clear()
    spent, learnt, heard = 0.0, 0, 0
    with closing(open_postgres(dsn)) as db:
        fetch_plan(db, folder)
        subject = load_subject(folder.subject)
        async with assemble(load_plan(folder), folder, subject, ways) as crawl:
            crawl.store.frontier = crawl.frontier
            sharing = ShardSharing(
                crawl.store, crawl.frontier, shards, None, hearing, folder
            )
            if isinstance(crawl.strategy, Experienced):
                sharing.strategy = crawl.strategy
                crawl.strategy.experiences()

            async def ask(question: Any) -> Any:
                return question(db)

            async def hear_all() -> None:
                nonlocal heard, learnt
                while news := hearing.fetch(db):
                    for place in range(0, len(news), AT_A_TIME):
                        some = news[place : place + AT_A_TIME]
                        await sharing.hear(crawl, some)
                        learnt += sum(told.lesson is not None for told in some)
                    heard += 0 if hearing.outlines else len(news)

            began = time.process_time()
            if from_model:
                model = newest(db)
                await sharing.begin_from(crawl, model, ask, hear_all)
                heard += model.lessons
            await hear_all()
            spent = time.process_time() - began
    shutil.rmtree(folder.path)
    return {
        "lessons": heard,
        "learnt_share": round(learnt / heard, 3),
        "cpu_ms": round(1000 * spent / heard, 3),
        "cpu_ms_without_fits": round(1000 * (spent - sum(fits)) / heard, 3),
        "fits": len(fits),
        "cpu_ms_a_fit": round(1000 * sum(fits) / max(1, len(fits)), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--workers", default="4,50")
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="hearing-"))
    home.chmod(0o755)
    postgres = PostgresServer(home / "s")
    try:
        postgres.start()
        dsn = postgres.database()
        with closing(open_postgres(dsn)) as db:
            make_ready(db)
            db.execute(KEEP)
        own = asyncio.run(crawl(home / "crawl", dsn, given.pages))
        print(json.dumps({"own_page_cpu_ms": round(own, 2)}), flush=True)
        for workers in map(int, given.workers.split(",")):
            for case in ("sampled", "all", "model"):
                found = asyncio.run(
                    hear(
                        *(dsn, workers),
                        sampled=case != "all",
                        from_model=case == "model",
                    )
                )
                row = {"workers": workers, "case": case, **found}
                print(json.dumps(row), flush=True)
        with closing(open_postgres(dsn)) as db:
            for statement in TIMES.split(";"):
                times = str(given.times)
                db.execute(statement.replace("%(times)s", times).encode())
        for workers in map(int, given.workers.split(",")):
            found = asyncio.run(hear(dsn, workers, from_model=True))
            row = {"workers": workers, "case": f"model, {given.times} times", **found}
            print(json.dumps(row), flush=True)
    finally:
        postgres.stop()
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
