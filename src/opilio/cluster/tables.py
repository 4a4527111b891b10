"""The tables that both crawl.db and PostgreSQL have, and how rows differ between them.

In crawl.db links and hosts have ids, which are this machine's own; in PostgreSQL they
are known by fingerprint and name. Each query reads rows of crawl.db in the form that
PostgreSQL has: the host first, whose shard the row belongs to, then the columns.
"""

from __future__ import annotations

from typing import NamedTuple


class SharedTable(NamedTuple):
    """A table, its columns after `shard`, and the query that reads them."""

    name: str
    columns: tuple[str, ...]
    query: str  # {changed}: the table of keys that changed
    key: str = ""  # of two rows with the same one the later remains; "": there are none

    @property
    def statement(self) -> str:
        """Writes one row to PostgreSQL."""
        columns = ("shard", *self.columns)
        places = ", ".join(["%s"] * len(columns))
        insert = f"INSERT INTO {self.name} ({', '.join(columns)}) VALUES ({places})"
        if not self.key:
            return insert
        news = ", ".join(
            f"{column} = coalesce(EXCLUDED.{column}, {self.name}.{column})"
            if column == "found_on"  # its page may be unknown to a later owner
            else f"{column} = EXCLUDED.{column}"
            for column in self.columns
            if column != self.key
        )
        return f"{insert} ON CONFLICT (shard, {self.key}) DO UPDATE SET {news}"


LINK_COLUMNS = [
    "fingerprint",
    "url",
    "host",
    "template",
    "state",
    "reason",
    "promise",
    "level",
    "depth",
    "redirects",
    "attempts",
    "found_on",
    "anchor",
    "parts",
    "due",
]
PAGE_COLUMNS = [
    "fingerprint",
    "fetched_at",
    "status",
    "mime",
    "charset",
    "language",
    "title",
    "words",
    "bytes",
    "truncated",
    "degraded",
    "noindex",
    "content",
    "simhash",
    "copy_of",
    "score",
    "relevant",
    "parts",
    "warc",
    "warc_offset",
    "warc_length",
]
OF_LINK = "JOIN link ON link.id = {changed}.key JOIN host ON host.id = link.host"

HOST = SharedTable(
    "host",
    ("name", "domain", "ip", "delay", "rest_until", "taken", "why", "silent_since"),
    """
    SELECT name, name, domain, ip, delay, rest_until, taken, rest.reason, since
    FROM {changed} JOIN host ON host.id = {changed}.key
    LEFT JOIN rest ON rest.host = host.id
    LEFT JOIN silent_host ON silent_host.host = host.id ORDER BY name
    """,
    key="name",
)
STANDING = SharedTable(
    "standing",
    ("domain", "branch", "support", "is_established"),
    """
    SELECT domain, domain, branch, support, is_established
    FROM {changed} JOIN standing ON domain = key ORDER BY domain
    """,
    key="domain",
)
ROBOTS = SharedTable(
    "robots",
    ("origin", "status", "fetched_at", "expires_at", "body", "failures"),
    """
    SELECT substr(origin, instr(origin, '//') + 2), origin, status, fetched_at,
        expires_at, body, failures
    FROM {changed} JOIN robots ON origin = key ORDER BY origin
    """,
    key="origin",
)
LINK = SharedTable(
    "link",
    tuple(LINK_COLUMNS),
    f"""
    SELECT host.name, link.fingerprint, link.url, host.name, link.template,
        CASE link.state WHEN 'leased' THEN 'waiting' ELSE link.state END, link.reason,
        link.promise, link.level, link.depth, link.redirects, link.attempts,
        source.fingerprint, link.anchor, link.parts, retry.due
    FROM {{changed}} {OF_LINK}
    LEFT JOIN link AS source ON source.id = link.found_on
    LEFT JOIN retry ON retry.link = link.id ORDER BY link.id
    """,
    key="fingerprint",
)
PAGE = SharedTable(
    "page",
    tuple(PAGE_COLUMNS),
    f"""
    SELECT host.name, link.fingerprint, fetched_at, status, mime, charset, language,
        title, words, bytes, truncated, degraded, noindex, content, simhash,
        original.fingerprint, score, relevant, page.parts, :prefix || warc, warc_offset,
        warc_length
    FROM {{changed}} {OF_LINK} JOIN page ON page.id = link.id
    LEFT JOIN link AS original ON original.id = copy_of ORDER BY page.number
    """,
)
EXTRACTED = SharedTable(
    "extracted",
    ("page", "packed"),
    f"""
    SELECT host.name, link.fingerprint, packed
    FROM {{changed}} {OF_LINK} JOIN extracted ON extracted.id = link.id
    """,
    key="page",
)
INDEXED = SharedTable(
    "indexed",
    ("page", "words", "features"),
    """
    SELECT host.name, fingerprint, words, features
    FROM {changed} JOIN indexed ON entry = {changed}.key
    JOIN link ON link.id = page JOIN host ON host.id = link.host ORDER BY entry
    """,
    key="page",
)
PROFILE = SharedTable(
    "page_profile",
    ("page", "modified", "in_domain", "concepts", "class", "headings"),
    f"""
    SELECT host.name, link.fingerprint, modified, in_domain, concepts, class, headings
    FROM {{changed}} {OF_LINK} JOIN page_profile ON page_profile.id = link.id
    """,
    key="page",
)
SITE = SharedTable(
    "site",
    ("host", "pages", "in_domain", "concepts", "modified", "entry", "root"),
    """
    SELECT name, name, pages, in_domain, concepts, modified, first.fingerprint,
        home.fingerprint
    FROM {changed} JOIN site ON site.host = {changed}.key
    JOIN host ON host.id = site.host
    LEFT JOIN link AS first ON first.id = entry LEFT JOIN link AS home ON home.id = root
    """,
    key="host",
)
TABLES = (
    HOST,
    STANDING,
    ROBOTS,
    LINK,
    PAGE,
    EXTRACTED,
    INDEXED,
    PROFILE,
    SITE,
)
# The links of a page are one row of PostgreSQL, with an array.
EDGES = """
    SELECT host.name, link.fingerprint, json_group_array(target.fingerprint)
    FROM {changed} JOIN link ON link.id = {changed}.page
    JOIN host ON host.id = link.host JOIN link AS target ON target.id = {changed}.link
    GROUP BY {changed}.page
"""
INSERT_EDGES = "INSERT INTO edges (shard, page, links) VALUES (%s, %s, %s)"
