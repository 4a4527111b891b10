"""Sitemaps: found by robots.txt or by custom, indexed, gzipped, broken, hostile."""

from __future__ import annotations

import gzip
import resource
import time
import zlib
from collections.abc import Sequence
from itertools import pairwise

import pytest

from fetch.hostile_server import answer
from opilio.records import Response
from opilio.seeds.sitemap_parsing import SitemapEntry, date, priority, read_sitemap
from opilio.seeds.sitemaps import MAX_FILES, read_sitemaps
from opilio.seeds.xml_records import MAX_ELEMENTS, MAX_RECORDS, read_records
from seeds.loopback_web import Asked, Web, moved, opened_web

SITE = "http://site.test"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
BOMB = """<?xml version="1.0"?><!DOCTYPE urlset [
<!ENTITY a "http://site.test/">
{}
<!ENTITY file SYSTEM "file:///etc/passwd">
<!ENTITY net SYSTEM "http://site.test/secret">
]><urlset><url><loc>&a;</loc></url><url><loc>http://site.test/&b9;</loc></url>
<url><loc>http://site.test/&file;&net;</loc></url></urlset>""".format(
    "".join(f'<!ENTITY b{n} "{f"&b{n - 1};" * 10 if n else "x"}">' for n in range(10))
)


def urlset(*entries: str, **fields: str) -> str:
    more = "".join(f"<{name}>{text}</{name}>" for name, text in fields.items())
    listed = "".join(f"<url><loc>{url}</loc>{more}</url>" for url in entries)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {XMLNS}>{listed}</urlset>'


def index(*entries: str) -> str:
    listed = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in entries)
    return f"<sitemapindex {XMLNS}>{listed}</sitemapindex>"


async def read(web: Web, origin: str = SITE, limit: int = 1000) -> Sequence[str]:
    return await read_sitemaps(origin, web.visits, limit)


def listing(body: bytes | str, url: str = f"{SITE}/sitemap.xml"):
    body = body.encode() if isinstance(body, str) else body
    return read_sitemap(Response(url, 200, (), body, 0.0))


async def test_the_usual_place_is_looked_at(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = urlset(f"{SITE}/a", f"{SITE}/b?x=1&amp;y=2")
    assert await read(web) == [f"{SITE}/a", f"{SITE}/b?x=1&y=2"]
    assert web.urls() == [f"{SITE}/robots.txt", f"{SITE}/sitemap.xml"]
    assert web.told == []


async def test_a_site_without_sitemaps_has_none_and_that_is_no_trouble(web: Web):
    assert await read(web) == []
    assert web.told == []


async def test_robots_txt_names_sitemaps_also_elsewhere(web: Web):
    web.pages[f"{SITE}/robots.txt"] = (
        "Sitemap: http://maps.test/of-site.xml\nsitemap: /second.xml\nSitemap: ::\n"
    )
    web.pages["http://maps.test/of-site.xml"] = urlset(
        f"{SITE}/a", "http://maps.test/x"
    )
    web.pages[f"{SITE}/second.xml"] = urlset(f"{SITE}/b")
    assert await read(web) == [f"{SITE}/a", f"{SITE}/b"]


async def test_a_sitemap_speaks_for_its_own_site_only(web: Web):
    """sitemaps.org, "Sitemap file location": other hosts are dropped."""
    web.pages[f"{SITE}/sitemap.xml"] = urlset(
        "http://other.test/", "http://sub.site.test/", "http://site.test:8080/",
        "javascript:alert(1)", "ftp://site.test/x", "", "/relative", f"{SITE}/mine",
    )  # fmt: skip
    assert await read(web) == [f"{SITE}/mine"]


async def test_a_site_that_moved_to_its_www_host_is_followed_there(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = moved("https://www.site.test/sitemap.xml")
    web.pages["https://www.site.test/sitemap.xml"] = urlset("https://www.site.test/a")
    assert await read(web) == ["https://www.site.test/a"]


async def test_a_site_that_moved_to_a_stranger_is_not_believed(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = moved("http://stranger.test/sitemap.xml")
    web.pages["http://stranger.test/sitemap.xml"] = urlset("http://stranger.test/a")
    assert await read(web) == []


async def test_robots_txt_is_obeyed(web: Web):
    web.pages[f"{SITE}/robots.txt"] = "User-agent: *\nDisallow: /maps/\n"
    web.pages[f"{SITE}/sitemap.xml"] = index(f"{SITE}/maps/1.xml", f"{SITE}/open.xml")
    web.pages[f"{SITE}/maps/1.xml"] = urlset(f"{SITE}/hidden")
    web.pages[f"{SITE}/open.xml"] = urlset(f"{SITE}/a")
    assert await read(web) == [f"{SITE}/a"]
    assert f"{SITE}/maps/1.xml" not in web.urls()
    assert "robots.txt forbids http://site.test/maps/1.xml" in web.told[0]


async def test_while_robots_txt_cannot_be_had_nothing_is_asked_for(web: Web):
    web.pages[f"{SITE}/robots.txt"] = answer(b"", status=b"503 Busy")
    web.pages[f"{SITE}/sitemap.xml"] = urlset(f"{SITE}/a")
    assert await read(web) == []
    assert web.urls() == [f"{SITE}/robots.txt"]
    assert "no sitemaps of http://site.test: " in web.told[0]


async def test_priority_and_then_the_last_change_decide_what_comes_first(web: Web):
    web.pages[f"{SITE}/robots.txt"] = "".join(
        f"Sitemap: {SITE}/{n}.xml\n" for n in range(4)
    )
    web.pages[f"{SITE}/0.xml"] = urlset(f"{SITE}/old", lastmod="2019-01-01")
    web.pages[f"{SITE}/1.xml"] = urlset(f"{SITE}/new", lastmod="2024-05-01T10:00:00Z")
    web.pages[f"{SITE}/2.xml"] = urlset(f"{SITE}/first", priority="0.9")
    web.pages[f"{SITE}/3.xml"] = urlset(f"{SITE}/last", priority="0.1")
    assert [url[-4:] for url in await read(web)] == ["irst", "/new", "/old", "last"]
    assert await read(web, limit=1) == [f"{SITE}/first"]


async def test_gzipped_indexes_lead_to_gzipped_sitemaps(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = answer(
        gzip.compress(index(f"{SITE}/1.xml.gz", f"{SITE}/2.txt").encode()),
        content_type=b"application/x-gzip",
    )
    web.pages[f"{SITE}/1.xml.gz"] = answer(gzip.compress(urlset(f"{SITE}/a").encode()))
    web.pages[f"{SITE}/2.txt"] = f"\ufeff{SITE}/b\r\n\nnonsense\n{SITE}/c"
    assert await read(web) == [f"{SITE}/a", f"{SITE}/b", f"{SITE}/c"]


async def test_an_index_leads_to_no_other_site(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = index("http://victim.test/1.xml")
    assert await read(web) == []
    assert "http://victim.test/1.xml" not in web.urls()


async def test_an_index_that_lists_itself_and_its_like_ends(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = index(f"{SITE}/i.xml", f"{SITE}/sitemap.xml")
    web.pages[f"{SITE}/i.xml"] = index(f"{SITE}/sitemap.xml", f"{SITE}/i.xml")
    assert await read(web) == []
    assert len(web.asked) == 3


async def test_indexes_of_indexes_end_at_the_second(web: Web):
    for n in range(6):
        web.pages[f"{SITE}/{n}.xml"] = index(f"{SITE}/{n + 1}.xml")
    web.pages[f"{SITE}/sitemap.xml"] = index(f"{SITE}/0.xml")
    await read(web)
    assert web.urls()[-1] == f"{SITE}/1.xml"


async def test_an_index_of_thousands_is_not_read_to_its_end(web: Web):
    many = [f"{SITE}/{n}.xml" for n in range(5000)]
    web.pages[f"{SITE}/sitemap.xml"] = index(*many)
    web.pages |= {url: urlset(url + "/page") for url in many[:100]}
    assert len(await read(web)) == MAX_FILES - 1
    assert len(web.asked) == MAX_FILES + 1


async def test_a_redirect_into_a_private_network_is_refused_and_told(web: Web):
    web.private.add("router.test")
    web.pages[f"{SITE}/robots.txt"] = f"Sitemap: {SITE}/s.xml\n"
    web.pages[f"{SITE}/s.xml"] = moved("http://router.test/")
    web.pages[f"{SITE}/sitemap.xml"] = urlset(f"{SITE}/a")
    assert await read(web) == [f"{SITE}/a"]
    assert "10.0.0.1 is not a public address" in web.told[0]


async def test_redirects_without_end_end(web: Web):
    def reply(asked: Asked) -> bytes:
        return moved(asked.url + "x")

    web.pages[f"{SITE}/robots.txt"] = f"Sitemap: {SITE}/s\n"
    web.pages |= {f"{SITE}/s{'x' * n}": reply for n in range(20)}
    await read(web)
    assert "redirects more than 5" in web.told[0]


async def test_a_host_is_asked_with_pauses():
    async with opened_web(pause=0.1) as web:
        times = []

        def reply(asked: Asked) -> bytes:
            times.append(time.monotonic())
            return answer(index(f"{SITE}/1.xml").encode())

        web.pages |= {
            f"{SITE}/{n}": reply for n in ("robots.txt", "sitemap.xml", "1.xml")
        }
        await read(web)
    assert len(times) == 3
    assert all(b - a >= 0.1 for a, b in pairwise(times))


async def test_a_gzip_bomb_gives_its_beginning_at_most(web: Web):
    packer = zlib.compressobj(1, wbits=31)
    blank = b" " * 2**20
    pieces = [packer.compress(b"<urlset>")]
    pieces += [packer.compress(blank) for _ in range(256)]
    web.pages[f"{SITE}/sitemap.xml"] = b"".join([*pieces, packer.flush()])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert await read(web) == []
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100 * 1024  # KiB, of 256 MiB


def plain_bytes_of(text: str, encoding: str) -> bytes:
    return text.replace("1.0", f'1.0" encoding="{encoding}').encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7", "cp037", "utf-32"])
def test_a_file_that_declares_entities_lists_nothing(encoding: str):
    assert listing(plain_bytes_of(BOMB, encoding)) == ([], [])
    simple = """<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "x">]><urlset>
        <url><loc>http://site.test/&a;</loc></url></urlset>"""
    assert listing(plain_bytes_of(simple, encoding)) == ([], [])


def test_words_about_entities_in_a_file_without_them_do_no_harm():
    body = urlset(f"{SITE}/a", title="<![CDATA[<!DOCTYPE x [<!ENTITY a 'b'>]>]]>")
    assert listing(body).pages == [SitemapEntry(f"{SITE}/a")]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "windows-1251", "shift_jis", "utf-8-sig"]
)
def test_other_encodings_are_read(encoding: str):
    body = plain_bytes_of(
        urlset(f"{SITE}/я").replace(' encoding="UTF-8"', ""), encoding
    )
    assert listing(body).pages == [SitemapEntry(f"{SITE}/%D1%8F")]


async def test_an_external_entity_or_type_is_not_fetched(web: Web):
    web.pages[f"{SITE}/sitemap.xml"] = BOMB.replace(
        "<!DOCTYPE urlset [", '<!DOCTYPE urlset SYSTEM "http://site.test/x.dtd" ['
    )
    await read(web)
    assert web.urls() == [f"{SITE}/robots.txt", f"{SITE}/sitemap.xml"]


def test_a_million_urls_are_cut_to_what_the_protocol_allows():
    body = b"<url><loc>http://site.test/page</loc></url>" * 1_000_000
    assert len(listing(b"<urlset>" + body).pages) == MAX_RECORDS
    text = f"{SITE}/page\n" * 1_000_000
    assert len(listing(text).pages) == MAX_RECORDS


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<", b"\0" * 1000, b"<html><body>404</body></html>", b"<urlset/>",
        b"<urlset><url>" * 100_000, b"<urlset>" + b"<a>" * 300_000,
        b"\xff\xfe<\x00u\x00", b"<urlset><url><loc>" + b"x" * 1_000_000,
        b"&" * 1_000_000, b"<![CDATA[" * 200_000, b"<!--" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_sitemap_lists_nothing(body: bytes):
    assert listing(body) == ([], [])


def test_the_sound_beginning_of_a_broken_file_counts():
    whole = urlset(f"{SITE}/a", f"{SITE}/b")
    assert listing(whole[: whole.index("/b")]).pages == [SitemapEntry(f"{SITE}/a")]
    bare = f"<urlset><url><loc>{SITE}/?a=1&b=2&nbsp;</loc></url></urlset>"
    assert listing(bare).pages == [SitemapEntry(f"{SITE}/?a=1&b=2")]
    quoted = f"<urlset><url><loc><![CDATA[{SITE}/?a=1&b=2]]></loc></url></urlset>"
    assert listing(quoted).pages == [SitemapEntry(f"{SITE}/?a=1&b=2")]


def test_images_and_other_languages_in_a_sitemap_are_not_its_pages():
    body = f"""<urlset {XMLNS} xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"
      xmlns:x="http://www.w3.org/1999/xhtml"><url><i:image><i:loc>{SITE}/i.png</i:loc>
      </i:image><x:link rel="alternate" hreflang="de" href="{SITE}/de"/>
      <loc>
        {SITE}/page
      </loc></url></urlset>"""
    assert listing(body).pages == [SitemapEntry(f"{SITE}/page")]


def test_a_feed_may_serve_as_sitemap():
    body = f"<rss><channel><item><link>{SITE}/news</link></item></channel></rss>"
    assert listing(body).pages == [SitemapEntry(f"{SITE}/news")]


def test_elements_are_counted():
    body = b"<urlset>" + b"<a/>" * (MAX_ELEMENTS + 1) + urlset(f"{SITE}/a").encode()
    assert read_records(body, "", "url") == ("urlset", [])


def test_priorities_and_dates_that_are_none_are_the_usual():
    assert [priority(text) for text in ("0.8", "1", "1.7", "0")] == [0.8, 1.0, 1.0, 0.0]
    for odd in ("", "nan", "inf", "-1", "1e9", "high", "٣"):
        assert priority(odd) == 0.5
    assert date("2024-05-01T10:00:00+02:00") == "2024-05-01T10:00:00"
    assert [date(text) for text in ("2024", "2024-05", "yesterday", "")] == [
        "2024", "2024-05", "", "",
    ]  # fmt: skip
