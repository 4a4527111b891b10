"""`opilio evolve` over loopback HTTP, on small webs whose pages change."""

import asyncio
import json
import random
import sqlite3
from contextlib import closing
from itertools import pairwise

import pytest

from crawling import SETTINGS, Crawled, opilio, start_opilio
from opilio import Crawl
from opilio.cli.evolve import parse_time
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.store.warc_files import read_record
from sites.evolving_sites import BEES, DAY, age, evolve, hive, records, tagged


async def test_a_page_that_changed_gets_a_version_and_its_new_links_wait(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    assert (await life.crawl()).code == 0
    before = life.rows("SELECT warc, warc_offset, warc_length, content FROM page")
    web.answers |= hive(**{
        "/a": tagged(
            "Royal jelly",
            "The queen bee eats jelly made by her hive. " * 30,
            {"/": "home", "/new": "new honey"},
            "a-2",
        ),
        "/new": tagged("New", BEES * 20 + "delta " * 9, {}, "new-1"),
    })  # fmt: skip
    age(life, 60)
    asked = len(life.server.requests)
    told = (await evolve(life))["refresh"]
    assert (told["changed"], told["unchanged"]) == (1, 3)
    statuses = {
        one.url.removeprefix("http://seed.test"): one.status
        for one in life.server.requests[asked:]
    }
    assert statuses == {"/": 304, "/a": 200, "/b": 304, "/c": 200}  # c has no tag
    [change] = told["changes"]
    assert change["url"] == "http://seed.test/a"
    assert change["what"]["title"] == ["Honey", "Royal jelly"]
    assert change["what"]["text"] > 0
    assert change["what"]["links added"] == 1
    assert life.states()["http://seed.test/new"] == ("waiting", None)
    # every version stays readable, and the newest is the page
    versions = life.rows(
        "SELECT title, warc, warc_offset, warc_length FROM version JOIN link "
        "ON link.id = version.page WHERE url = 'http://seed.test/a' ORDER BY version.id"
    )
    assert [title for title, *_ in versions] == ["Honey", "Royal jelly"]
    bodies = [read_record(life.folder / "warc", *place).body for _, *place in versions]
    assert b"alpha" in bodies[0] and b"jelly" in bodies[1]
    assert versions[1][1:] in life.rows(
        "SELECT warc, warc_offset, warc_length FROM page JOIN link USING (id) "
        "WHERE url = 'http://seed.test/a'"
    )
    assert len(before) == len(life.rows("SELECT id FROM page"))
    # the next round fetches the new link, phase 1
    grown = await evolve(life)
    assert [one["url"] for one in grown["fill"]["chosen"]] == ["http://seed.test/new"]
    assert (grown["fill"]["pages"], grown["fill"]["relevant"]) == (1, 1)
    assert life.states()["http://seed.test/new"] == ("kept", None)


async def test_what_did_not_change_is_a_revisit_record_and_no_version(crawled):
    life = await crawled(SmallWeb(hive()))
    await life.crawl()
    age(life, 60)
    told = (await evolve(life))["refresh"]
    assert told["unchanged"] == 4
    profiles = sorted(
        headers.get_header("WARC-Profile").rpartition("/")[2]
        for headers in records(life, "revisit")
    )
    assert profiles == ["identical-payload-digest"] + ["server-not-modified"] * 3
    rows = life.rows("SELECT visits, seen_at > fetched_at FROM version")
    assert rows == [(2, 1)] * 4
    # what was seen just now is left in peace
    again = (await evolve(life))["refresh"]
    assert again["chosen"] == [] and "yet" in again["note"]


async def test_a_page_that_is_gone_is_marked_and_may_come_back(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    a = web.answers.pop("http://seed.test/a")
    age(life, 60)
    told = (await evolve(life))["refresh"]
    assert (told["gone"], told["unchanged"]) == (1, 3)
    assert life.states()["http://seed.test/a"] == ("unusable", "gone")
    [(version, trouble)] = life.rows(
        "SELECT count(*), max(trouble) FROM version JOIN link ON link.id = page "
        "WHERE url = 'http://seed.test/a'"
    )
    assert (version, trouble) == (1, "http_404")
    ended = await opilio("explain", life.folder, "http://seed.test/a")
    assert "http_404" in ended.out and ended.code == 0
    web.answers["http://seed.test/a"] = a
    age(life, 0.5)
    assert (await evolve(life))["refresh"]["chosen"] == []  # not asked so soon
    age(life, 30)
    told = (await evolve(life))["refresh"]
    assert {"url": "http://seed.test/a", "what": {"back": "http_404"}} in told[
        "changes"
    ]
    assert life.states()["http://seed.test/a"] == ("kept", None)


async def test_a_page_that_moved_is_followed_and_counts_as_a_copy(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    moved = web.answers["http://seed.test/b"]
    web.answers["http://seed.test/b"] = SyntheticAnswer(
        301, (HTML, ("location", "http://other.test/b"))
    )
    web.answers["http://other.test/b"] = SyntheticAnswer(
        200, (HTML,), moved.body + b"<p>moved</p>"
    )
    age(life, 60)
    told = (await evolve(life))["refresh"]
    assert (told["gone"], told["pages"]) == (1, 1)
    states = life.states()
    assert states["http://seed.test/b"] == ("copy", "redirect")
    assert states["http://other.test/b"][0] in ("kept", "copy")


async def test_words_that_stay_in_other_bytes_are_no_change(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    for path in "abc":
        url = f"http://seed.test/{path}"
        body = web.answers[url].body + b"<!-- token 4711 -->"
        web.answers[url] = SyntheticAnswer(200, (HTML,), body)
    age(life, 60)
    told = (await evolve(life))["refresh"]
    assert (told["changed"], told["unchanged"]) == (0, 4)


async def test_a_page_that_is_no_longer_about_the_topic_is_judged_again(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    web.answers |= hive(**{"/a": tagged("Cars", "Engines and wheels. " * 40, {}, "x")})
    age(life, 60)
    told = (await evolve(life))["refresh"]
    what = next(one["what"] for one in told["changes"])
    assert what["relevant"] is False and what["links gone"] == 1
    assert life.states()["http://seed.test/a"] == ("irrelevant", None)
    out = (await opilio("explain", life.folder, "http://seed.test/a")).out
    assert "no longer relevant" in out and "Cars" in out
    seen = (await opilio("explain", life.folder, "http://seed.test/a", "--json")).json()
    assert [version["title"] for version in seen["versions"]] == ["Honey", "Cars"]


async def test_robots_and_delays_hold_for_refreshing_too(crawled):
    robots = SyntheticAnswer(
        200, (("content-type", "text/plain"),), b"User-agent: *\nCrawl-delay: 0.3\n"
    )
    web = SmallWeb(hive(**{"/robots.txt": robots}))
    life = await crawled(web)
    await life.crawl()
    web.answers["http://seed.test/robots.txt"] = SyntheticAnswer(
        200,
        (("content-type", "text/plain"),),
        b"User-agent: *\nCrawl-delay: 0.3\nDisallow: /b\n",
    )
    age(life, 60)
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("UPDATE robots SET expires_at = 0")
    db.close()
    asked = len(life.server.requests)
    told = (await evolve(life))["refresh"]
    requests = life.server.requests[asked:]
    assert "http://seed.test/b" not in {one.url for one in requests}
    assert (told["unchanged"], told["failed"]) == (3, 1)
    times = [one.at for one in requests]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) > 0.28


async def test_a_killed_round_loses_nothing(crawled):
    """Kill -9 at a random moment; then the same command comes to the same end."""
    rng = random.Random(1)
    pages = {
        f"/p{n}": tagged(f"Bee {n}", BEES * 20 + f"word{n} " * 9, {"/": "home"})
        for n in range(40)
    }
    home = tagged("Bees", BEES * 20, dict.fromkeys(pages, "bee"))
    web = SmallWeb(hive(**pages, **{"/": home}))
    slowly = SETTINGS.replace("delay = 0.0", "delay = 0.02")
    life = await crawled(web, settings_text=slowly)
    await life.crawl()
    first = life.rows("SELECT url, content FROM page JOIN link USING (id)")
    changed = {
        path: tagged(f"Bee {n} again", f"Honey of hive {n}. " * 30, {"/": "home"})
        for n, path in enumerate(pages)
    }
    web.answers |= hive(**changed, **{"/": home})
    age(life, 90)
    for _ in range(3):
        enough = len(life.server.requests) + rng.randint(2, 12)
        process = await start_opilio(
            *("evolve", life.folder, "--json", "--proxy", life.server.proxy_url),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        async with asyncio.timeout(60):
            while len(life.server.requests) < enough:
                await asyncio.sleep(0.002)
        process.kill()
        await process.wait()
        states = {state for state, _ in life.states().values()}
        assert states <= {"kept", "irrelevant", "unusable"}
    await evolve(life)
    rows = dict(
        life.rows(
            "SELECT url, count(*) FROM version JOIN link ON link.id = page "
            "GROUP BY page"
        )
    )
    assert all(rows[f"http://seed.test{path}"] == 2 for path in pages)
    places = life.rows("SELECT url, warc, warc_offset, warc_length, version.content "
                       "FROM version JOIN link ON link.id = page")  # fmt: skip
    for url, *place, _ in places:
        assert read_record(life.folder / "warc", *place).url == url
    assert {(url, content) for url, *_, content in places} >= set(first)
    assert records(life, "response")  # every file opens, every digest holds


async def test_phases_come_in_order_and_take_no_other_link(crawled):
    """1 before 2 before 3; a link without any term of the topic is left waiting."""
    site = {
        f"http://known.test/{n or ''}": tagged(
            f"Bee {n}", BEES * 20 + f"known{n} " * 9, {"/1": "x", "/2": "y", "/9": "z"}
        )
        for n in range(3)
    }
    web = SmallWeb(
        {
            "http://seed.test/": tagged(
                "Bees",
                BEES + "Something else is told on this page at some length. " * 9,
                {
                    "http://known.test/": "honey",
                    "http://out.test/": "honey hive",
                    "http://dull.test/": "imprint",
                },
            ),
            "http://known.test/9": tagged("Nine", BEES * 20 + "nine " * 9),
            "http://out.test/": tagged("Out", BEES * 20 + "out " * 9),
            "http://dull.test/": tagged("Dull", BEES * 20 + "dull " * 9),
        }
        | site
    )
    life = await crawled(web, settings_text=SETTINGS + "[crawl]\nin_flight = 1")
    await life.crawl("--max-pages", 4, "--strategy", "best-first")
    assert life.states()["http://known.test/9"][0] == "waiting"
    assert life.states()["http://out.test/"][0] == "waiting"
    told = await evolve(life, "--pages", 1)
    assert [one["url"] for one in told["fill"]["chosen"]] == ["http://known.test/9"]
    told = await evolve(life)
    assert told["fill"]["chosen"] == []
    assert [one["url"] for one in told["complete"]["chosen"]] == ["http://out.test/"]
    assert life.states()["http://dull.test/"] == ("waiting", None)


def many(host: str, *others: str) -> dict:
    """A site about bees with twelve pages, whose homepage links to other sites."""
    names = [f"/{n}" for n in range(12)]
    links = dict.fromkeys(names, "bee") | {
        f"http://{other}/": "honey" for other in others
    }
    pages = {"/": tagged(f"Bees of {host}", BEES * 20 + host, links)} | {
        name: tagged(f"Bee {name}", f"A bee of {host}, number {name}. " * 30)
        for name in names
    }
    return {f"http://{host}{path}": answer for path, answer in pages.items()}


BUSY = SmallWeb(
    many("seed.test", "new.test")
    | many("new.test", *(f"w{n}.far.test" for n in range(9)))
    | {
        f"http://w{n}.far.test/": tagged("Far", BEES * 20 + f"far{n} " * 9)
        for n in range(9)
    }
)
ONE = SETTINGS + "[crawl]\nin_flight = 1\nstrategy = 'breadth-first'\n"


@pytest.mark.parametrize(
    ("mode", "pages"), [("fixed", (4, 4, 4)), ("paper", (9, 3, 0))]
)
async def test_every_phase_has_its_share_unless_by_the_letter(
    crawled, logged, mode, pages
):
    """The known site has 9 more pages; the new one names its own 12 and 9 others."""
    life = await crawled(BUSY, settings_text=ONE)
    await life.crawl("--max-pages", 4)  # of seed.test; then the homepage of new.test
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("UPDATE link SET promise = 9 WHERE url = 'http://new.test/'")
    db.close()
    await life.crawl("--max-pages", 5)
    crawl = Crawl(life.folder, proxy=life.server.proxy_url)
    told = await crawl.aevolve(12, mode=mode)
    assert logged == []
    assert tuple(outcome.pages for outcome in told[:3]) == pages
    assert sum(outcome.relevant for outcome in told[:3]) == 12


@pytest.mark.parametrize(
    ("bound", "most"),
    [("per_host = 5", {"seed.test": 5, "new.test": 5, "far.test": 9}),
     ("per_domain = 4", {"seed.test": 4, "new.test": 4, "far.test": 4})],
)  # fmt: skip
async def test_budgets_of_hosts_and_domains_hold_when_it_grows(crawled, bound, most):
    life = await crawled(BUSY, settings_text=f"{ONE}[bounds]\n{bound}\n")
    await life.crawl("--max-pages", 3)
    for _ in range(2):
        await Crawl(life.folder, proxy=life.server.proxy_url).aevolve(99)
    rows = life.rows("SELECT domain, sum(taken) FROM host GROUP BY domain")
    assert dict(rows) == most
    pages = life.rows("SELECT count(*) FROM page WHERE score IS NOT NULL")
    assert pages == [(sum(most.values()),)]
    # nothing is lost by that: with larger budgets, it goes on
    settings = life.folder / "crawl.toml"
    settings.write_text(settings.read_text().replace(bound, bound[:-1] + "0"))
    await Crawl(life.folder, proxy=life.server.proxy_url).aevolve(99)
    assert life.rows("SELECT count(*) FROM page WHERE score IS NOT NULL") == [(35,)]


async def test_an_archive_is_said_not_to_change(crawled):
    life = await crawled(SmallWeb(hive()))
    await life.crawl()
    age(life, 60)
    assert (await evolve(life))["refresh"]["unchanged"] == 4  # records that refer back
    warc = next((life.folder / "warc").iterdir())
    home = life.home / "replayed"
    home.mkdir()
    replayed = Crawled(home)
    ended = await opilio(*replayed.command("--replay", warc, "--max-pages", 2))
    assert ended.code == 0, ended.err
    [site] = (await opilio("sites", replayed.folder, "--json")).json()["sites"]
    assert site["due"] is None
    assert "no page is due" in (await opilio("sites", replayed.folder)).out
    told = await evolve(replayed)
    assert "archive" in told["refresh"]["note"]
    assert told["fill"]["pages"] + told["complete"]["pages"] == 2


async def test_a_round_can_be_repeated_until_it_is_interrupted(crawled):
    life = await crawled(SmallWeb(hive()))
    await life.crawl()
    process = await start_opilio(
        *("evolve", life.folder, "--json", "--every", "1s"),
        *("--proxy", life.server.proxy_url),
        stderr=None,
    )
    for _ in range(2):
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        assert json.loads(line)["phases"]
    process.terminate()
    assert await asyncio.wait_for(process.wait(), 60) == 130


@pytest.mark.parametrize("every", ["6", "h", "0h", "6 weeks", "-1h", "1e3h", "0.9s"])
def test_a_time_that_is_none_is_refused(every):
    with pytest.raises(BadInput, match="30m, 6h or 1d, at least 1s"):
        parse_time(every)


def test_times_are_told_in_minutes_hours_and_days():
    times = [parse_time(told) for told in ("1s", "90s", "30m", "6h", "1d", "1.5 H")]
    assert times == [1, 90, 1_800, 21_600, DAY, 5_400]


async def test_search_finds_what_pages_say_now(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    web.answers |= hive(
        **{"/a": tagged("Jelly", BEES * 20 + "Royal jelly. " * 9, {}, "a-2")}
    )
    del web.answers["http://seed.test/b"]
    age(life, 60)
    await evolve(life)
    entries = life.rows(
        "SELECT url FROM indexed JOIN link ON link.id = indexed.page ORDER BY url"
    )
    assert [url for (url,) in entries] == [
        "http://seed.test/",
        "http://seed.test/a",
        "http://seed.test/c",
    ]
    found = (await opilio("search", life.folder, "jelly", "--json")).out
    assert "http://seed.test/a" in found
    gone = (await opilio("search", life.folder, "alpha", "--json")).out
    assert "http://seed.test/a" not in gone
