"""Whole crawls of small webs, by the real command over real HTTP."""

import asyncio
import random
import shlex
import signal
from pathlib import Path

import msgspec

from crawling import OPILIO, SETTINGS, interrupt
from opilio.crawl import DRAIN_SECONDS
from opilio.lab.synthetic.small import SmallWeb, page, redirect
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.strategies.shared.chooser.visits import Visit

BEES = "The bee makes honey in the hive. " * 20
SHIPS = "A ship sails over the sea to the harbour. " * 20

HOME = page("Bees", BEES, {"/a": "a page", "http://other.test/": "another host"})


async def test_every_page_that_can_be_reached_is_fetched_and_judged(crawled):
    """Yang, section 4.1: "DocPool stores all returned Web pages from Web Crawler".
    Meenu et al., section 3.2.3: "it gives signal: Something to test"."""
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": HOME,
                "http://seed.test/a": page("Honey", BEES + "a", {"/": "home"}),
                "http://other.test/": page("Ships", SHIPS, {"/b": "deeper"}),
                "http://other.test/b": page("Hive", BEES + "b"),
            }
        )
    )
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert ended.json()["ended"] == "exhausted"
    assert life.states() == {
        "http://seed.test/": ("kept", None),
        "http://seed.test/a": ("kept", None),
        "http://other.test/": ("irrelevant", None),
        "http://other.test/b": ("kept", None),
    }
    edges = life.rows(
        "SELECT a.url, b.url FROM edge JOIN link a ON a.id = page "
        "JOIN link b ON b.id = edge.link ORDER BY 1, 2"
    )
    assert edges == [
        ("http://other.test/", "http://other.test/b"),
        ("http://seed.test/", "http://other.test/"),
        ("http://seed.test/", "http://seed.test/a"),
        ("http://seed.test/a", "http://seed.test/"),
    ]


async def test_the_default_strategy_learns_which_links_are_dead(crawled):
    links = {f"/images/{number}": f"picture {number}" for number in range(4)}
    links |= {"/bees": "bees", "/old": "an old page"}
    web = {
        "http://seed.test/": page("Bees", BEES, links),
        "http://seed.test/bees": page("More bees", BEES + "more"),
        "http://seed.test/old": redirect("/bees"),
    }
    life = await crawled(SmallWeb(web))
    await life.crawl()
    notes = [
        msgspec.msgpack.decode(value, type=Visit)
        for (value,) in life.rows("SELECT value FROM note")
    ]
    gone = life.rows("SELECT fingerprint FROM link WHERE reason = 'http_404'")
    assert len(gone) == 4
    assert {note.link for note in notes if note.is_dead} == {link for (link,) in gone}


async def test_the_most_promising_link_is_visited_first(crawled):
    """Kumar & Vig, III.B: "fetches the URLs from the URL repository and add them to the
    priority queue"."""
    seed = {"http://good.test/": "one", "http://bad.test/": "two"}
    web = {"http://seed.test/": page("Start", SHIPS, seed)}
    for host, text in (("good", BEES), ("bad", SHIPS)):
        links = {f"/{n}": f"page {n}" for n in range(5)}
        web[f"http://{host}.test/"] = page(host, text, links)
        for n in range(5):
            web[f"http://{host}.test/{n}"] = page(f"{host} {n}", f"{text} {n} {host}")
    life = await crawled(
        SmallWeb(web),
        settings_text="[crawl]\nin_flight = 1\n"
        "near_copies = false\n[politeness]\ndelay = 0.0\n[store]\nmin_free = 0\n",
    )
    await life.crawl("--strategy", "best-first")
    order = [
        u
        for (u,) in life.rows(
            "SELECT url FROM page JOIN link USING (id) ORDER BY number"
        )
    ]
    good = [order.index(f"http://good.test/{n}") for n in range(5)]
    bad = [order.index(f"http://bad.test/{n}") for n in range(5)]
    assert max(good) < min(bad)


async def test_the_same_content_under_another_url_is_a_copy(crawled):
    """Meenu et al., section 3.2.4: "If the document is downloaded before, it reject
    that page"."""
    twin = page("Bees", BEES, {"/only-from-here": "x"})
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": page("Start", BEES, {"/one": "1", "/two": "2"}),
                "http://seed.test/one": twin,
                "http://seed.test/two": twin,
                "http://seed.test/only-from-here": page("Honey", "honey"),
            }
        )
    )
    await life.crawl("--strategy", "best-first")  # equals in their order
    states = life.states()
    assert states["http://seed.test/one"] == ("kept", None)
    assert states["http://seed.test/two"] == ("copy", "content")
    assert life.rows(
        "SELECT original.url FROM page JOIN link USING (id) "
        "JOIN link original ON original.id = copy_of "
        "WHERE link.url = 'http://seed.test/two'"
    ) == [("http://seed.test/one",)]


async def test_a_redirect_leads_on_and_is_a_copy_of_its_target(crawled):
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": redirect("http://new.test/home"),
                "http://new.test/home": page("Bees", BEES, {"/loop": "l", "/out": "o"}),
                "http://new.test/loop": redirect("/loop"),
                "http://new.test/out": redirect("file:///etc/passwd"),
            }
        )
    )
    await life.crawl()
    assert life.states() == {
        "http://seed.test/": ("copy", "redirect"),
        "http://new.test/home": ("kept", None),
        "http://new.test/loop": ("unusable", "redirect_loop"),
        "http://new.test/out": ("unusable", "bad_redirect"),
    }


async def test_a_long_chain_of_redirects_ends(crawled):
    chain = {f"http://seed.test/{n}": redirect(f"/{n + 1}") for n in range(50)}
    life = await crawled(SmallWeb({"http://seed.test/": redirect("/0"), **chain}))
    ended = await life.crawl()
    assert ended.code == 1
    assert "no page could be fetched" in ended.err
    assert ("unusable", "redirects") in life.states().values()
    assert len(life.server.requests) < 12


async def test_what_cannot_be_used_has_a_reason(crawled):
    """Meenu et al., section 3.2.3: "downloads the pages corresponding to the given
    URL"."""
    links = {"/gone": "1", "/picture": "2", "/secret": "3", "/hint": "4"}
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/robots.txt": SyntheticAnswer(
                    200,
                    (("content-type", "text/plain"),),
                    b"User-agent: *\nDisallow: /secret",
                ),
                "http://seed.test/": page("Bees", BEES, links),
                "http://seed.test/picture": SyntheticAnswer(
                    200, (("content-type", "image/png"),), b"\x89PNG"
                ),
                "http://seed.test/secret": page("Secret", BEES),
                "http://seed.test/hint": SyntheticAnswer(
                    200,
                    (HTML, ("x-robots-tag", "nofollow")),
                    page("Hint", BEES + "hint", {"/not-to-follow": "x"}).encode(),
                ),
            }
        )
    )
    await life.crawl()
    states = life.states()
    assert states["http://seed.test/gone"] == ("unusable", "http_404")
    assert states["http://seed.test/picture"] == ("unusable", "not_html")
    assert states["http://seed.test/secret"] == ("unusable", "robots")
    assert states["http://seed.test/hint"] == ("kept", None)
    assert "http://seed.test/not-to-follow" not in states
    asked = {request.url for request in life.server.requests}
    assert "http://seed.test/secret" not in asked


async def test_the_budget_is_met_exactly_and_can_be_raised(crawled):
    links = {f"/{n}": f"page {n}" for n in range(40)}
    web = {f"http://seed.test/{n}": page(f"Bee {n}", f"{BEES} {n}") for n in range(40)}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web})
    )
    ended = await life.crawl("--max-pages", 10)
    assert ended.json()["ended"] == "budget"
    assert life.rows("SELECT count(*) FROM page") == [(10,)]
    ended = await life.crawl("--max-pages", 25)
    assert ended.code == 0, ended.err
    assert life.rows("SELECT count(*), count(DISTINCT number) FROM page") == [(25, 25)]


async def test_scope_keeps_the_crawl_at_home(crawled):
    life = await crawled(
        SmallWeb(
            {"http://seed.test/": HOME, "http://seed.test/a": page("A", BEES + "a")}
        ),
        topic_text="""
name = "bees"
keywords = ["bee"]
seeds = ["http://seed.test/"]
[scope]
domains = ["seed.test"]
""",
    )
    await life.crawl()
    assert {request.host for request in life.server.requests} == {"seed.test"}


async def test_two_runs_over_a_replayed_web_give_the_same_catalogue(crawled, tmp_path):
    links = {f"/{n}": f"page {n}" for n in range(30)}
    web = {
        f"http://seed.test/{n}": page(
            f"Bee {n}",
            BEES if n % 3 else SHIPS,
            {f"/{n * 7 % 30}": "on", f"/x{n}": "x"},
        )
        for n in range(30)
    }
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web})
    )
    await life.crawl()
    warc = next((life.folder / "warc").glob("*.warc.gz"))
    dumps = []
    for name in ("one", "two"):
        life.folder = tmp_path / name
        ended = await life.crawl("--replay", warc, "--readers", 1)
        assert ended.code == 0, ended.err
        dumps.append(
            [
                life.rows(f"SELECT * FROM {table} ORDER BY {order}")
                for table, order in (("link", "id"), ("page", "id"), ("edge", "rowid"))
            ]
        )
    assert dumps[0] == dumps[1]
    assert len(dumps[0][1]) > 20


async def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(crawled):
    links = {f"/{n}": f"page {n}" for n in range(30)}
    web = {f"http://seed.test/{n}": page(f"Bee {n}", f"{BEES} {n}") for n in range(30)}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web}),
        settings_text="[crawl]\nnear_copies = false\n[politeness]\ndelay = 0.05\n"
        "[store]\nmin_free = 0\n",
    )
    process = await life.start()
    while len(life.server.requests) < 8:
        await asyncio.sleep(0.02)
    process.send_signal(signal.SIGINT)
    await asyncio.wait_for(process.wait(), 60)
    assert process.returncode == 130
    some = life.rows("SELECT count(*) FROM page")[0][0]
    assert 0 < some < 31
    assert (await life.crawl()).code == 0
    assert life.rows("SELECT count(*) FROM page") == [(31,)]
    fetched = [r.url for r in life.server.requests if not r.url.endswith("robots.txt")]
    assert len(fetched) == len(set(fetched))  # a clean stop repeats nothing


async def test_a_second_ctrl_c_stops_at_once(crawled):
    slow = SyntheticAnswer(200, (HTML,), HOME.encode(), delay=30.0)
    life = await crawled(SmallWeb({"http://seed.test/": slow}))
    process = await life.start()
    while len(life.server.requests) < 2:
        await asyncio.sleep(0.02)
    await interrupt(process)
    await asyncio.sleep(0.3)
    assert process.returncode is None  # it waits for the visit under way
    await interrupt(process)
    await asyncio.wait_for(process.wait(), DRAIN_SECONDS - 2)
    assert process.returncode == 130


async def test_a_second_process_on_the_same_folder_is_refused(crawled):
    slow = SyntheticAnswer(200, (HTML,), HOME.encode(), delay=30.0)
    life = await crawled(SmallWeb({"http://seed.test/": slow}))
    process = await life.start()
    while not life.server.requests:
        await asyncio.sleep(0.02)
    ended = await life.crawl()
    process.kill()
    await process.wait()
    assert ended.code == 2
    assert f"another process (id {process.pid})" in ended.err


async def test_a_disk_nearly_full_stops_with_what_to_do(crawled):
    life = await crawled(
        SmallWeb({"http://seed.test/": HOME, "http://seed.test/a": page("A", BEES)}),
        settings_text=f"[politeness]\ndelay = 0.0\n[store]\nmin_free = {2**62}\n",
    )
    ended = await life.crawl()
    assert ended.code == 3
    assert "free some space and run the same command" in ended.err
    assert life.rows("SELECT count(*) FROM link")[0][0] > 0  # kept all the same


async def test_private_addresses_are_refused_by_default(tmp_path: Path, crawled):
    life = await crawled(SmallWeb({"http://127.0.0.1/": HOME}))
    port = life.server.port
    life.topic.write_text(
        f'name = "x"\nkeywords = ["bee"]\nseeds = ["http://127.0.0.1:{port}/"]\n'
    )
    server, life.server = life.server, None
    ended = await life.crawl()
    assert ended.code == 1
    assert "is at a private address" in ended.err
    assert server.connections == 0


async def test_dead_seeds_end_the_crawl_with_a_reason(crawled):
    life = await crawled(SmallWeb({}))
    ended = await life.crawl()
    assert ended.code == 1
    assert "http://seed.test/ answered 404 (Not Found)" in ended.err


async def test_a_proxy_that_goes_away_costs_no_link(crawled):
    """Twenty pages on each of four hosts: the crawl cannot end before the proxy."""
    links = {f"http://h{n % 4}.test/{n}": f"page {n}" for n in range(80)}
    web = {url: page(f"Bee {url}", f"{BEES} {url}") for url in links}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web}),
        settings_text=SETTINGS.replace("delay = 0.0", "delay = 0.3"),
    )
    process = await life.start()
    while len(life.server.requests) < 6:
        await asyncio.sleep(0.01)
    await life.stop_server()
    await asyncio.sleep(1.5)
    process.send_signal(signal.SIGINT)
    await asyncio.wait_for(process.wait(), 60)
    states = [state for state, _ in life.states().values()]
    assert "unusable" not in states and "parked" not in states
    assert states.count("waiting") > 40


async def test_seeds_that_were_refused_are_tried_again_when_allowed(crawled):
    life = await crawled(SmallWeb({"http://127.0.0.1/": HOME}))
    port = life.server.port
    life.topic.write_text(
        f'name = "x"\nkeywords = ["bee"]\nseeds = ["http://127.0.0.1:{port}/"]\n'
    )
    server, life.server = life.server, None
    assert "is at a private address" in (await life.crawl()).err
    ended = await life.crawl("--allow-network", "127.0.0.0/8")
    assert ended.code == 0, ended.err
    assert server.connections > 0
    assert life.rows("SELECT state FROM link WHERE depth = 0") == [("kept",)]


async def test_a_budget_a_host_counts_pages_only(crawled):
    links = {f"/{n}": f"page {n}" for n in range(9)}
    web = {f"http://seed.test/{n}": page(f"Bee {n}", f"{BEES} {n}") for n in range(9)}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web}),
        settings_text=f"{SETTINGS}[bounds]\nper_host = 3\n",
    )
    assert (await life.crawl()).code == 0
    assert life.rows("SELECT count(*) FROM page") == [(3,)]
    assert ("parked", "host_budget") in life.states().values()


async def test_a_copy_of_a_near_copy_is_a_copy_of_that_one(crawled):
    text = " ".join(f"word{n}" for n in range(400)) + " bee honey hive"
    near = page("Same", text + " changed")
    links = {"/a": "1", "/b": "2", "/c": "3"}
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": page("Bees", BEES, links),
                "http://seed.test/a": page("Same", text),
                "http://seed.test/b": near,
                "http://seed.test/c": near,
            }
        ),
        settings_text=f"{SETTINGS}[crawl]\nin_flight = 1\n",
    )
    await life.crawl("--strategy", "best-first")  # equals in their order
    states = life.states()
    assert states["http://seed.test/b"] == ("copy", "near")
    assert states["http://seed.test/c"] == ("copy", "content")
    assert life.rows(
        "SELECT original.url FROM page JOIN link USING (id) "
        "JOIN link original ON original.id = copy_of "
        "WHERE link.url = 'http://seed.test/c'"
    ) == [("http://seed.test/b",)]


async def test_a_full_disk_is_told_and_the_crawl_goes_on_when_there_is_room(crawled):
    links = {f"/{n}": f"page {n}" for n in range(60)}
    noise = "".join(random.Random(1).choices("abcdefghij ", k=60_000))
    web = {
        f"http://seed.test/{n}": page(f"Bee {n}", f"{BEES} {n} {noise[n:]}")
        for n in range(60)
    }
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web}),
        settings_text="[crawl]\nnear_copies = false\n[politeness]\ndelay = 0.0\n"
        "[store]\nmin_free = 0\ncommit_every = 0.05\n",
    )
    command = " ".join(shlex.quote(str(part)) for part in [OPILIO, *life.command()])
    process = await asyncio.create_subprocess_shell(
        f"ulimit -f 700; exec {command}",  # blocks of 1 KiB: no file may be larger
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        executable="/bin/bash",
    )
    _, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 3, errors.decode()
    assert "free some space and run the same command" in errors.decode()
    assert (await life.crawl()).code == 0
    assert life.rows("SELECT count(*) FROM page") == [(61,)]
