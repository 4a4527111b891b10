"""The options of `opilio topic build`, in the groups that its help shows."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

QUERIES = "From queries"
ONTOLOGY = "From an ontology"
PAGES = "From saved pages"
SEARCH = "From a web search"
UPDATE = "Better keywords from a crawl"


class QueryMode(StrEnum):
    """How queries are weighted."""

    FIXED = "fixed"
    PAPER = "paper"


KeywordList = Annotated[
    str, typer.Option(metavar="WORDS", help='Words and phrases: "bee, queen bee".')
]
TopicName = Annotated[
    str,
    typer.Option(help="The topic's name. \\[default: the first word or file]"),
]
SeedUrlList = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Where to start; may be repeated."),
]
LanguageCodes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODE",
        help="Keep only pages in this language; the first is also the language of "
        "the topic's terms. May be repeated. \\[default: en, any pages]",
    ),
]
TopTerms = Annotated[
    int,
    typer.Option(min=1, max=49, help="Keywords to take from examples or ontology."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file to write. \\[default: the topic's name and .toml]",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")]
QueryFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A query log: a text file with a query per line.",
        rich_help_panel=QUERIES,
    ),
]
Phrases = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORDS",
        help="Treat these words of queries as one phrase; may be repeated.",
        rich_help_panel=QUERIES,
    ),
]
WeightMode = Annotated[
    QueryMode,
    typer.Option(
        help="Weight words by share of queries, or as in the paper.",
        rich_help_panel=QUERIES,
    ),
]
OntologyPaths = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="SKOS, OWL, RDFS, OBO or CSV; may be repeated.",
        rich_help_panel=ONTOLOGY,
    ),
]
Concepts = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A concept to look for; may be repeated.",
        rich_help_panel=ONTOLOGY,
    ),
]
ExamplePaths = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR|FILE",
        help="Saved pages about the topic; may be repeated.",
        rich_help_panel=PAGES,
    ),
]
IrrelevantPaths = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR|FILE",
        help="Saved pages that are not about it.",
        rich_help_panel=PAGES,
    ),
]
ClassFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="A folder with a folder of saved pages per class.",
        rich_help_panel=PAGES,
    ),
]
TargetClass = Annotated[
    str,
    typer.Option(metavar="NAME", help="The class to look for.", rich_help_panel=PAGES),
]
SearchQuery = Annotated[
    str,
    typer.Option(
        metavar="QUERY",
        help="Ask search engines; the pages that they find become seeds, and "
        "their words keywords.",
        rich_help_panel=SEARCH,
    ),
]
EngineNames = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Ask this engine: ddgs, ddgs:NAME or searxng:URL; may be repeated. "
        "\\[default: ddgs]",
        rich_help_panel=SEARCH,
    ),
]
MostFound = Annotated[
    int,
    typer.Option(
        min=1, max=499, help="Pages to take from all engines.", rich_help_panel=SEARCH
    ),
]
RequestDelay = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Wait this long between two requests to one host.",
        rich_help_panel=SEARCH,
    ),
]
Contact = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="A URL or e-mail address where you can be reached.",
        rich_help_panel=SEARCH,
    ),
]
Proxy = Annotated[
    str,
    typer.Option(
        metavar="URL", help="Ask everything through this proxy.", rich_help_panel=SEARCH
    ),
]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CIDR",
        help="A private network that may be asked; repeatable.",
        rich_help_panel=SEARCH,
    ),
]
UpdateDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Propose better keywords for a crawl, from the pages it kept.",
        rich_help_panel=UPDATE,
    ),
]
AcceptTerms = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TERM",
        help="With --update: make this change, or all; repeatable.",
        rich_help_panel=UPDATE,
    ),
]
RejectTerms = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TERM",
        help="With --update: never propose this; repeatable.",
        rich_help_panel=UPDATE,
    ),
]
