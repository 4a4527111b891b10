"""`opilio topic`: makes a topic file (`build`), or shows its tables (`show`)."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from opilio.assembly.event_loop import run_loop
from opilio.cli.terminal import foreign, stderr
from opilio.cli.topic_options import (
    AcceptTerms,
    AllowNetwork,
    AsJson,
    ClassFolder,
    Concepts,
    Contact,
    EngineNames,
    ExamplePaths,
    Force,
    IrrelevantPaths,
    KeywordList,
    LanguageCodes,
    MostFound,
    OntologyPaths,
    OutputFile,
    Phrases,
    Proxy,
    QueryFile,
    QueryMode,
    RejectTerms,
    RequestDelay,
    SearchQuery,
    SeedUrlList,
    TargetClass,
    TopicName,
    TopTerms,
    UpdateDir,
    WeightMode,
)
from opilio.cli.topic_rules import learn_topic_rules
from opilio.cli.topic_sources import TopicSources, check_sources, draft_of
from opilio.cli.topic_tables import show as show_tables
from opilio.cli.topic_tables import tables_of
from opilio.cli.topic_update import update_topic
from opilio.errors import BadInput
from opilio.settings import FetchSettings, build_section
from opilio.subject.compile import (
    FROM_EXAMPLES,
    compile_topic,
    seek_concepts,
    weights_of,
)
from opilio.subject.followed_queries import FollowedLog
from opilio.topic import Topic, check_topic, load_topic
from opilio.topic.draft import write
from opilio.topic.file import with_absolute_paths
from opilio.topic.lost_signs import lost_signs
from opilio.topic.rules import ClassRules

SEARCHED = 20  # pages to build a topic from, if not told otherwise

topic_app = typer.Typer(
    name="topic",
    help="Make a topic file, or show its contents.",
    no_args_is_help=True,
)


@topic_app.command()
def build(
    keywords: KeywordList = "",
    name: TopicName = "",
    seed_url: SeedUrlList = None,
    language: LanguageCodes = None,
    top: TopTerms = FROM_EXAMPLES,
    output: OutputFile = None,
    force: Force = False,
    as_json: AsJson = False,
    queries: QueryFile = None,
    phrase: Phrases = None,
    mode: WeightMode = QueryMode.FIXED,
    ontology: OntologyPaths = None,
    concept: Concepts = None,
    examples: ExamplePaths = None,
    irrelevant: IrrelevantPaths = None,
    classes: ClassFolder = None,
    target: TargetClass = "",
    search: SearchQuery = "",
    engine: EngineNames = None,
    most: MostFound = SEARCHED,
    delay: RequestDelay = 1.0,
    contact: Contact = "",
    proxy: Proxy = "",
    allow_network: AllowNetwork = None,
    update: UpdateDir = None,
    accept: AcceptTerms = None,
    reject: RejectTerms = None,
) -> None:
    """Make a topic file from keywords, queries, an ontology or example pages.

    Examples:

        opilio topic build --keywords "bee, honey" --seed-url https://example.org/

        opilio topic build --search "solar eclipse" --contact me@example.org

        opilio topic build --update my-crawl --accept all

        opilio topic build --queries queries.txt --name elections

        opilio topic build --ontology pc.ttl --concept CPU

        opilio topic build --examples good/ --irrelevant bad/ --name birds
    """
    if update:
        update_topic(update, accept or [], reject or [], as_json)
        return
    if accept or reject:
        raise BadInput("--accept and --reject are for --update DIR; give that too")
    sources = TopicSources(
        name=" ".join(name.split()),
        languages=tuple(language or ()),
        words=tuple(filter(None, (" ".join(w.split()) for w in keywords.split(",")))),
        seeds=tuple(seed_url or ()),
        queries=queries,
        phrases=tuple(phrase or ()),
        mode=mode.value,
        ontology=tuple(ontology or ()),
        concepts=tuple(concept or ()),
        relevant=tuple(examples or ()),
        irrelevant=tuple(irrelevant or ()),
        classes=classes,
        target=target,
        top=top,
        searched=" ".join(search.split()),
    )
    check_sources(sources)
    if (engine or contact or proxy or allow_network) and not search:
        raise BadInput("--engine and the network are for --search QUERY; give that too")
    file = output or Path(f"{file_name(sources.title)}.toml")
    if file.is_dir():
        raise BadInput(f"{file} is a folder; name a file with -o")
    if file.exists() and not force:
        raise BadInput(f"{file} exists; choose another with -o, or give --force")
    if not file.parent.is_dir():
        raise BadInput(f"{file.parent} is not a folder; make it, or choose another")
    if search:
        fetch = FetchSettings(
            contact=contact, proxy=proxy, allow_networks=tuple(allow_network or ())
        )
        sources = with_found(sources, engine or ["ddgs"], most, fetch, delay)
    text = write(draft_of(sources, file.parent))
    topic = with_absolute_paths(
        build_section(tomllib.loads(text), Topic, str(file)), file.parent
    )
    check_topic(topic, str(file))
    tables = read_tables(topic, None)  # reads everything, so errors come before writing
    file.write_text(text, encoding="utf-8")
    print_tables(tables, as_json)
    warn(topic)
    tell_next(file, topic.sources.urls)


@topic_app.command()
def show(
    topic: Annotated[
        Path, typer.Argument(metavar="TOPIC.toml", help="The topic file.")
    ],
    replay: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="WARC",
            help="WARC files with the pages that the examples of \\[classes] link to, "
            "for the rules; may be repeated.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Fetch those pages from the network.")
    ] = False,
    proxy: Annotated[
        str, typer.Option(metavar="URL", help="Fetch them through this proxy.")
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Show all rows of long tables.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the tables of a topic file: weights, importances and rules.

    Examples:

        opilio topic show chemistry.toml

        opilio topic show university.toml --replay pages.warc.gz
    """
    sought = load_topic(topic)
    rules = None
    if replay or live:
        if sought.classes is None:
            raise BadInput(f"{topic} has no [classes], so there are no rules")
        rules = run_loop(learn_topic_rules(sought, replay or (), proxy))
    print_tables(read_tables(sought, rules), as_json, everything)
    warn(sought)
    if sought.classes and not rules:
        stderr.print("For the rules between classes, give --replay WARC or --live.")


def with_found(
    sources: TopicSources,
    engines: Sequence[str],
    most: int,
    fetch: FetchSettings,
    delay: float,
) -> TopicSources:
    """The sources with the pages that search engines find, and these as seeds."""
    from opilio.assembly.topic_search import find_pages  # its libraries take their time

    language = Topic(name="", languages=sources.languages).language
    with stderr.status("Asking search engines and reading what they find."):
        found = run_loop(
            find_pages(sources.searched, engines, most, language, fetch, delay)
        )
    for seed in found.seeds:
        told = f"{seed.priority.value:<7} {', '.join(seed.sources)}: {seed.url}"
        stderr.print(foreign(told), style="dim", soft_wrap=True)
    stderr.print(f"{len(found.pages):,} of {len(found.seeds):,} pages could be read")
    seeds = (*sources.seeds, *(seed.url for seed in found.seeds))
    return msgspec.structs.replace(
        sources, found=tuple(found.pages), seeds=tuple(dict.fromkeys(seeds))
    )


def read_tables(topic: Topic, rules: ClassRules | None) -> dict[str, Any]:
    """Read all that a topic names and return its tables."""
    log = FollowedLog(topic.asked, topic.language) if topic.asked else None
    asked = log.build() if log else {}
    subject = compile_topic(topic, asked)
    tables = tables_of(topic, subject, log.now.table if log else None, rules)
    if topic.ontology:
        from opilio.cli.topic_ontologies import ontologies_of  # few topics have one

        sought = seek_concepts(topic.ontology, list(weights_of(topic, asked)))
        tables["ontologies"] = ontologies_of(sought)
    return tables


def print_tables(
    tables: dict[str, Any], as_json: bool, everything: bool = False
) -> None:
    """Print the tables for people, or as JSON."""
    if as_json:
        typer.echo(msgspec.json.encode(tables).decode())
    else:
        show_tables(tables, everything=everything)


def warn(topic: Topic) -> None:
    """Warn about keywords that lose their meaning when they are split into words."""
    if warning := lost_signs(topic.weights()):
        stderr.print(foreign(warning, style="yellow"), soft_wrap=True)


def tell_next(target: Path, seeds: Sequence[str]) -> None:
    """Print what was written and the next command."""
    command = f"opilio crawl {shlex.quote(str(target))}"
    option = "" if seeds else " --seed-url URL"
    stderr.print()
    stderr.print(foreign(f"Written: {target}. Check it, then:"), soft_wrap=True)
    stderr.print(Text("    ") + foreign(command + option), soft_wrap=True)


def file_name(title: str) -> str:
    """The title of a topic as the name of a file."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")[:60] or "topic"
