"""The plan of a crawl: its topic and settings, as stored in crawl.toml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from opilio import __version__, extensions
from opilio.errors import BadInput
from opilio.settings import (
    CrawlSettings,
    PolitenessSettings,
    Settings,
    checked_section,
    load_toml,
)
from opilio.store.folder import CrawlFolder
from opilio.text import urls
from opilio.topic import Topic

Options = Mapping[str, Mapping[str, Any]]
"""Section -> key -> value from the command line; None: not given."""


HIDDEN = "***@"  # replaces the user name and password in a proxy's URL


class Plan(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The topic and all settings of a crawl: the contents of its crawl.toml."""

    topic: Topic
    replay: tuple[str, ...] = ()  # WARC files to crawl instead of the network
    online: bool = False  # what they lack is fetched from the network
    opilio: str = __version__

    @property
    def is_offline(self) -> bool:
        """Whether nothing is fetched from the network."""
        return bool(self.replay) and not self.online


def make_plan(
    folder: CrawlFolder,
    topic: Topic,
    settings: Settings | None = None,
    options: Options | None = None,
    *,
    fresh: bool = False,
) -> Plan:
    """The plan of a crawl in this folder: a new one, or the stored one."""
    folder.check_free()
    if folder.exists and not fresh:
        return resumed_plan(folder, topic, settings, options)
    return with_found_files(
        override(with_settings(Plan(topic=topic), settings), options or {})
    )


def resumed_plan(
    folder: CrawlFolder,
    topic: Topic | None,
    settings: Settings | None = None,
    options: Options | None = None,
) -> Plan:
    """The plan of a resumed crawl; settings that decide its order cannot change."""
    stored = load_plan(folder)
    if topic is not None and without_seeds(topic) != without_seeds(stored.topic):
        raise BadInput(
            f"{folder.path} holds a crawl for another topic, or the topic file has "
            f"changed since. Run `opilio rejudge {folder.path} TOPIC.toml` to judge "
            "its pages and links by the new topic, choose another folder with -o DIR, "
            "or start over with --fresh, which deletes the contents of the folder"
        )
    plan = override(with_settings(stored, settings), options or {})
    plan = with_found_files(plan)
    if topic is not None:
        plan = msgspec.structs.replace(plan, topic=topic)
    for key in ("strategy", "judge", "vectors", "weights"):
        wanted, has = getattr(plan.crawl, key), getattr(stored.crawl, key)
        if wanted != has:
            raise BadInput(
                f"{folder.path} is crawled with --{key} {has}, not {wanted}. Run "
                f"`opilio rejudge {folder.path} --{key} {wanted}` to change that, "
                "choose another folder with -o DIR, or start over with --fresh"
            )
    if plan.embedding != stored.embedding and plan.crawl.judge == "embedding":
        raise BadInput(
            f"{folder.path} is crawled with the model {stored.embedding.model}, not "
            f"{plan.embedding.model}. Run `opilio rejudge {folder.path} "
            f"--embedding-model {plan.embedding.model}` to change that"
        )
    if plan.options != stored.options:
        raise BadInput(
            f"{folder.path} is crawled with the options {dict(stored.options)}. "
            f"Run `opilio rejudge {folder.path} --option NAME=VALUE` to change them, "
            "choose another folder with -o DIR, or start over with --fresh"
        )
    if HIDDEN in plan.fetch.proxy:
        raise BadInput(
            "the password of the proxy is not stored; give --proxy "
            f"{plan.fetch.proxy.replace(HIDDEN, 'user:password@')} again"
        )
    return plan


def with_found_files(plan: Plan) -> Plan:
    """The plan with absolute paths to the files of its strategy, judge and model."""
    crawl = msgspec.structs.replace(
        plan.crawl,
        strategy=extensions.located(plan.crawl.strategy),
        judge=extensions.located(plan.crawl.judge),
    )
    embedding = plan.embedding
    if embedding.model:
        path = str(Path(embedding.model).expanduser().absolute())
        embedding = msgspec.structs.replace(embedding, model=path)
    return msgspec.structs.replace(plan, crawl=crawl, embedding=embedding)


def with_settings(plan: Plan, settings: Settings | None) -> Plan:
    """The plan with all sections of a settings file."""
    if settings is None:
        return plan
    sections = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    return msgspec.structs.replace(plan, **sections)


def without_seeds(topic: Topic) -> Topic:
    """The topic without its seeds, which may be added to later."""
    return msgspec.structs.replace(
        topic, seeds=(), evaluation=Topic(name="").evaluation
    )


def override(plan: Plan, options: Options) -> Plan:
    """The plan with these options; BadInput for an option that is not valid."""
    if "options" in options:  # of the strategy, whose keys only it knows
        plan = msgspec.structs.replace(
            plan, options={**plan.options, **options["options"]}
        )
    changed = {
        section: msgspec.structs.replace(
            getattr(plan, section),
            **{key: value for key, value in values.items() if value is not None},
        )
        for section, values in options.items()
        if section != "options"
    }
    return checked_section(
        msgspec.structs.replace(plan, **changed), Plan, "the options"
    )


OFFLINE: Options = {
    "crawl": {"in_flight": 1},
    "politeness": {"delay": 0.0, "ip_delay": 0.0},
}
ONLINE: Options = {
    "crawl": {"in_flight": CrawlSettings().in_flight},
    "politeness": {
        "delay": PolitenessSettings().delay,
        "ip_delay": PolitenessSettings().ip_delay,
    },
}


def for_replay(
    plan: Plan,
    warcs: Sequence[Path],
    online: bool = False,
    options: Options | None = None,
) -> Plan:
    """The plan of a replay: one page at a time and no delays, so it is repeatable.

    With `online`, what the WARC files lack is fetched as politely as in any crawl. A
    replay that goes online later had no delays: it gets the usual ones, or those among
    the options. Without `warcs`, those of the plan stay.
    """
    names = tuple(str(path.absolute()) for path in warcs) or plan.replay
    if not names:
        raise BadInput(
            "--online fetches what WARC files lack; name them with --replay WARC"
        )
    if not online:
        plan = override(plan, OFFLINE)
    elif plan.is_offline:
        plan = override(override(plan, ONLINE), options or {})
    return msgspec.structs.replace(plan, replay=names, online=online)


def begin_crawl(plan: Plan, folder: CrawlFolder, *, fresh: bool = False) -> None:
    """Create and lock the folder and write the plan; `fresh` empties it first."""
    folder.make()
    folder.lock()
    if fresh:
        folder.clear()
        folder.make()
    save_plan(plan, folder)


def save_plan(plan: Plan, folder: CrawlFolder) -> None:
    """Write crawl.toml, with all defaults but without passwords."""
    proxy = plan.fetch.proxy
    if urls.redact(proxy) != proxy:
        proxy = urls.redact(proxy).replace("://", f"://{HIDDEN}", 1)
    fetch = msgspec.structs.replace(plan.fetch, proxy=proxy)
    tables = without_none(
        msgspec.to_builtins(msgspec.structs.replace(plan, fetch=fetch))
    )
    draft = folder.settings.with_suffix(".new")
    draft.write_text(tomli_w.dumps(tables), encoding="utf-8")
    draft.replace(folder.settings)


def without_none(value: Any) -> Any:
    """The tables without None, which TOML cannot express."""
    if isinstance(value, dict):
        return {
            key: without_none(inner)
            for key, inner in value.items()
            if inner is not None
        }
    return value


def load_plan(folder: CrawlFolder) -> Plan:
    """Read the crawl.toml of an existing crawl."""
    return load_toml(folder.settings, Plan)
