"""Sorts settings given by name in Python into the sections of crawl.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from opilio.errors import BadInput, did_you_mean
from opilio.settings import Section, Settings, section_in

OPTIONS = "options"  # of the strategy: a section without fixed keys
AS_COMMANDS_SAY = {"allow_network": "allow_networks"}
ARGUMENTS = ("strategy", "judge")  # settings that are separate arguments

Sections = dict[str, dict[str, Any]]


def sections() -> dict[str, type[Section]]:
    """The name of each section -> its class."""
    found = {field.name: section_in(field.type) for field in fields_of(Settings)}
    return {name: kind for name, kind in found.items() if kind}


def fields_of(kind: type[Section]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a section."""
    return msgspec.structs.fields(kind)


def homes() -> dict[str, list[str]]:
    """The name of each setting -> the sections that have one of that name."""
    found: dict[str, list[str]] = {}
    for section, kind in sections().items():
        for field in fields_of(kind):
            if field.name not in ARGUMENTS:
                found.setdefault(field.name, []).append(section)
    return found


def by_section(given: Mapping[str, Any]) -> Sections:
    """Settings by section and name.

    A setting is given by its name (`max_pages=500`). A section can be given as a
    mapping or a record (`bounds={"per_host": 5}`), which is needed for names that two
    sections share. BadInput for an unknown name.
    """
    known, found = homes(), Sections()
    for name, value in given.items():
        name = AS_COMMANDS_SAY.get(name, name)
        if name in sections() or name == OPTIONS:
            found.setdefault(name, {}).update(keys_of(name, value))
            continue
        if name not in known:
            names = [*known, *sections(), *AS_COMMANDS_SAY, OPTIONS]
            raise BadInput(
                f"unknown setting {name!r}; {did_you_mean(name, names)}"
                f"known: {', '.join(sorted(names))}"
            )
        if len(known[name]) > 1:
            ways = " or ".join(f"{home}={{{name!r}: …}}" for home in known[name])
            raise BadInput(f"{name} is a setting of two sections; write {ways}")
        found.setdefault(known[name][0], {})[name] = value
    return found


def keys_of(name: str, value: Any) -> Mapping[str, Any]:
    """The settings of a section that is given as a whole."""
    if isinstance(value, Section):
        return {
            field.name: getattr(value, field.name) for field in fields_of(type(value))
        }
    if not isinstance(value, Mapping):
        raise BadInput(f"{name} is a section; give it as {name}={{'a setting': …}}")
    kind = sections().get(name)
    known = [field.name for field in fields_of(kind)] if kind else list(value)
    for key in value:
        if key not in known:
            raise BadInput(
                f"unknown setting {key!r} of {name}; {did_you_mean(key, known)}"
                f"known: {', '.join(sorted(known))}"
            )
    return value
