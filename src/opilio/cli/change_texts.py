"""Describes the differences between two versions of a page in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ASIDE = ", urls"  # suffix of the names of values that only --json shows


def change_in_words(change: Mapping[str, Any]) -> str:
    """What has changed, in a line."""
    parts = []
    for name, value in change.items():
        if name.endswith(ASIDE):
            continue
        if name == "title":
            parts.append(f"title “{value[0]}” → “{value[1]}”")
        elif name == "text":
            parts.append(f"text differs in {value} of 64 bits")
        elif name == "relevant":
            parts.append("relevant now" if value else "no longer relevant")
        elif name == "score":
            parts.append(f"score {value[0]:.3f} → {value[1]:.3f}")
        elif name in ("gone", "back"):
            parts.append(f"{name} ({value})")
        elif value == 1:
            parts.append(f"1 {name.replace('links', 'link')}")
        else:
            parts.append(f"{value} {name}")
    return ", ".join(parts)
