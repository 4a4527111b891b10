"""Escapes text for HTML, so that it is shown and never interpreted."""

from __future__ import annotations

import html
import unicodedata

CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
VOID = ("br", "input", "meta")


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def without_controls(text: str) -> str:
    """Text without control characters, some of which crash the SVG renderer."""
    return "".join(
        " " if unicodedata.category(character) in CONTROLS else character
        for character in text
    )


def escaped(text: object) -> Html:
    """Any value as escaped text; HTML is left unchanged."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(without_controls(str(text))))


def tag(name: str, /, *parts: object, **attributes: object) -> Html:
    """An element with its parts; `aria_label` is written aria-label, `class_` class.

    An attribute that is None is left out; the others are text, even if HTML is given.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    start = f"<{name}{written}>"
    if name in VOID:
        return Html(start)
    return Html(start + "".join(map(escaped, parts)) + f"</{name}>")


def joined(*parts: object) -> Html:
    """Parts joined together."""
    return Html("".join(map(escaped, parts)))
