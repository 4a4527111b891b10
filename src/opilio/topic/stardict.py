"""Reads dictionaries in StarDict format.

    .ifo        what it is: key=value lines after a first line that is always the same
    .idx[.gz]   headword, a zero, where its article begins (4 or 8 bytes), its length
    .dict[.dz]  the articles: one or more fields, each of a type named by a letter
    .syn        other words, each with a zero and the number of its headword (4 bytes)

A field whose letter is small is text that ends with a zero; if it is large, four bytes
say how long it is. With `sametypesequence` the letters, and the length or zero of the
last field, are left out. Numbers have their highest byte first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from opilio.errors import BadInput
from opilio.topic.gzip_files import file_beside, unpacked

MAGIC = b"StarDict's dict ifo file"
PARTS = (".ifo", ".idx", ".idx.gz", ".syn", ".syn.dz")
TEXTS = frozenset(
    "mlgxhw"
)  # types of fields with meanings; others are sounds, pictures


class StardictEntry(NamedTuple):
    """A headword, and where its article is."""

    word: str
    start: int
    size: int


def is_one(path: Path) -> bool:
    """Whether this is a file of a StarDict dictionary."""
    if path.name.endswith(PARTS):
        return True
    is_dict = path.name.endswith((".dict", ".dict.dz"))
    stem = path.name.removesuffix(".dz").removesuffix(".dict")
    return is_dict and path.with_name(f"{stem}.ifo").is_file()


def articles(path: Path) -> Iterator[tuple[str, str]]:
    """Each headword with its article; then each other word for it, with the same."""
    facts = about(file_beside(path, ".ifo"))
    index = file_beside(path, ".idx", ".idx.gz")
    content = unpacked(file_beside(path, ".dict", ".dict.dz"))
    entries = list(read_index(index, 8 if facts.get("idxoffsetbits") == "64" else 4))
    types = facts.get("sametypesequence", "")
    for number, entry in enumerate(entries, start=1):
        if entry.start + entry.size > len(content):
            raise BadInput(
                f"{index}, entry {number}: its article is beyond the end of the .dict "
                f"file ({entry.start} + {entry.size} > {len(content)})"
            )
        yield entry.word, article(content, entry, types)
    try:
        synonyms = file_beside(path, ".syn", ".syn.dz")
    except BadInput:
        return
    for word, number in read_synonyms(synonyms, len(entries)):
        yield word, article(content, entries[number], types)


def about(path: Path) -> dict[str, str]:
    """The keys and values of the .ifo file."""
    first, *lines = unpacked(path).lstrip(b"\xef\xbb\xbf").splitlines() or [b""]
    if first.strip() != MAGIC:
        raise BadInput(f"{path}, line 1: not {MAGIC.decode()!r}")
    pairs = (line.decode("utf-8", "replace").partition("=") for line in lines)
    return {key.strip(): value.strip() for key, _, value in pairs}


def read_index(path: Path, width: int) -> Iterator[StardictEntry]:
    """The entries of an index whose offsets have `width` bytes."""
    for word, numbers in records(path, width + 4):
        start, size = numbers[:width], numbers[width:]
        yield StardictEntry(word, int.from_bytes(start), int.from_bytes(size))


def read_synonyms(path: Path, words: int) -> Iterator[tuple[str, int]]:
    """Other words, each with the number of its headword."""
    for word, number in records(path, 4):
        place = int.from_bytes(number)
        if place >= words:
            raise BadInput(f"{path}: {word!r} stands for entry {place} of {words}")
        yield word, place


def records(path: Path, width: int) -> Iterator[tuple[str, bytes]]:
    """Words that end with a zero, each followed by `width` bytes."""
    content = unpacked(path)
    position = 0
    while position < len(content):
        end = content.find(b"\0", position)
        if end < 0 or end + 1 + width > len(content):
            raise BadInput(f"{path}, offset {position}: the file ends within an entry")
        word = content[position:end].decode("utf-8", "replace")
        position = end + 1 + width
        yield word, content[end + 1 : position]


def article(content: bytes, entry: StardictEntry, types: str) -> str:
    """The texts of an article, one per line."""
    data = content[entry.start : entry.start + entry.size]
    texts = [
        field.decode("utf-8", "replace")
        for kind, field in fields(data, types)
        if kind in TEXTS
    ]
    return "\n".join(texts)


def fields(data: bytes, types: str) -> Iterator[tuple[str, bytes]]:
    """The fields of an article; a truncated one as far as it goes."""
    position = 0
    told = iter(types)
    left = len(types)
    while position < len(data):
        if types:
            kind = next(told, "")
            left -= 1
            if not kind:
                return
        else:
            kind = chr(data[position])
            position += 1
        if types and not left:
            end = after = len(data)
        elif kind.isupper():
            size = int.from_bytes(data[position : position + 4])
            position += 4
            end = after = position + size
        else:
            zero = data.find(b"\0", position)
            end = zero if zero >= 0 else len(data)
            after = end + 1
        yield kind, data[position:end]
        position = after
