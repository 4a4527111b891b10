"""Opilio: a focused web crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opilio.api import Crawl, tell
    from opilio.assembly.crawled_pages import CrawledPage, WarcPlace
    from opilio.assembly.export import Exported, Exporter
    from opilio.assembly.rejudge_pages import Rejudged
    from opilio.errors import (
        BadInput,
        FetchError,
        MachineLimit,
        OpilioError,
        Transient,
        Unusable,
    )
    from opilio.progress import Estimate
    from opilio.protocols import Judge, SeedRequest, SeedSource, Strategy
    from opilio.records import (
        Block,
        Knowledge,
        Lease,
        Link,
        Page,
        Ranked,
        Reads,
        Response,
        State,
        Subject,
        Verdict,
    )
    from opilio.search.searcher import Answer, Hit
    from opilio.settings import Section, Settings
    from opilio.sites.evolver import Outcome
    from opilio.sites.expander import Expansion
    from opilio.store.lookup import Explanation, Summary
    from opilio.store.message_log import ToldMessage
    from opilio.topic import Examples, Keyword, OntologyFiles, QueryLog, Sources, Topic

__version__ = "0.2.0"
__all__ = [
    "Answer",
    "BadInput",
    "Block",
    "Crawl",
    "CrawledPage",
    "Estimate",
    "Examples",
    "Expansion",
    "Explanation",
    "Exported",
    "Exporter",
    "FetchError",
    "Hit",
    "Judge",
    "Keyword",
    "Knowledge",
    "Lease",
    "Link",
    "MachineLimit",
    "OntologyFiles",
    "OpilioError",
    "Outcome",
    "Page",
    "QueryLog",
    "Ranked",
    "Reads",
    "Rejudged",
    "Response",
    "Section",
    "SeedRequest",
    "SeedSource",
    "Settings",
    "Sources",
    "State",
    "Strategy",
    "Subject",
    "Summary",
    "ToldMessage",
    "Topic",
    "Transient",
    "Unusable",
    "Verdict",
    "WarcPlace",
    "__version__",
    "tell",
]

HOMES = {
    "Crawl": "opilio.api",
    "tell": "opilio.api",
    "Section": "opilio.settings",
    "Settings": "opilio.settings",
    "CrawledPage": "opilio.assembly.crawled_pages",
    "WarcPlace": "opilio.assembly.crawled_pages",
    "BadInput": "opilio.errors",
    "FetchError": "opilio.errors",
    "MachineLimit": "opilio.errors",
    "OpilioError": "opilio.errors",
    "Transient": "opilio.errors",
    "Unusable": "opilio.errors",
    "Exported": "opilio.assembly.export",
    "Exporter": "opilio.assembly.export",
    "Rejudged": "opilio.assembly.rejudge_pages",
    "Judge": "opilio.protocols",
    "SeedRequest": "opilio.protocols",
    "SeedSource": "opilio.protocols",
    "Strategy": "opilio.protocols",
    "Answer": "opilio.search.searcher",
    "Hit": "opilio.search.searcher",
    "Outcome": "opilio.sites.evolver",
    "Expansion": "opilio.sites.expander",
    "Explanation": "opilio.store.lookup",
    "Summary": "opilio.store.lookup",
    "ToldMessage": "opilio.store.message_log",
    "Examples": "opilio.topic",
    "Keyword": "opilio.topic",
    "OntologyFiles": "opilio.topic",
    "QueryLog": "opilio.topic",
    "Sources": "opilio.topic",
    "Topic": "opilio.topic",
    "Block": "opilio.records",
    "Estimate": "opilio.progress",
    "Knowledge": "opilio.records",
    "Lease": "opilio.records",
    "Link": "opilio.records",
    "Page": "opilio.records",
    "Ranked": "opilio.records",
    "Reads": "opilio.records",
    "Response": "opilio.records",
    "State": "opilio.records",
    "Subject": "opilio.records",
    "Verdict": "opilio.records",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: reader processes start faster."""
    if name not in HOMES:
        raise AttributeError(f"module 'opilio' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(HOMES[name]), name)
