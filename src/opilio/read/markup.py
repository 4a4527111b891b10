"""Reads attributes, raw text and character references in serialised markup."""

from __future__ import annotations

import re

_attribute = re.compile(' (.[^=]*)="([^"]*)"', re.DOTALL).match
_script_marks = re.compile("(?ai)<!(?=--)|-->|<(/?)script(?=[ \t\n\r\f/>])").finditer
_is_mode = re.compile("(?ai)open|closed").fullmatch
_entities = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": "\xa0", "&amp;": "&"}


def end_of_raw(markup: str, name: str, place: int) -> int:
    """Where the text of a raw element, such as a script, ends.

    <plaintext> has no end; nor does a script end after <!-- and <script inside it.
    """
    if name != "script":
        end = f"</{name}>"
        find = markup.rfind if name == "plaintext" else markup.find
        found = find(end, place)
        return len(markup) if found < 0 else found
    level = 0  # 1: after <!--; 2: after <script, too
    for mark in _script_marks(markup, place):
        if mark[0] == "-->":
            level = 0
        elif mark[0] == "<!":
            level = max(level, 1)
        elif not mark[1]:
            level = 2 if level else 0
        elif level == 2:
            level = 1
        elif markup.startswith("</script>", mark.start()):
            return mark.start()
    return len(markup)


def is_shadow(given: str) -> bool:
    """Whether these attributes of a template make its content visible."""
    return bool(_is_mode(attributes_of(given).get("shadowrootmode", "")))


def attributes_of(given: str) -> dict[str, str]:
    """The attributes at the beginning of a text, as a parser serialises them."""
    found = {}
    place = 0
    while said := _attribute(given, place):
        found[said[1]] = said[2]
        place = said.end()
    return found


def unescaped(text: str) -> str:
    """A text with its character references replaced."""
    if "&" in text:
        for entity, character in _entities.items():
            text = text.replace(entity, character)
    return text
