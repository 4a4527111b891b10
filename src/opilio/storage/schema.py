"""The tables of crawl.db, as SQL with a comment on every column."""

from __future__ import annotations

import re

VERSION = 1

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (          -- facts about this file
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS host (          -- every host a link points to
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,             -- with its port, if that is not the default
    domain TEXT NOT NULL,                  -- registrable domain
    ip TEXT,                               -- the address it answered at last
    delay REAL,                            -- its own Crawl-delay in seconds
    rest_until REAL,                       -- seconds since 1970; no visit before
    taken INTEGER NOT NULL DEFAULT 0       -- pages of it, against its budget
);

CREATE TABLE IF NOT EXISTS standing (      -- who links to registrable domains, see frontier/standing.py
    domain TEXT PRIMARY KEY,
    branch TEXT NOT NULL,                  -- the domain by which it came into the crawl
    support TEXT NOT NULL,                 -- independent domains that link to it, with blanks between
    is_established INTEGER NOT NULL        -- it has a seed or much support
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS domain_words (  -- of domains without a seed, see frontier/domain_words.py
    domain TEXT PRIMARY KEY,
    stale INTEGER NOT NULL,                -- pages that repeat words, less what was forgiven
    words BLOB NOT NULL                    -- hashes of words, sampled
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rest (          -- why a host was last given rest, see host.rest_until
    host INTEGER PRIMARY KEY REFERENCES host,
    reason TEXT NOT NULL                   -- of the visit after which it was
);

CREATE TABLE IF NOT EXISTS robots (        -- robots.txt of each origin, as last seen
    origin TEXT PRIMARY KEY,               -- scheme://host[:port]
    status TEXT NOT NULL,                  -- rules, unavailable or unreachable
    fetched_at REAL NOT NULL,              -- seconds since 1970
    expires_at REAL NOT NULL,
    body BLOB NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0    -- in a row, while unreachable
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS tdmrep (        -- tdmrep.json of origins with kept pages, as last seen
    origin TEXT PRIMARY KEY,               -- scheme://host[:port]
    status TEXT NOT NULL,                  -- rules, none, forbidden by robots.txt, or failed
    fetched_at REAL NOT NULL,              -- seconds since 1970
    expires_at REAL NOT NULL,
    body BLOB NOT NULL                     -- its rules, as JSON
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS link (          -- every URL ever found, once
    id INTEGER PRIMARY KEY,                -- in order of discovery
    url TEXT NOT NULL,                     -- canonical form
    fingerprint INTEGER NOT NULL,          -- 64 bits of it
    host INTEGER NOT NULL REFERENCES host,
    template INTEGER NOT NULL DEFAULT 0,   -- fingerprint of the URL without numbers and values; 0: it has none
    state TEXT NOT NULL,                   -- waiting (or leased), kept, irrelevant, copy, unusable, parked
    reason TEXT,                           -- why it is unusable, parked or a copy
    promise REAL NOT NULL,
    level INTEGER NOT NULL DEFAULT 0,      -- depth in a tunnel
    depth INTEGER NOT NULL DEFAULT 0,      -- links from a seed
    redirects INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    found_on INTEGER NOT NULL DEFAULT 0,   -- link.id of the page whose evidence set the promise; 0: a seed
    anchor TEXT,                           -- the words of that link
    parts TEXT                             -- JSON: how the promise came about
);

CREATE TABLE IF NOT EXISTS retry (         -- links that failed for now, and when they are tried again
    link INTEGER PRIMARY KEY REFERENCES link,
    due REAL NOT NULL                      -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS silent_host (   -- hosts that gave no good answer for a while
    host INTEGER PRIMARY KEY REFERENCES host,
    since REAL NOT NULL                    -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS new_promise (   -- promises that `link` does not have yet, see storage/promise_log.py
    id INTEGER PRIMARY KEY,                -- in the order in which they were given
    group_id INTEGER NOT NULL,             -- of 4,096 links
    previous INTEGER NOT NULL,             -- the last row of the group before this one; 0: there is none
    promises BLOB NOT NULL                 -- msgpack: link, promise, parts
);

CREATE TABLE IF NOT EXISTS suspect (       -- pages that were in hand when the process died
    fingerprint INTEGER PRIMARY KEY,       -- of the URL, which may not be in `link` yet
    deaths INTEGER NOT NULL                -- 3: it is not tried again
);

CREATE TABLE IF NOT EXISTS page (          -- every URL that answered
    id INTEGER PRIMARY KEY REFERENCES link,
    number INTEGER NOT NULL,               -- 1, 2, 3, … in the order of the crawl
    fetched_at REAL NOT NULL,              -- seconds since 1970
    status INTEGER NOT NULL,               -- HTTP
    mime TEXT,
    charset TEXT,
    language TEXT,
    title TEXT,
    words INTEGER,
    bytes INTEGER NOT NULL,                -- of the body, decoded
    truncated TEXT,                        -- why the body is not whole
    degraded TEXT,                         -- why it could not be read as a whole
    noindex INTEGER NOT NULL DEFAULT 0,    -- the page asks not to be shown
    content INTEGER,                       -- fingerprint of the body
    simhash INTEGER,                       -- of the visible text
    copy_of INTEGER REFERENCES link,       -- what this is a copy of, or redirects to
    score REAL,                            -- the verdict
    relevant INTEGER,
    parts TEXT,                            -- JSON: how the verdict came about
    warc TEXT,                             -- file in warc/
    warc_offset INTEGER,
    warc_length INTEGER
);

CREATE TABLE IF NOT EXISTS extracted (     -- the main text of a page that was kept, and the facts about it
    id INTEGER PRIMARY KEY REFERENCES page,
    packed BLOB NOT NULL                   -- compressed: storage/packed.py
);

CREATE TABLE IF NOT EXISTS version (       -- what a page that was visited again has said, each in turn; the last is the page
    id INTEGER PRIMARY KEY,                -- in order of fetching
    page INTEGER NOT NULL REFERENCES page,
    fetched_at REAL NOT NULL,              -- seconds since 1970: when it was first seen so
    seen_at REAL NOT NULL,                 -- and when last
    visits INTEGER NOT NULL DEFAULT 1,     -- that found it so
    tried_at REAL NOT NULL,                -- when it was last asked for, with or without success
    failures INTEGER NOT NULL DEFAULT 0,   -- in a row since it was last seen
    trouble TEXT,                          -- why it could not be seen then: http_404, moved, copy, timeout, …
    status INTEGER NOT NULL,               -- HTTP
    title TEXT,
    content INTEGER,                       -- fingerprint of the body
    simhash INTEGER,                       -- of the visible text
    score REAL,                            -- the verdict
    relevant INTEGER,
    warc TEXT,                             -- file in warc/
    warc_offset INTEGER,
    warc_length INTEGER,
    change TEXT                            -- JSON: what differs from the version before
);
CREATE INDEX IF NOT EXISTS version_page ON version (page);

CREATE INDEX IF NOT EXISTS page_number ON page (number);
CREATE INDEX IF NOT EXISTS page_copy_of ON page (copy_of) WHERE copy_of IS NOT NULL;

CREATE TABLE IF NOT EXISTS edge (          -- page -> link, each pair once
    page INTEGER NOT NULL REFERENCES page,
    link INTEGER NOT NULL REFERENCES link
);

CREATE TABLE IF NOT EXISTS page_profile (  -- of a page that was judged: what no other table has
    id INTEGER PRIMARY KEY REFERENCES page,
    modified REAL,                         -- when it last changed, seconds since 1970, if that is known
    in_domain INTEGER NOT NULL,            -- Domain_Mark: it was relevant
    concepts TEXT NOT NULL,                -- JSON: concept of the topic -> times it is named
    class TEXT,                            -- of the ontology, by OntoClassifier
    headings TEXT NOT NULL                 -- JSON: their texts, h1 first
);

CREATE TABLE IF NOT EXISTS site (          -- every host of which a page was judged or the root visited
    host INTEGER PRIMARY KEY REFERENCES host,
    pages INTEGER NOT NULL,                -- N_S: those judged
    in_domain INTEGER NOT NULL,            -- N_S,D: those relevant
    concepts TEXT NOT NULL,                -- JSON: concept -> N_S,C: relevant pages that it is a main concept of
    modified REAL,                         -- the latest of its pages
    entry INTEGER NOT NULL,                -- link.id of the page where the crawl came in; 0: there is none yet
    root INTEGER REFERENCES link           -- its first address, http://host/, once visited
);

CREATE TABLE IF NOT EXISTS warc (          -- how far each file is known to be good
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS learnt (        -- what judge and strategy know by now
    name TEXT PRIMARY KEY,                 -- judge, strategy, weights, estimate
    state BLOB NOT NULL                    -- as the part itself writes it
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS llm_answer (    -- what a language model said of doubtful pages
    key TEXT PRIMARY KEY,                  -- hash of endpoint, model and question
    url TEXT NOT NULL,                     -- of the page
    answer TEXT NOT NULL,                  -- JSON: relevance and reason
    at REAL NOT NULL                       -- seconds since 1970
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS llm_cost (      -- what these answers cost, one row
    id INTEGER PRIMARY KEY,                -- 1
    calls INTEGER NOT NULL,                -- of the endpoint, in all runs
    tokens INTEGER NOT NULL                -- as it counts them, or as estimated
);

CREATE TABLE IF NOT EXISTS note (          -- what the strategy knows of URLs
    key INTEGER PRIMARY KEY,               -- mostly a fingerprint
    value BLOB NOT NULL                    -- msgpack
);

CREATE TABLE IF NOT EXISTS indexed (       -- pages that can be searched
    entry INTEGER PRIMARY KEY,             -- grows: one that is read again gets a new one
    page INTEGER NOT NULL,                 -- page.id; 0: it says something else by now
    words BLOB NOT NULL,                   -- hashes of its stems: title, headings, text
    features BLOB NOT NULL                 -- msgpack: topic term -> times it occurs
);
CREATE INDEX IF NOT EXISTS indexed_page ON indexed (page);

CREATE TABLE IF NOT EXISTS message (       -- what the crawl was told, in the order in which it was taken up
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,              -- as in inbox.db
    at REAL NOT NULL,                      -- when it was sent, seconds since 1970
    taken_at REAL NOT NULL,                -- and when it was taken up
    body TEXT NOT NULL,                    -- JSON: the verb and what belongs to it
    state TEXT NOT NULL,                   -- done, refused, or serving: pages are fetched for it
    outcome TEXT NOT NULL,                 -- in words
    ended TEXT                             -- why a query ended: pages, links (no other matches), time, paused
);

CREATE TABLE IF NOT EXISTS asked_page (    -- pages that were fetched for a query
    message INTEGER NOT NULL REFERENCES message,
    page INTEGER NOT NULL REFERENCES link,
    PRIMARY KEY (message, page)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS host_rule (     -- hosts that a user has blocked or boosted
    host TEXT PRIMARY KEY,                 -- holds for those below it too
    factor REAL NOT NULL                   -- of the promises of its links; 0: blocked
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS label (         -- pages that a user has looked at
    page INTEGER PRIMARY KEY REFERENCES page,
    relevant INTEGER NOT NULL,
    at REAL NOT NULL                       -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS event (         -- starts and stops, in order
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,                      -- seconds since 1970
    kind TEXT NOT NULL,
    detail TEXT                            -- JSON
);
"""

TABLE = re.compile(
    r"^CREATE TABLE IF NOT EXISTS (\w+) (.*?);$", re.DOTALL | re.MULTILINE
)
