"""Loads strategies, judges, seed sources and exporters from other packages and files.

An installed package announces its own through entry points; a file is named as
`file.py:Class`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from opilio.errors import BadInput, did_you_mean

GROUPS = {  # of entry points
    "strategy": "opilio.strategies",
    "judge": "opilio.judges",
    "seed source": "opilio.seed_sources",
    "exporter": "opilio.exporters",
}
OBJECT = "object:"  # begins the name of an object that a program passed


def installed(kind: str) -> Mapping[str, str]:
    """Name -> module:class of the extensions of a kind in installed packages."""
    from importlib.metadata import entry_points  # importing and looking take time

    return {entry.name: entry.value for entry in entry_points(group=GROUPS[kind])}


def is_file(name: str) -> bool:
    """Whether a name is a class in a file, like my_strategy.py:MyStrategy."""
    return ".py:" in name


def located(name: str, folder: Path | None = None) -> str:
    """The name with the path of a file made absolute, so that it stays valid when the
    crawl is resumed from another folder."""
    if not is_file(name):
        return name
    path, _, made = name.rpartition(":")
    return f"{(folder or Path()).absolute() / Path(path).expanduser()}:{made}"


def find_class(kind: str, name: str, known: Iterable[str] = ()) -> Any:
    """The class that a name stands for; BadInput lists the known names."""
    if is_file(name):
        return load(kind, name)
    if name.startswith(OBJECT):
        raise BadInput(
            f"the crawl was started from Python with a custom {kind}, an object of "
            f"class {name.removeprefix(OBJECT)}; pass it again: "
            f"opilio.Crawl(folder, {kind.replace(' ', '_')}=…)"
        )
    found = installed(kind)
    if name not in found:
        names = sorted({*known, *found})
        hint = did_you_mean(name, names)
        listed = ", ".join(names) or "none"
        raise BadInput(
            f"unknown {kind} {name!r}; {hint}known: {listed}; or name a file.py:Class"
        )
    return load(kind, found[name])


def load(kind: str, place: str) -> Any:
    """The class that `module:class` or `file.py:class` names."""
    module, _, name = place.rpartition(":")
    try:
        found = from_file(Path(module)) if is_file(place) else import_module(module)
        return getattr(found, name)
    except Exception as error:  # whatever the code of someone else raises
        raise BadInput(
            f"the {kind} at {place} cannot be loaded: {error}; fix or remove the "
            "package or file that it comes from"
        ) from error


def from_file(path: Path) -> ModuleType:
    """A Python file as a module."""
    # Under a unique name, so that json.py does not replace Python's module.
    spec = spec_from_file_location(f"opilio_extension_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"{path} does not exist")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make(kind: str, made: Callable[..., Any], *arguments: Any) -> Any:
    """An object of a class, whose constructor requires all of these arguments, or
    none of them."""
    required = [
        one.name
        for one in inspect.signature(made).parameters.values()
        if one.default is one.empty
        and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if len(required) not in (0, len(arguments)):
        wanted = f"{len(arguments)} or none" if arguments else "none"
        raise BadInput(
            f"the {kind} {getattr(made, '__name__', made)} cannot be made: its "
            f"constructor requires {', '.join(required)}; the documentation lists the "
            f"arguments that it may require ({wanted})"
        )
    return made(*arguments[: len(required)])


def name_of(given: object) -> str:
    """The name by which crawl.toml records an object that a program passed."""
    kind = given if isinstance(given, type) else type(given)
    return f"{OBJECT}{kind.__qualname__}"
