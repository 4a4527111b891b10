"""Feeds of every kind: found on a page or given, sound, broken and hostile."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetch.hostile_server import answer
from opilio.errors import Unusable
from opilio.records import Response
from opilio.seeds.feeds import MAX_FEEDS, feed_links, named_feeds, read_feeds
from opilio.seeds.sitemap_parsing import read_sitemap
from opilio.text import urls
from seeds.loopback_web import Web, moved

BLOG = "http://blog.test/"
RSS2 = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>T</title><link>http://blog.test/</link>
<atom:link rel="self" href="http://blog.test/feed"/>
<item><title>A</title><link>http://blog.test/a?x=1&amp;y=2</link><guid>no</guid></item>
<item><guid>http://blog.test/b</guid></item>
<item><guid isPermaLink="false">http://blog.test/not-a-link</guid></item>
<item><link><![CDATA[ http://blog.test/c?x=1&y=2 ]]></link></item>
<item><atom:link rel="self" href="/self"/><atom:link href="/d"/></item>
</channel></rss>"""
RSS091 = """<?xml version="1.0"?><!DOCTYPE rss PUBLIC
"-//Netscape Communications//DTD RSS 0.91//EN"
"http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><item><title>caf&eacute;</title><link>http://blog.test/a
</link></item></channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://blog.test/"><items/></channel>
<item rdf:about="http://blog.test/a"><link>http://blog.test/a</link></item>
<item rdf:about="http://blog.test/b"><title>B</title></item></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://blog.test/2024/">
<link href="http://blog.test/"/><link rel="self" href="/atom"/>
<entry><id>tag:x</id><link rel="edit" href="/edit"/><link rel="alternate" href="a"/>
</entry><entry xml:base="may/"><link href="b"/></entry><entry><link href="c"/></entry>
<entry><id>tag:nothing</id></entry></feed>"""
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [
            {"id": "1", "url": "http://blog.test/a"},
            {"id": "2", "external_url": "http://far.test/b"},
            {"id": "http://blog.test/3"},
            {"url": 7}, {"url": "javascript:alert(1)"}, None, "x", [],
        ],
    }
)  # fmt: skip


def links(body: str | bytes, url: str = f"{BLOG}feed") -> list[str]:
    body = body.encode() if isinstance(body, str) else body
    return feed_links(Response(url, 200, (), body, 0.0))


async def read(web: Web, page: str = BLOG, limit: int = 100) -> list[str]:
    return await read_feeds(page, web.visits, limit)


@pytest.mark.parametrize(
    ("feed", "found"),
    [
        (RSS2, ["a?x=1&y=2", "b", "c?x=1&y=2", "d"]),
        (RSS2.replace("&amp;", "&"), ["a?x=1&y=2", "b", "c?x=1&y=2", "d"]),
        (RSS091, ["a"]),
        (RDF, ["a", "b"]),
        (ATOM, ["2024/a", "2024/may/b", "2024/c"]),
        (RSS2.partition("b</guid>")[0], ["a?x=1&y=2"]),
    ],
    ids=["RSS 2.0", "bare ampersands", "RSS 0.91", "RDF", "Atom", "cut short"],
)
def test_items_lead_where_they_say(feed: str, found: list[str]):
    assert links(feed) == [BLOG + path for path in found]


def test_a_json_feed_leads_where_it_says():
    assert links(JSON) == ["http://blog.test/a", "http://far.test/b"]
    assert links("\ufeff" + JSON) == links(JSON)


@pytest.mark.parametrize(
    "body",
    [
        "", "{", "{}", '{"items": []}', '{"version": 7, "items": [{"url": "http://a/"}]}',
        '{"a":' * 100_000, "[]", "<html><item><link>http://a.test/</link></item></html>",
        "<rss/>", "<rss><item/></rss>",
        "<rss><item><link>javascript:x</link></item></rss>",
        "<rss><item><link>mailto:a@b.test</link><guid>http://b.test/</guid></item></rss>",
    ],
)  # fmt: skip
def test_what_is_no_feed_or_leads_nowhere_gives_nothing(body: str):
    assert links(body) == []


def test_a_feed_that_declares_entities_lists_nothing():
    bomb = (
        '<!DOCTYPE rss [<!ENTITY a "http://evil.test/">'
        '<!ENTITY f SYSTEM "file:///etc/passwd">]>'
        "<rss><item><link>&a;</link></item><item><link>&f;</link></item></rss>"
    )
    assert links(bomb) == []
    assert links(RSS2.replace("<rss", bomb.partition("<rss")[0] + "<rss", 1)) == []


async def test_a_page_names_its_feeds(web: Web):
    web.pages[BLOG] = """<html><head><base href="/base/">
      <link rel="stylesheet" href="s.css">
      <link rel="alternate" hreflang="de" href="/de">
      <LINK REL="Alternate Home" TYPE="application/rss+xml; charset=utf-8" HREF="rss">
      <link rel=alternate type="application/feed+json" href="http://blog.test/json">
      <link rel=alternate type="application/rss+xml" href="javascript:x"></head>
      <body>text"""
    web.pages[f"{BLOG}base/rss"] = RDF
    web.pages[f"{BLOG}json"] = answer(JSON.encode(), content_type=b"application/json")
    found = await read(web)
    assert found == [f"{BLOG}a", f"{BLOG}b", "http://far.test/b"]
    assert await read(web, limit=2) == found[:2]
    assert web.told == []


async def test_a_given_url_may_be_a_feed_itself(web: Web):
    web.pages[f"{BLOG}feed"] = answer(ATOM.encode(), content_type=b"text/plain")
    assert len(await read(web, f"{BLOG}feed")) == 3


async def test_a_page_without_feeds_is_told(web: Web):
    web.pages[BLOG] = "<p>Hello."
    assert await read(web) == []
    assert web.told == ["http://blog.test/ is not a feed and names none"]


async def test_a_feed_that_cannot_be_had_does_not_stop_the_others(web: Web):
    web.private.add("router.test")
    feeds = ["gone", "forbidden/x", "http://router.test/", "good"]
    web.pages[f"{BLOG}robots.txt"] = "User-agent: *\nDisallow: /forbidden/"
    web.pages[BLOG] = "".join(
        f'<link rel=alternate type="application/atom+xml" href="{url}">'
        for url in feeds
    )
    web.pages[f"{BLOG}good"] = ATOM
    assert len(await read(web)) == 3
    assert f"{BLOG}forbidden/x" not in web.urls()
    told = "\n".join(web.told)
    assert "answered 404" in told
    assert "robots.txt forbids" in told
    assert "10.0.0.1 is not a public address" in told


async def test_a_page_that_is_forbidden_or_leads_inside_is_told(web: Web):
    web.private.add("router.test")
    web.pages[BLOG] = moved("http://router.test/feed")
    assert await read(web) == []
    assert "not a public address" in web.told[0]
    web.pages["http://shy.test/robots.txt"] = "User-agent: *\nDisallow: /"
    assert await read(web, "http://shy.test/") == []
    assert "robots.txt forbids" in web.told[1]
    assert "http://shy.test/" not in web.urls()


@given(st.binary(max_size=300), st.sampled_from([RSS2, RDF, ATOM, JSON]), st.data())
def test_damaged_feeds_give_urls_or_nothing(
    junk: bytes, feed: str, data: st.DataObject
):
    whole = feed.encode()
    place = data.draw(st.integers(0, len(whole)))
    for body in (junk, whole[:place] + junk + whole[place:]):
        response = Response(BLOG, 200, (), body, 0.0)
        found = feed_links(response) + named_feeds(response)
        with suppress(Unusable):  # it began like gzip
            found += [entry.url for entry in read_sitemap(response).pages]
        assert all(url == urls.canonical(url) for url in found)


def test_a_page_cannot_name_feeds_without_end():
    link = b'<link rel=alternate type="application/rss+xml" href="/%d">'
    body = b"".join(link % n for n in range(2000))
    assert len(named_feeds(Response(BLOG, 200, (), body, 0.0))) == MAX_FEEDS


@pytest.mark.parametrize(
    "body", [b"", b"\0" * 1000, b"<div>" * 100_000, b"<" * 100_000]
)
def test_odd_pages_name_no_feeds(body: bytes):
    assert named_feeds(Response(BLOG, 200, (), body, 0.0)) == []
