"""A topic file, a settings file and options in; the plan of a crawl out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from opilio import __version__, urls
from opilio.config import Settings, load
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder
from opilio.topic import Topic, load_topic

Options = Mapping[str, Mapping[str, Any]]
"""Section -> key -> value from the command line; None: not given."""


class Plan(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a crawl was started with: the contents of its crawl.toml."""

    topic: Topic
    opilio: str = __version__


def new_plan(topic: Topic, settings: Path | None, options: Options) -> Plan:
    """A plan for a crawl that begins: defaults, then the file, then the options."""
    base = load(settings, Settings) if settings else Settings()
    sections = {name: getattr(base, name) for name in base.__struct_fields__}
    return override(Plan(topic=topic, **sections), options)


def resumed_plan(folder: CrawlFolder, topic: Topic | None, options: Options) -> Plan:
    """The plan of a crawl that goes on; what decides its order cannot change."""
    stored = load_plan(folder)
    if topic is not None and without_seeds(topic) != without_seeds(stored.topic):
        raise BadInput(
            f"{folder.path} holds a crawl whose topic is another (or the file has "
            "changed since); choose another folder with -o DIR, or start again with "
            "--fresh, which removes what the folder holds"
        )
    for key in ("strategy", "judge"):
        wanted, has = options["crawl"].get(key), getattr(stored.crawl, key)
        if wanted is not None and wanted != has:
            raise BadInput(
                f"{folder.path} is crawled with --{key} {has}, not {wanted}; choose "
                "another folder with -o DIR, or start again with --fresh"
            )
    if topic is not None:
        stored = msgspec.structs.replace(stored, topic=topic)
    return override(stored, options)


def without_seeds(topic: Topic) -> Topic:
    """The topic but for what may be added to later."""
    return msgspec.structs.replace(topic, seeds=(), evaluation=Topic(name="").evaluation)


def override(plan: Plan, options: Options) -> Plan:
    """The plan with the options that were given."""
    changed = {
        section: msgspec.structs.replace(
            getattr(plan, section),
            **{key: value for key, value in values.items() if value is not None},
        )
        for section, values in options.items()
    }
    return msgspec.structs.replace(plan, **changed)


def for_replay(plan: Plan) -> Plan:
    """The plan for recorded pages: one at a time, without waiting, so repeatable."""
    return override(
        plan,
        {"crawl": {"in_flight": 1}, "politeness": {"delay": 0.0, "ip_delay": 0.0}},
    )


def save_plan(plan: Plan, folder: CrawlFolder) -> None:
    """Write crawl.toml, every default spelt out; passwords stay out of it."""
    fetch = msgspec.structs.replace(plan.fetch, proxy=urls.redact(plan.fetch.proxy))
    tables = msgspec.to_builtins(msgspec.structs.replace(plan, fetch=fetch))
    draft = folder.settings.with_suffix(".new")
    draft.write_text(tomli_w.dumps(tables), encoding="utf-8")
    draft.replace(folder.settings)


def load_plan(folder: CrawlFolder) -> Plan:
    """Read crawl.toml of a crawl that exists."""
    return load(folder.require().settings, Plan)


def open_or_begin(
    source: Path, output: Path | None, settings: Path | None, options: Options, fresh: bool
) -> tuple[CrawlFolder, Plan]:
    """The folder and the plan for `opilio crawl SOURCE`.

    SOURCE is 1. the folder of a crawl: go on; 2. a topic file whose folder holds a
    crawl: go on, unless `fresh`; 3. a topic file: begin.
    """
    if source.is_dir():
        if output or fresh or settings:
            raise BadInput(
                f"{source} is the folder of a crawl to go on with; -o, --settings and "
                "--fresh go with a topic file"
            )
        folder = CrawlFolder(source)
        return folder, resumed_plan(folder, None, options)
    topic = load_topic(source)
    folder = CrawlFolder(output or Path(f"{source.stem}-crawl"))
    folder.make()
    if folder.exists and not fresh:
        if settings:
            raise BadInput(
                f"{folder.path} has its settings in crawl.toml already; change them "
                "there, or start again with --fresh"
            )
        return folder, resumed_plan(folder, topic, options)
    return folder, new_plan(topic, settings, options)
