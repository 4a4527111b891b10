"""Pages that say the same in other bytes: what refreshing them stores."""

from itertools import count

from crawling import Crawled, opilio
from opilio.lab.synthetic.small import SmallWeb
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.records import Response
from opilio.sites.revisit import is_worth_its_room
from opilio.store.versions import SeenVersion
from opilio.store.warc_files import read_record
from sites.evolving_sites import age, evolve, hive, records

A = "http://seed.test/a"
PLACE = "warc, warc_offset, warc_length"
OF_A = f"WHERE url = '{A}'"


class Restless(SmallWeb):
    """Pages without validators whose bytes differ at every visit."""

    def __init__(self, pages) -> None:
        super().__init__(pages)
        self.numbers = count(1)

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        answer = super().respond(url, attempt)
        if answer.status != 200:
            return answer
        body = answer.body + b"<!-- token %d -->" % next(self.numbers)
        return SyntheticAnswer(200, (HTML,), body)


def with_token(web: SmallWeb, token: int) -> None:
    """Let page a say the same in other bytes, with another tag."""
    body = hive()[A].body + b"<!-- token %d -->" % token
    web.answers[A] = SyntheticAnswer(200, (HTML, ("etag", f'"t{token}"')), body)


async def refreshed(life: Crawled) -> tuple[int, int]:
    """One round, two months later: pages changed, responses stored in all."""
    age(life, 60)
    told = (await evolve(life))["refresh"]
    assert told["unchanged"] == 4
    return told["changed"], len(records(life, "response"))


async def test_by_its_new_bytes_a_page_is_recognised_from_then_on(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    before = len(records(life, "response"))
    with_token(web, 4711)
    assert await refreshed(life) == (0, before + 1)
    asked = len(life.server.requests)
    assert await refreshed(life) == (0, before + 1)
    assert [one.status for one in life.server.requests[asked:] if one.url == A] == [304]
    # the page is the copy that the server speaks of; that is no version more
    [(*place, content, size)] = life.rows(
        f"SELECT {PLACE}, content, bytes FROM page JOIN link USING (id) {OF_A}"
    )
    body = read_record(life.folder / "warc", *place).body
    assert b"token 4711" in body and len(body) == size
    versions = life.rows(
        f"SELECT {PLACE}, content, visits FROM version "
        f"JOIN link ON link.id = version.page {OF_A}"
    )
    assert versions == [(*place, content, 3)]


async def test_bytes_by_which_nothing_is_recognised_are_not_stored(crawled):
    life = await crawled(Restless(hive()))
    await life.crawl()
    before = records(life, "response"), life.rows(f"SELECT {PLACE} FROM page")
    stored = len(before[0])
    assert [await refreshed(life) for _ in range(2)] == [(0, stored)] * 2
    assert life.rows(f"SELECT {PLACE} FROM page") == before[1]
    assert life.rows("SELECT visits, trouble FROM version") == [(3, None)] * 4


def test_bytes_that_differ_at_every_visit_are_stored_ever_more_rarely():
    place = ("000001.warc.gz", 0, 1)

    def is_stored(visits: int, **more) -> bool:
        seen = SeenVersion(
            1, 0.0, "", 1, 1, 0.5, True, False, False, place, visits, "", True
        )
        headers = (HTML, ("etag", '"t"'))
        return is_worth_its_room(seen, Response(A, 200, headers, b"", 1.0, **more))

    assert [n for n in range(1, 40) if is_stored(n)] == [1, 2, 4, 8, 16, 32]
    assert not is_stored(1, truncated="length")


async def test_a_page_that_asks_not_to_be_shown_from_now_on_is_not(crawled):
    web = SmallWeb(hive())
    life = await crawled(web)
    await life.crawl()
    shown = (await opilio("search", life.folder, "alpha", "--json")).json()
    assert shown["total"] == 1
    wish = b'<meta name="robots" content="noindex">'
    body = hive()[A].body.replace(b"<title>", wish + b"<title>")
    web.answers[A] = SyntheticAnswer(200, (HTML,), body)
    age(life, 60)
    assert (await evolve(life))["refresh"]["changed"] == 1
    assert life.rows(f"SELECT noindex FROM page JOIN link USING (id) {OF_A}") == [(1,)]
    shown = (await opilio("search", life.folder, "alpha", "--json")).json()
    assert shown["total"] == 0
