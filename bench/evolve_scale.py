"""Measures `opilio evolve`, `sites` and `search --expand` on a large crawl.db.

The crawl.db is generated, with websites as uneven as real ones: by default 100,000
pages and 5,000,000 links, of which all but the pages wait. It prints the CPU seconds of
each step that reads all of it. Run `python -m bench.evolve_scale [PAGES [LINKS
[FOLDER]]]`; a folder is kept and reused.
"""

from __future__ import annotations

import json
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench.table import show
from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.search.query import parse_query
from opilio.sites.expected_changes import due
from opilio.sites.link_interest import Interest
from opilio.sites.phases import Choice, Phase
from opilio.sites.query_expansion import AnchorScore, expand_query
from opilio.sites.refresh import choose_pages, load_history
from opilio.sites.waiting_links import WaitingLinks
from opilio.storage.database import open_database
from opilio.subject.compile import compile_topic
from opilio.topic import Topic

KEYWORDS = ("bee", "honey", "hive", "queen bee", "pollen", "nectar", "swarm", "wax")
NAMED = 0.05  # of the anchors have a keyword
MOST = 50  # links chosen at a time
DAY = 86_400.0
ROW = "INSERT INTO link VALUES (?, ?, ?, ?, 0, ?, NULL, ?, 0, 3, 0, 0, ?, ?, NULL)"


class MadeUp:
    """Random pages and links, always the same."""

    def __init__(self, pages: int, links: int) -> None:
        self.rng = random.Random(6)
        self.pages, self.links = pages, links
        self.hosts = pages // 10
        self.words = [self.word() for _ in range(20_000)]
        self.step = links // pages  # every so many links, one was visited
        self.page_hosts: dict[int, int] = {}

    def word(self) -> str:
        """Some letters."""
        return "".join(self.rng.choices("abdeiklmnorstu", k=self.rng.randint(3, 9)))

    def host(self) -> int:
        """A website; few have much."""
        return 1 + int(self.hosts * self.rng.random() ** 3)

    def anchor(self) -> str | None:
        """The words of a link."""
        said = self.rng.choices(self.words, k=self.rng.randint(0, 5))
        if self.rng.random() < NAMED:
            said.append(self.rng.choice(KEYWORDS))
        return " ".join(said) or None

    def link_rows(self) -> Iterator[tuple[object, ...]]:
        """The table `link`."""
        ids = range(self.step, self.links + 1, self.step)
        for id in range(1, self.links + 1):
            host, state = self.host(), "waiting"
            if id % self.step == 0:
                state, self.page_hosts[id] = "kept", host
            origin = ids[int(self.rng.random() * len(ids))]
            url = f"http://www.site{host}.test/pages/{self.rng.choice(self.words)}-{id}"
            yield (
                *(id, url, id * 7919, host, state),
                *(self.rng.random(), origin, self.anchor()),
            )


def make(path: Path, pages: int, links: int) -> None:
    """Write such a database."""
    web = MadeUp(pages, links)
    db = open_database(path)
    db.execute("PRAGMA synchronous = OFF")
    db.execute("BEGIN")
    hosts = ((n, f"www.site{n}.test", f"site{n}.test") for n in range(1, web.hosts + 1))
    db.executemany("INSERT INTO host (id, name, domain) VALUES (?, ?, ?)", hosts)
    db.executemany(ROW, web.link_rows())
    sites: dict[int, list[tuple[int, bool, dict[str, int]]]] = {}
    now = time.time()
    for number, (id, host) in enumerate(web.page_hosts.items(), 1):
        relevant = web.rng.random() < 0.3
        words = web.rng.choices(KEYWORDS, k=3) if relevant else []
        concepts = dict(Counter(words))
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, title, score, "
            "relevant, warc, warc_offset, warc_length) "
            "VALUES (?, ?, ?, 200, 9, ?, ?, ?, 'a', 0, 9)",
            (id, number, now - 9 * DAY, web.anchor(), web.rng.random(), relevant),
        )
        db.execute(
            "INSERT INTO page_profile VALUES (?, NULL, ?, ?, NULL, '[]')",
            (id, relevant, json.dumps(concepts)),
        )
        db.executemany(
            "INSERT INTO edge VALUES (?, ?)",
            [(id, web.rng.randint(1, links)) for _ in range(web.step)],
        )
        sites.setdefault(host, []).append((id, relevant, concepts))
    for host, had in sites.items():
        counts = Counter(name for _, _, concepts in had for name in concepts)
        db.execute(
            "INSERT INTO site VALUES (?, ?, ?, ?, NULL, ?, ?)",
            (
                *(host, len(had), sum(relevant for _, relevant, _ in had)),
                *(json.dumps(counts), had[0][0], had[0][0]),
            ),
        )
    db.execute("COMMIT")
    db.close()


def timed(step: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of a step, and its result."""
    begun = time.process_time()
    made = step()
    return time.process_time() - begun, made


def pick(
    db: sqlite3.Connection, domain: SubjectConcepts, links: WaitingLinks, phase: Phase
) -> object:
    """What a phase chooses."""
    return Choice(load_sites(db, domain), links).best(phase, MOST)


def steps(db: sqlite3.Connection) -> Iterator[tuple[str, Callable[[], object]]]:
    """What to measure."""
    subject = compile_topic(Topic(name="bees", keywords=KEYWORDS))
    domain = SubjectConcepts(subject)
    models = load_sites(db, domain)
    [(host, _)] = Counter({s.host: s.pages for s in models}).most_common(1)
    yield "the models of all sites", lambda: load_sites(db, domain)
    links = WaitingLinks(domain)
    yield "evolve: all links that wait, once a round", lambda: links.take(db)
    for phase in (Phase.FILL, Phase.COMPLETE, Phase.FOLLOW):
        yield (
            f"evolve: phase {phase}, the best {MOST}",
            partial(pick, db, domain, links, phase),
        )

    def refresh() -> object:
        history = load_history(db, lambda host: models.profile(host).relation)
        return choose_pages(history, time.time(), MOST)

    yield f"evolve: phase 4, the best {MOST}", refresh
    yield "sites: when each is due", lambda: due(db)
    yield "sites HOST: its ten best pages", lambda: models.page_profiles(host, 10)
    query = parse_query("queen bee")
    score = AnchorScore(expand_query(query, subject), subject.language)
    interest = Interest(
        score, lambda host: models.profile(host).relation, which=score.which
    )
    yield "search --expand: the links wanted", lambda: list(interest.url_list(db))


def main(pages: int = 100_000, links: int = 5_000_000, folder: str = "") -> None:
    """Make the database, unless it exists, and measure."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(folder or name) / "crawl.db"
        if not path.exists():
            make(path, pages, links)
        db = open_database(path)
        rows = [(name, f"{timed(step)[0]:.2f}") for name, step in steps(db)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        title = f"{pages:,} pages, {links:,} links; at most {memory:,.0f} MB"
        show(title, ("step", "CPU seconds"), rows)
        db.close()


if __name__ == "__main__":
    sizes = dict(zip(("pages", "links"), map(int, sys.argv[1:3]), strict=False))
    main(**sizes, folder="".join(sys.argv[3:4]))
