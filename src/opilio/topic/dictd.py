"""A dictd dictionary's `.index` and `.dict` in; headwords with their articles out.

A line of the index: headword, tab, where its article begins, tab, how long it is, both
as numbers in base 64; a fourth field has the headword as it is really written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opilio.errors import BadInput
from opilio.topic.gzip_files import beside, unpacked

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
VALUES = {digit: value for value, digit in enumerate(DIGITS)}
ABOUT = ("00database", "00-database")  # entries that speak of the dictionary itself
LONGEST_NUMBER = 10  # digits


def is_one(path: Path) -> bool:
    """Is this the name of a part of a dictd dictionary?"""
    return path.name.endswith((".index", ".dict", ".dict.dz"))


def articles(path: Path) -> Iterator[tuple[str, str]]:
    """Each headword with its article."""
    index = beside(path, ".index")
    content = unpacked(beside(path, ".dict", ".dict.dz"))
    for number, line in enumerate(unpacked(index).splitlines(), start=1):
        if not line:
            continue
        try:
            word, start, length, *original = line.decode().split("\t")
            first, size = place(start), place(length)
        except ValueError:  # of decoding as well
            message = "not headword<TAB>offset<TAB>length"
            raise BadInput(f"{index}, line {number}: {message}") from None
        if first + size > len(content):
            raise BadInput(
                f"{index}, line {number}: its article is beyond the end of the .dict "
                f"file ({first} + {size} > {len(content)})"
            )
        if not word.startswith(ABOUT):
            article = content[first : first + size].decode("utf-8", "replace")
            yield (original[0] if original and original[0] else word), article


def place(number: str) -> int:
    """A number in dictd's base 64, the highest digit first."""
    if not 0 < len(number) <= LONGEST_NUMBER:
        raise ValueError(number)
    value = 0
    for digit in number:
        if digit not in VALUES:
            raise ValueError(number)
        value = value * 64 + VALUES[digit]
    return value
