"""A topic, settings and options in; the plan of a crawl out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import tomli_w

from opilio import __version__, urls
from opilio.config import Settings, load
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder
from opilio.topic import Topic

Options = Mapping[str, Mapping[str, Any]]
"""Section -> key -> value from the command line; None: not given."""


class Plan(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything a crawl was started with: the contents of its crawl.toml."""

    topic: Topic
    opilio: str = __version__


def make_plan(
    folder: CrawlFolder,
    topic: Topic,
    settings: Settings | None = None,
    options: Options | None = None,
    *,
    fresh: bool = False,
) -> Plan:
    """The plan of a crawl in this folder: a new one, or the one that is there."""
    folder.check_free()
    if folder.exists and not fresh:
        if settings:
            raise BadInput(
                f"{folder.path} has its settings in crawl.toml already; change them "
                "there, or start again with --fresh"
            )
        return resumed_plan(folder, topic, options or {})
    base = settings or Settings()
    sections = {name: getattr(base, name) for name in base.__struct_fields__}
    return override(Plan(topic=topic, **sections), options or {})


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
        wanted, has = options.get("crawl", {}).get(key), getattr(stored.crawl, key)
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
    return msgspec.structs.replace(
        topic, seeds=(), evaluation=Topic(name="").evaluation
    )


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
    return load(folder.settings, Plan)
