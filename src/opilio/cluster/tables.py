"""The tables that both crawl.db and PostgreSQL have, and how rows differ between them.

In crawl.db links and hosts have ids, which are this machine's own; in PostgreSQL they
are known by fingerprint and name. Each query reads rows of crawl.db in the form that
PostgreSQL has: the host first, whose shard the row belongs to, then the columns.
"""

from __future__ import annotations

from typing import NamedTuple

from opilio.store.catalogue import PAGE_FACTS


class SharedTable(NamedTuple):
    """A table, its columns after `shard`, and the query that reads them."""

    name: str
    columns: tuple[str, ...]
    query: str  # {changed}: the table of keys that changed
    order: str  # in which rows are written: always the same, or upserts deadlock
    key: str = ""  # of two rows with the same one the later remains; "": there are none
    update: str = ""  # the statement, if it is another one

    def rows(self, changed: str, order: str = "") -> str:
        """The query for the rows whose keys a table or view has."""
        return f"{self.query.format(changed=changed)} ORDER BY {order or self.order}"

    @property
    def statement(self) -> str:
        """Writes one row to PostgreSQL."""
        if self.update:
            return self.update
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
        change = f"DO UPDATE SET {news}, changed = DEFAULT"
        return f"{insert} ON CONFLICT (shard, {self.key}) {change}"


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
PAGE_COLUMNS = ["fingerprint", *PAGE_FACTS]
OF_LINK = "JOIN link ON link.id = {changed}.key JOIN host ON host.id = link.host"

HOST = SharedTable(
    "host",
    ("name", "domain", "ip", "delay", "rest_until", "taken", "why", "silent_since"),
    """
    SELECT name, name, domain, ip, delay, rest_until, taken, rest.reason, since
    FROM {changed} JOIN host ON host.id = {changed}.key
    LEFT JOIN rest ON rest.host = host.id
    LEFT JOIN silent_host ON silent_host.host = host.id
    """,
    order="name",
    key="name",
)
STANDING = SharedTable(
    "standing",
    ("domain", "branch", "support", "is_established"),
    """
    SELECT domain, domain, branch, support, is_established
    FROM {changed} JOIN standing ON domain = key
    """,
    order="domain",
    key="domain",
)
DOMAIN_WORDS = SharedTable(
    "domain_words",
    ("domain", "stale", "words"),
    """
    SELECT domain, domain, stale, words
    FROM {changed} JOIN domain_words ON domain = key
    """,
    order="domain",
    key="domain",
)
ROBOTS = SharedTable(
    "robots",
    ("origin", "status", "fetched_at", "expires_at", "body", "failures"),
    """
    SELECT substr(origin, instr(origin, '//') + 2), origin, status, fetched_at,
        expires_at, body, failures
    FROM {changed} JOIN robots ON origin = key
    """,
    order="origin",
    key="origin",
)
TDMREP = SharedTable(
    "tdmrep",
    ("origin", "status", "fetched_at", "expires_at", "body"),
    """
    SELECT substr(origin, instr(origin, '//') + 2), origin, status, fetched_at,
        expires_at, body
    FROM {changed} JOIN tdmrep ON origin = key
    """,
    order="origin",
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
    LEFT JOIN retry ON retry.link = link.id
    """,
    order="link.id",
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
    LEFT JOIN link AS original ON original.id = copy_of
    """,
    order="page.number",
)
EXTRACTED = SharedTable(
    "extracted",
    ("page", "packed"),
    f"""
    SELECT host.name, link.fingerprint, packed
    FROM {{changed}} {OF_LINK} JOIN extracted ON extracted.id = link.id
    """,
    order="link.id",
    key="page",
)
INDEXED = SharedTable(
    "indexed",
    ("page", "words", "features"),
    """
    SELECT host.name, fingerprint, words, features
    FROM {changed} JOIN indexed ON entry = {changed}.key
    JOIN link ON link.id = page JOIN host ON host.id = link.host
    """,
    order="entry",
    key="page",
)
PROFILE = SharedTable(
    "page_profile",
    ("page", "modified", "in_domain", "concepts", "class", "headings"),
    f"""
    SELECT host.name, link.fingerprint, modified, in_domain, concepts, class, headings
    FROM {{changed}} {OF_LINK} JOIN page_profile ON page_profile.id = link.id
    """,
    order="link.id",
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
    order="name",
    key="host",
)
LABEL = SharedTable(
    "label",
    ("page", "relevant", "at"),
    f"""
    SELECT host.name, link.fingerprint, relevant, at
    FROM {{changed}} {OF_LINK} JOIN label ON label.page = link.id
    """,
    order="link.id",
    key="page",
)
TABLES = (
    HOST,
    STANDING,
    DOMAIN_WORDS,
    ROBOTS,
    TDMREP,
    LINK,
    PAGE,
    EXTRACTED,
    INDEXED,
    PROFILE,
    SITE,
)
# What a label changes besides: the verdict, and whether the page can be found.
VERDICT = SharedTable(
    "label",
    ("page", "relevant", "parts"),
    f"""
    SELECT host.name, link.fingerprint, relevant, page.parts
    FROM {{changed}} {OF_LINK} JOIN page ON page.id = link.id
    """,
    order="link.id",
    update="""
    WITH given (shard, page, relevant, parts) AS (
        VALUES (%s::smallint, %s::bigint, %s::bigint, %s))
    UPDATE page SET relevant = given.relevant, parts = given.parts, changed = DEFAULT
    FROM given WHERE page.shard = given.shard AND page.fingerprint = given.page
    """,
)
FOUND = SharedTable(
    "label",
    ("page", "is_indexed"),
    f"""
    SELECT host.name, link.fingerprint,
        EXISTS (SELECT 1 FROM indexed WHERE indexed.page = link.id)
    FROM {{changed}} {OF_LINK}
    """,
    order="link.id",
    update="DELETE FROM indexed WHERE shard = %s AND page = %s AND %s::int = 0",
)
# Messages belong to shards, which their bodies say; the host is that of the URL.
MESSAGE = SharedTable(
    "message",
    ("taken_at", "state", "outcome", "ended", "key"),
    """
    SELECT json_extract(body, '$.url'), taken_at, state, outcome, ended, message.key
    FROM {changed} JOIN message ON message.id = {changed}.key
    """,
    order="message.id",
    update="""
    WITH given (shard, taken_at, state, outcome, ended, key) AS (
        VALUES (%s::smallint, %s::float8, %s, %s, %s, %s))
    UPDATE message SET taken_at = given.taken_at, state = given.state,
        outcome = given.outcome, ended = given.ended, changed = DEFAULT
    FROM given WHERE message.key = given.key AND message.shard = given.shard
    """,
)
# The links of a page are one row of PostgreSQL, with an array.
EDGES = """
    SELECT host.name, link.fingerprint, json_group_array(target.fingerprint)
    FROM {changed} JOIN link ON link.id = {changed}.page
    JOIN host ON host.id = link.host JOIN link AS target ON target.id = {changed}.link
    GROUP BY {changed}.page
"""
STEERED = (LABEL, VERDICT, FOUND, MESSAGE)
INSERT_EDGES = "INSERT INTO edges (shard, page, links) VALUES (%s, %s, %s)"
