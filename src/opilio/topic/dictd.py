"""Reads dictionaries in dictd format (`.index` and `.dict`).

A line of the index is: headword, tab, start of its article, tab, length of the article,
both as numbers in base 64; a fourth field has the headword in its true spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from opilio.errors import BadInput
from opilio.topic.gzip_files import file_beside, unpacked

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
VALUES = {digit: value for value, digit in enumerate(DIGITS)}
ABOUT = ("00database", "00-database")  # entries about the dictionary itself
LONGEST_NUMBER = 10  # digits


def is_one(path: Path) -> bool:
    """Whether this is the name of a file of a dictd dictionary."""
    return path.name.endswith((".index", ".dict", ".dict.dz"))


def articles(path: Path) -> Iterator[tuple[str, str]]:
    """Each headword with its article."""
    index = file_beside(path, ".index")
    content = unpacked(file_beside(path, ".dict", ".dict.dz"))
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
