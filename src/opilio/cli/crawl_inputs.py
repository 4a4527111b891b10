"""Reads what `opilio crawl` is given: a topic or folder, options, seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from opilio.assembly.plan import Options, Plan, make_plan, resumed_plan
from opilio.cli.display import show_trouble
from opilio.errors import BadInput
from opilio.settings import Settings, load_toml
from opilio.store.folder import CrawlFolder
from opilio.text import urls
from opilio.text.words import stop_words, tokens
from opilio.topic import Topic, load_topic

SHOWN = 5  # keywords in a message


def parse_options(given: Sequence[str]) -> dict[str, str]:
    """`name=value` as a mapping; BadInput for anything else."""
    parsed = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--option {each!r}: write it as NAME=VALUE")
        parsed[name.strip()] = value.strip()
    return parsed


def choose_plan(
    source: Path,
    output: Path | None,
    settings: Path | None,
    options: Options,
    fresh: bool,
) -> tuple[CrawlFolder, Plan]:
    """The folder and the plan: SOURCE is a topic file, or the folder of a crawl."""
    if is_folder(source):
        if output or fresh or settings:
            raise BadInput(
                f"{source} is the folder of a crawl to resume; -o, --settings and "
                "--fresh need a topic file"
            )
        folder = CrawlFolder(source).require()
        return folder, resumed_plan(folder, None, options=options)
    folder = CrawlFolder(output or Path(f"{source.stem}-crawl"))
    base = load_toml(settings, Settings) if settings else None
    return folder, make_plan(folder, load_topic(source), base, options, fresh=fresh)


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; BadInput if it cannot be a path."""
    try:
        return path.is_dir()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None


def check_seeds(
    seeds: Sequence[str], topic: Topic, folder: CrawlFolder, fresh: bool
) -> list[str]:
    """The seeds given besides the topic's; BadInput for an invalid URL, or if there are
    no seeds at all."""
    known = folder.database.exists() and not fresh
    sources = topic.sources
    if not (seeds or sources.urls or sources.search or sources.sources or known):
        raise BadInput(
            "the crawl has no seeds: add seeds = ['https://…'] to the topic file (or "
            "[seeds] search = ['ddgs'] to ask search engines), or give --seed-url URL"
        )
    found = []
    for seed in seeds:
        url = urls.join("", seed)
        if not url:
            raise BadInput(f"--seed-url {seed!r} is not a URL; write https://…")
        found.append(url)
    return found


def update_keywords(folder: CrawlFolder, plan: Plan) -> None:
    """Follow the pages that were kept so far, as the topic allows, and say how."""
    from opilio.assembly.topic_update import update_automatically  # few topics do

    changes = update_automatically(folder, plan)
    if changes:
        told = ", ".join(f"{one.kind} {one.term}" for one in changes[:SHOWN])
        more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
        show_trouble(f"The keywords follow the kept pages: {told}{more}.")


def keyword_warnings(topic: Topic) -> Iterator[str]:
    """What may be wrong with the keywords."""
    if common := only_common_words(topic):
        yield common
    if any(not word.replace(" ", "").isalnum() for word in topic.weights()):
        from opilio.topic.lost_signs import lost_signs  # few keywords have signs

        if lost := lost_signs(topic.weights()):
            yield lost


def only_common_words(topic: Topic) -> str:
    """A warning if all keywords are very common words; otherwise ""."""
    words = list(topic.weights())
    if not words or topic.ontology or topic.examples or topic.asked:
        return ""
    common = stop_words(topic.language)
    if not all(common.issuperset(tokens(word)) for word in words):
        return ""
    return (
        f"All keywords ({', '.join(words[:SHOWN])}) are words that nearly every page "
        "has, so they cannot tell which pages are relevant; add keywords that are "
        "specific to the topic."
    )
