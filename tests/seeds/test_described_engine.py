"""Search services that a topic file describes, asked over real HTTP on loopback."""

import asyncio
import json

import pytest

from opilio.errors import BadInput, OpilioError, Unusable
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.seeds.described_engine import DescribedEngine
from opilio.seeds.search import make_engines, search_all
from opilio.topic.file import SearchService
from seeds.loopback_web import Asked, Web
from seeds.test_seeds_of_a_crawl import answer

API = "http://library.test/api"
URL = API + "?q={query}&page={page}&n={limit}&lang={language}"
ATOM = """<?xml version="1.0"?>
<feed xmlns="http://www.w3.org/2005/Atom"
      xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <opensearch:totalResults>2</opensearch:totalResults>
  <link rel="self" href="http://library.test/api?q=bee"/>
  <entry><title>A</title><link href="http://a.test/"/></entry>
  <entry><title>B</title><link rel="alternate" href="/b#top"/></entry>
</feed>"""
RSS = """<rss version="2.0"><channel><link>http://library.test/</link>
<item><link>http://a.test/</link></item><item><link>http://c.test/</link></item>
</channel></rss>"""


def engine(web: Web, links: str = "", url: str = URL) -> DescribedEngine:
    service = SearchService(url=url, links=links)
    return DescribedEngine(web.egress.get, "library", service, pause=0.0)


async def found(web: Web, links: str = "", limit: int = 2) -> list[str]:
    findings = await engine(web, links).search("honey & bee", limit, "en")
    return list(findings["library"])


@pytest.mark.parametrize(
    ("links", "body"),
    [
        ("results[].url", {"results": [{"url": "http://a.test/"}, {"url": "/b#x"}]}),
        ("data.hits[].doc.links[]",
         {"data": {"hits": [{"doc": {"links": ["http://a.test/", "/b"]}}]}}),
        ("[]", ["http://a.test:80/", "/b"]),
    ],
)  # fmt: skip
async def test_links_are_found_by_their_path_in_json(web: Web, links, body):
    web.pages[API] = json.dumps(body)
    assert await found(web, links) == ["http://a.test/", "http://library.test/b"]
    assert web.asked[0].query == {
        "q": ["honey & bee"],
        "page": ["1"],
        "n": ["2"],
        "lang": ["en"],
    }


@pytest.mark.parametrize(
    ("body", "second"), [(ATOM, "http://library.test/b"), (RSS, "http://c.test/")]
)
async def test_opensearch_answers_need_no_path(web: Web, body, second):
    web.pages[API] = body
    assert await found(web) == ["http://a.test/", second]


async def test_pages_of_results_are_asked_for_until_there_are_enough(web: Web):
    def reply(asked: Asked) -> bytes:
        number = int(asked.query["page"][0])
        rows = [{"url": f"http://r{number}-{n}.test/"} for n in range(10)]
        return json.dumps({"results": rows}).encode()

    web.pages[API] = reply
    assert len(await found(web, "results[].url", limit=25)) == 30
    assert len(web.asked) == 3


async def test_odd_results_are_left_out(web: Web):
    rows = [{"url": 7}, "x", None, {"link": "y"}, {"url": "mailto:a@b.test"}]
    web.pages[API] = json.dumps({"results": [*rows, {"url": "http://a.test/"}]})
    assert await found(web, "results[].url", limit=1) == ["http://a.test/"]


@pytest.mark.parametrize(
    ("links", "body", "said"),
    [
        ("results[].url", "<html>no", "no JSON"),
        ("results[].url", '{"hits": []}', "no results"),
        ("", '{"hits": []}', "neither Atom nor RSS"),
        ("results[].url", b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "503"),
    ],
)
async def test_a_wrong_answer_is_told(web: Web, links, body, said):
    web.pages[API] = body
    with pytest.raises(Unusable, match=said):
        await found(web, links)


async def test_a_slow_service_is_waited_for_and_a_silent_one_is_told(web: Web):
    async def slow(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.3)
        body = b'{"results": [{"url": "http://a.test/"}]}'
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0)
    web.ports[80] = server.sockets[0].getsockname()[1]
    assert await found(web, "results[].url", limit=1) == ["http://a.test/"]
    server.close()
    await server.wait_closed()
    engines = [engine(web, "results[].url")]
    with pytest.raises(OpilioError, match="library"):
        await search_all(engines, "bee", 5)


async def test_a_service_in_a_private_network_is_refused(web: Web):
    web.private.add("library.test")
    with pytest.raises(Unusable, match="address"):
        await found(web, "results[].url")
    assert not web.asked


@pytest.mark.parametrize(
    ("url", "links", "said"),
    [
        ("library?q={query}", "", "no address"),
        ("http://library.test/?q={question}", "", "no address"),
        ("http://library.test/", "", "{query}"),
        (URL, "results[0].url", "no path"),
    ],
)
async def test_a_description_that_cannot_be_used_is_refused(web: Web, url, links, said):
    with pytest.raises(BadInput, match=said) as error:
        engine(web, links, url)
    assert "seeds.engines.library" in str(error.value)


async def test_an_engine_that_nobody_describes_is_refused(web: Web):
    with pytest.raises(BadInput, match=r"seeds\.engines"):
        make_engines(["library"], web.egress.get)


async def test_a_crawl_starts_from_what_a_described_engine_finds(crawled):
    topic = (
        'name = "bees"\nkeywords = ["bee", "honey"]\n'
        '[seeds]\nsearch = ["library"]\n'
        '[seeds.engines.library]\nurl = "http://library.test/api?q={query}"\n'
    )
    web = SmallWeb(
        {
            "http://library.test/api?q=bee+honey": answer("application/atom+xml", ATOM),
            "http://a.test/": page("Bees", "The bee makes honey in the hive. " * 20),
        }
    )
    life = await crawled(web, topic_text=topic)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert life.states()["http://a.test/"] == ("kept", None)
