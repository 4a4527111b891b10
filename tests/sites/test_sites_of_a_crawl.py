"""A crawl keeps models of the sites it visits; `opilio sites` shows them."""

import fcntl
import json
import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
import typer
from typer.testing import CliRunner

from crawling import Crawled, Ended, opilio
from opilio.cli.sites import sites
from opilio.errors import BadInput
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.profiles.models import load_sites

BEES = "The bee makes honey in the hive. " * 20
SEA = "The sea is wide and deep, and full of salt. " * 20
EVIL = "[bold red]Evil[/]\x1b[2J\u202e \x07hive"
DATED = ("last-modified", "Wed, 21 Oct 2015 07:28:00 GMT")


def more(host: str, *names: str) -> dict[str, str]:
    """Links to pages of a host."""
    return {f"http://{host}/{name}": f"the honey of {name}" for name in names}


def bees(host: str, *names: str) -> dict[str, str]:
    """Pages of a host about bees."""
    return {
        f"http://{host}/{name}": page(f"{name} of {host}", BEES + f"{host} {name}")
        for name in names
    }


COPIED = page("Copied home", BEES + "copied", more("copied.edu", "", "a", "b"))
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees",
            BEES,
            {"/sea": "sea", "/evil": "evil"}
            | more("www.hive.com", "a", "b", "c")
            | more("copied.edu", "index.html")
            | more("moved.co.uk", "", "a", "b")
            | more("lost.net", "", "a", "b", "c")
            | more("few.gov.uk", ""),
        ),
        "http://seed.test/sea": page("Sea", SEA),
        "http://seed.test/evil": SyntheticAnswer(
            200,
            (HTML, DATED),
            f"<title>{EVIL}</title><h2>two</h2><h1>{EVIL}</h1>{BEES} evil".encode(),
        ),
        **bees("www.hive.com", "a", "b", "c"),
        "http://copied.edu/": COPIED,
        "http://copied.edu/index.html": COPIED,
        **bees("copied.edu", "a", "b"),
        "http://moved.co.uk/": redirect("/home"),
        "http://moved.co.uk/home": page("Moved home", BEES + "moved"),
        **bees("moved.co.uk", "a", "b"),
        **bees("lost.net", "a", "b", "c"),
        "http://few.gov.uk/": page("Few", BEES + "few"),
    }
)
# host: pages, in the domain, definite, title, start, type
EXPECTED = {
    "seed.test": (3, 2, True, "Bees", "http://seed.test/", 0),
    "www.hive.com": (3, 3, False, "", "http://www.hive.com/", 1),
    "copied.edu": (3, 3, True, "Copied home", "http://copied.edu/", 3),
    "moved.co.uk": (3, 3, True, "Moved home", "http://moved.co.uk/", 1),
    "lost.net": (3, 3, True, "a of lost.net", "http://lost.net/a", 2),
    "few.gov.uk": (1, 1, False, "Few", "http://few.gov.uk/", 4),
}
TABLES = "page_profile", "site"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def done(tmp_path_factory) -> AsyncIterator[Crawled]:
    """A crawl that has ended, for all tests to look at."""
    async with serve(WEB) as server:
        life = Crawled(tmp_path_factory.mktemp("sites"), server)
        ended = await life.crawl("--strategy", "breadth-first")
    assert ended.code == 0, ended.err
    yield life


@pytest.fixture
def copy(done: Crawled, tmp_path: Path) -> Path:
    """The folder of the crawl, to be changed."""
    return Path(shutil.copytree(done.folder, tmp_path / "copy"))


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "crawl.db")) as db, db:
        yield db


def rows(folder: Path) -> dict[str, list[tuple]]:
    """All that the tables of the site models hold."""
    with database(folder) as db:
        return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in TABLES}


def shown(folder: Path, *arguments: object) -> Ended:
    """What the command prints."""
    command = typer.Typer()
    command.command()(sites)
    ended = CliRunner().invoke(command, [str(folder), *map(str, arguments)])
    if ended.exception:
        raise ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def test_every_site_has_a_profile(done: Crawled):
    # Website profile [43] and papers.md C.5-7, C.5-9.
    with database(done.folder) as db:
        sites = {site.host: site for site in load_sites(db, mode="paper")}
        assert load_sites(db).unprofiled() == 0
    assert {
        host: (
            site.pages,
            site.in_domain,
            site.definite,
            site.title,
            site.start_url,
            site.web_type,
        )
        for host, site in sites.items()
    } == EXPECTED
    seed = sites["seed.test"]
    assert seed.relation == pytest.approx(2 / 3)  # eq. 2
    assert seed.proportions == {"bee": 1.0, "honey": 1.0, "hive": 1.0}  # eq. 4
    assert seed.updated == 1445412480.0  # its latest page
    assert seed.tree_level_limit == 8  # papers.md C.5-11
    assert seed.standing.gap() == 0  # eq. 3


def test_every_page_has_a_profile(done: Crawled):
    # Webpage profile [39-41]: basic, statistics and ontology section.
    with database(done.folder) as db:
        models = load_sites(db)
        profiles = {one.url: one for one in models.page_profiles("seed.test")}
        [best] = models.page_profiles("seed.test", 1)
    home, sea = profiles["http://seed.test/"], profiles["http://seed.test/sea"]
    evil = profiles["http://seed.test/evil"]
    assert (home.doc_no, home.web_no, home.web_type) == (1, 1, 0)
    assert re.fullmatch(r"\d{6}\.warc\.gz:\d+", home.location)
    assert home.title == "Bees"
    assert [link.anchor for link in home.outbound[:3]] == [
        "sea",
        "evil",
        "the honey of a",
    ]
    assert home.outbound[2].url == "http://www.hive.com/a"
    assert home.concepts == {"bee": 21, "honey": 32, "hive": 20}  # anchors too
    assert (home.domain_mark, sea.domain_mark) == (True, False)
    assert sea.concepts == {}
    assert (home.updated, evil.updated) == (None, 1445412480.0)
    assert evil.headings[-1] == "two"  # h1 first
    assert best.domain_mark


def test_models_made_anew_equal_those_kept(copy: Path):
    kept = rows(copy)
    assert len(kept["page_profile"]) == sum(row[0] for row in EXPECTED.values())
    with database(copy) as db:
        db.execute("UPDATE page_profile SET concepts = '{\"wax\":1}'")
        db.execute("DELETE FROM site WHERE host > 2")
    assert rows(copy) != kept
    ended = shown(copy, "--rebuild")
    assert "16 pages read again" in ended.err
    assert rows(copy) == kept


def test_a_crawl_made_before_gets_models_when_they_are_asked_for(copy: Path):
    kept = rows(copy)
    with database(copy) as db:
        for name in TABLES:
            db.execute(f"DROP TABLE {name}")
    ended = shown(copy)
    assert "0 sites" in ended.out
    assert "16 pages have no profile yet" in ended.err
    assert shown(copy, "--json").json() == {"sites": [], "unprofiled": 16}
    assert "6 sites" in shown(copy, "--rebuild").out
    assert rows(copy) == kept


@pytest.mark.parametrize(
    ("lacking", "sites", "pages"),
    [("version", 6, 0), ("page_profile", 6, 16), ("site", 0, 16), ("note", 6, 0)],
)
def test_a_table_that_an_older_version_did_not_have_is_taken_for_empty(
    copy: Path, lacking: str, sites: int, pages: int
):
    with database(copy) as db:
        db.execute(f"DROP TABLE {lacking}")
    told = shown(copy, "--json").json()
    assert (len(told["sites"]), told["unprofiled"]) == (sites, pages)
    assert "6 sites" in shown(copy, "--rebuild").out
    assert shown(copy, "--json").json()["unprofiled"] == 0


def test_a_page_that_is_gone_needs_no_profile(copy: Path):
    with database(copy) as db:
        db.execute("UPDATE link SET state = 'unusable' WHERE id = 1")
        db.execute("DELETE FROM page_profile WHERE id = 1")
        assert load_sites(db).unprofiled() == 0
        db.execute("DELETE FROM page_profile WHERE id = 2")
        assert load_sites(db).unprofiled() == 1
    assert "15 pages read again" in shown(copy, "--rebuild").err
    with database(copy) as db:
        [entry] = db.execute("SELECT entry FROM site WHERE host = 1").fetchone()
    assert entry == 1  # the crawl came in there all the same


def test_pages_that_the_archive_has_lost_are_told(copy: Path):
    for file in (copy / "warc").iterdir():
        file.unlink()
    ended = shown(copy, "--rebuild")
    assert "0 pages read again; 16 not in the WARC files" in ended.err


def test_the_most_useful_sites_come_first(done: Crawled):
    told = shown(done.folder, "--json").json()["sites"]
    useful = [site["relation"] * site["in_domain"] for site in told]
    assert useful == sorted(useful, reverse=True)
    assert {site["host"] for site in told} == set(EXPECTED)
    assert all(site["due"] > 0 for site in told)
    two = shown(done.folder, "--json", "--limit", 2)
    assert two.json()["sites"] == told[:2]


def test_small_sites_are_drawn_to_the_mean_but_not_to_the_letter(done: Crawled):
    # papers.md C.5-12; 15 of 16 pages are in the domain.
    fixed, paper = [
        {
            site["host"]: site["relation"]
            for site in shown(done.folder, "--json", "--mode", mode).json()["sites"]
        }
        for mode in ("fixed", "paper")
    ]
    assert paper["few.gov.uk"] == 1.0
    assert fixed["few.gov.uk"] == pytest.approx((1 + 2 * 16 / 18) / (1 + 2))


@pytest.mark.parametrize("width", [80, 120])
async def test_the_list_fits_the_terminal(done: Crawled, width: int):
    environment = {**os.environ, "COLUMNS": str(width)}
    out = (await opilio("sites", done.folder, "--limit", 5, env=environment)).out
    assert max(map(len, out.splitlines())) <= width
    assert "and 1 more" in out
    for name in ("copied.edu", "www.hive.com", "indefinite", "Copied home"):
        assert name in out
    assert re.search(r"seed\.test +other +3 +2015-10-21 +\w+ \d+%, ", out)


def test_a_site_is_shown_with_its_pages(done: Crawled):
    out = shown(done.folder, "http://SEED.test/sea", "--limit", 2).out
    for text in (
        "Website title     Bees",
        "Start URL         http://seed.test/",
        "WebType           0 (other)",
        "Last change       2015-10-21",
        "N_S,D             2 of them in the domain",
        "Its pages, 2 of 3",
        "in the domain",
    ):
        assert text in out
    assert "http://seed.test/sea" not in out  # it is the last one
    everything = shown(done.folder, "seed.test", "--limit", 0).out
    assert "http://seed.test/sea" in everything
    told = shown(done.folder, "seed.test", "--json").json()
    assert told["site"]["host"] == "seed.test"
    assert len(told["pages"]) == 3
    assert told["pages"][0].keys() >= {"doc_no", "location", "headings", "concepts"}


def test_nothing_crawled_is_shown_unescaped(done: Crawled):
    out = shown(done.folder, "seed.test").out
    assert "[bold red]Evil[/]" in out
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", out)
    told = shown(done.folder, "seed.test", "--json").out
    assert json.loads(told)
    assert "\x1b" not in told


def test_an_unknown_site_is_refused_with_what_may_be_meant(done: Crawled):
    with pytest.raises(BadInput, match=r"did you mean 'www\.hive\.com'\?"):
        shown(done.folder, "hive.com")


def test_models_are_not_made_anew_while_the_crawl_runs(done: Crawled):
    lock = done.folder / "lock"
    with lock.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BadInput, match="is being crawled"):
            shown(done.folder, "--rebuild")
