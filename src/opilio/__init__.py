"""Opilio: a focused web crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opilio.api import Crawl
    from opilio.config import Section, Settings
    from opilio.crawled import CrawledPage, WarcPlace
    from opilio.errors import (
        BadInput,
        FetchError,
        MachineLimit,
        OpilioError,
        Transient,
        Unusable,
    )
    from opilio.exporting import Exported, Exporter
    from opilio.protocols import Judge, SeedRequest, SeedSource, Strategy
    from opilio.search.find import Answer, Hit
    from opilio.sites.evolver import Outcome
    from opilio.sites.expander import Expansion
    from opilio.store.lookup import Explanation, Summary
    from opilio.topic import Examples, Keyword, OntologyFiles, QueryLog, Sources, Topic
    from opilio.types import (
        Block,
        Estimate,
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

__version__ = "0.1.0.dev0"
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
    "Topic",
    "Transient",
    "Unusable",
    "Verdict",
    "WarcPlace",
    "__version__",
]

HOMES = {
    "Crawl": "opilio.api",
    "Section": "opilio.config",
    "Settings": "opilio.config",
    "CrawledPage": "opilio.crawled",
    "WarcPlace": "opilio.crawled",
    "BadInput": "opilio.errors",
    "FetchError": "opilio.errors",
    "MachineLimit": "opilio.errors",
    "OpilioError": "opilio.errors",
    "Transient": "opilio.errors",
    "Unusable": "opilio.errors",
    "Exported": "opilio.exporting",
    "Exporter": "opilio.exporting",
    "Judge": "opilio.protocols",
    "SeedRequest": "opilio.protocols",
    "SeedSource": "opilio.protocols",
    "Strategy": "opilio.protocols",
    "Answer": "opilio.search.find",
    "Hit": "opilio.search.find",
    "Outcome": "opilio.sites.evolver",
    "Expansion": "opilio.sites.expander",
    "Explanation": "opilio.store.lookup",
    "Summary": "opilio.store.lookup",
    "Examples": "opilio.topic",
    "Keyword": "opilio.topic",
    "OntologyFiles": "opilio.topic",
    "QueryLog": "opilio.topic",
    "Sources": "opilio.topic",
    "Topic": "opilio.topic",
    "Block": "opilio.types",
    "Estimate": "opilio.types",
    "Knowledge": "opilio.types",
    "Lease": "opilio.types",
    "Link": "opilio.types",
    "Page": "opilio.types",
    "Ranked": "opilio.types",
    "Reads": "opilio.types",
    "Response": "opilio.types",
    "State": "opilio.types",
    "Subject": "opilio.types",
    "Verdict": "opilio.types",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: reader processes start faster."""
    if name not in HOMES:
        raise AttributeError(f"module 'opilio' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(HOMES[name]), name)
