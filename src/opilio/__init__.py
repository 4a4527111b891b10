"""Opilio: a focused web crawler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opilio.library import harvest, kept
    from opilio.settings import Settings
    from opilio.topic import Topic

__version__ = "0.1.0.dev0"
__all__ = ["Settings", "Topic", "__version__", "harvest", "kept"]

HOMES = {
    "Settings": "opilio.settings",
    "Topic": "opilio.topic",
    "harvest": "opilio.library",
    "kept": "opilio.library",
}


def __getattr__(name: str) -> Any:
    """Import the public names when they are asked for: readers start faster so."""
    if name not in HOMES:
        raise AttributeError(f"module 'opilio' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(HOMES[name]), name)
