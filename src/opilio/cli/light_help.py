"""Imports what prints help, without libraries that our help never uses.

typer prints help with rich and, to be able to, imports rich's Markdown with its parser,
its tracebacks with a syntax highlighter, and attrs: a third of the CPU of
`opilio --help`. Placeholders keep them out while typer's module is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

PLACEHOLDERS = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
ABSENT = "attr"  # rich does without


def import_for_help() -> None:
    """Import typer's printer of help."""
    new: dict[str, ModuleType | None] = {ABSENT: None}
    for name, kind in PLACEHOLDERS.items():
        new[name] = ModuleType(name)
        setattr(new[name], kind, type(kind, (), {}))
    new = {name: module for name, module in new.items() if name not in sys.modules}
    sys.modules.update(new)  # type: ignore[arg-type]
    try:
        import_module("typer.rich_utils")
    finally:
        for name in new:
            del sys.modules[name]
