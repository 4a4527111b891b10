"""Finds the dates on which a page was published and last modified."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from opilio.read.main_content.dates import date_in_url, first_date
from opilio.read.main_content.declared import text_in
from opilio.read.main_content.metadata import Facts
from opilio.read.main_content.names import KINDS
from opilio.read.main_content.properties import content_of, values_of

DATE = 1 << KINDS.index("date")
SHORT, SHORT_NEAR_TITLE = 120, 200  # characters of a line that may be a date
MOST = 200  # elements that are looked at
IN_JSON = ("datePublished", "dateCreated", "uploadDate")
PUBLISHED = (
    *("article:published_time", "og:article:published_time", "datepublished"),
    *("published_time", "og:published_time", "parsely-pub-date", "sailthru.date"),
    *("dc.date.issued", "dcterms.created", "dc.date", "dc.date.created", "pubdate"),
    *("publishdate", "publish-date", "publish_date", "article.published", "date"),
    *("citation_publication_date", "citation_date", "article:post_date", "pub_date"),
    *("datecreated", "originalpublicationdate", "cxenseparse:recs:publishtime"),
    *("dcterms.date", "dcterms.issued", "article_date_original", "rbpubdate"),
)
MODIFIED = (
    *("article:modified_time", "og:updated_time", "datemodified", "last-modified"),
    *("dcterms.modified", "lastmod", "revised", "modified_time", "dc.date.modified"),
)

_times = re.compile(r'<time((?: [^ =]+="[^"]*")*)>([^<]*)').finditer
CLASSES = ("published", "entry-date", "post-date", "pubdate")
_classed = re.compile(
    rf' class="[^"]*\b(?:{"|".join(CLASSES)})\b[^"]*"([^>]*)>([^<]*)'
).finditer


def published(facts: Facts) -> str:
    """The date of publication, YYYY-MM-DD; "": unknown."""
    return (
        first_date(
            in_json(facts, "datePublished", "dateCreated", "uploadDate"), facts.latest
        )
        or first_date(in_metas(facts, PUBLISHED), facts.latest)
        or first_date(
            values_of(facts.markup, "datePublished", "dateCreated"), facts.latest
        )
        or date_in_url(facts.url, facts.latest)
        or first_date(in_elements(facts), facts.latest)
        or first_date(in_lines(facts), facts.latest)
        or modified(facts)
    )


def modified(facts: Facts) -> str:
    """The date of the last change, YYYY-MM-DD; "": unknown."""
    return (
        first_date(in_json(facts, "dateModified"), facts.latest)
        or first_date(in_metas(facts, MODIFIED), facts.latest)
        or first_date(values_of(facts.markup, "dateModified"), facts.latest)
    )


def in_json(facts: Facts, *names: str) -> Iterator[str]:
    """What JSON-LD says by these names."""
    for name in names:
        for node in (*facts.items, *facts.pages):
            yield text_in(node.get(name))


def in_metas(facts: Facts, names: Iterable[str]) -> Iterator[str]:
    """What these meta elements say."""
    for name in names:
        yield from facts.declared.metas.get(name, ())


def in_elements(facts: Facts) -> Iterator[str]:
    """What <time> elements and elements classed as dates say."""
    for find, words in ((_times, ("<time",)), (_classed, CLASSES)):
        if any(word in facts.markup for word in words):
            for found in islice(find(facts.markup), MOST):
                yield content_of(found[1]) or found[2]


def in_lines(facts: Facts) -> Iterator[str]:
    """Short lines: those named as dates, those near the title, then any."""
    short = [
        block
        for block in facts.outline.blocks
        if len(block.text) < SHORT and not facts.is_aside(block)
    ]
    yield from (block.text for block in short if facts.kinds(block) & DATE)
    for block in facts.near_title():
        if len(block.text) < SHORT_NEAR_TITLE:
            yield block.text
    yield from (block.text for block in short)
