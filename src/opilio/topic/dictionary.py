"""Reads bilingual dictionaries of four formats.

The format is recognised by name and content: tables (`word<TAB>meaning; meaning`),
FreeDict's TEI, dictd (`.index` with `.dict` or `.dict.dz`) and StarDict (`.ifo` with
`.idx` and `.dict`). Files are not trusted: sizes are bounded, and errors are BadInput
with the file and the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path

from opilio.errors import BadInput
from opilio.topic import dictd, stardict
from opilio.topic.article_meanings import MOST, meanings, plain_word
from opilio.topic.gzip_files import unpacked

Dictionary = dict[str, tuple[str, ...]]

MAX_WORDS = 2_000_000  # headwords
LONGEST_WORD = 100  # characters
LONGEST_LINE = 2**16  # bytes
HEAD = 1024  # bytes by which a format is recognised


def read_dictionary(path: Path) -> Dictionary:
    """Word or phrase, as its tokens joined by spaces -> its meanings."""
    try:
        found = gather(articles(path), str(path))
    except OSError as error:
        reason = error.strerror or error
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if not found:
        raise BadInput(
            f"{path}: there is no word with a meaning; a dictionary is a table "
            "(word<TAB>meaning; meaning), FreeDict, dictd or StarDict"
        )
    return found


def merge(*dictionaries: Mapping[str, Iterable[str]]) -> Dictionary:
    """All dictionaries as one; a word in several has the meanings of each, in order."""
    return gather(
        (word, tuple(given)) for each in dictionaries for word, given in each.items()
    )


def gather(
    entries: Iterable[tuple[str, Iterable[str]]], name: str = "the dictionaries"
) -> Dictionary:
    """Entries as a dictionary; those of one word are put together."""
    found: Dictionary = {}
    for headword, given in entries:
        word = plain_word(headword) if len(headword) <= LONGEST_WORD else ""
        if not word or not given:
            continue
        known = found.get(word)
        together = given if known is None else (*known, *given)
        found[word] = tuple(dict.fromkeys(together))[:MOST]
        if len(found) > MAX_WORDS:
            raise BadInput(f"{name}: more than {MAX_WORDS} words; take a smaller one")
    return found


def articles(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each headword of a file with its meanings, in any of the formats."""
    if stardict.is_one(path):
        for word, article in stardict.articles(path):
            yield word, meanings(article, word)
    elif dictd.is_one(path):
        for word, article in dictd.articles(path):
            yield word, meanings(article, word)
    else:
        content = unpacked(path)
        start = content[:HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
        is_xml = start.startswith((b"<?xml", b"<TEI", b"<!DOCTYPE"))
        yield from (tei if is_xml else table)(content, path)


def table(content: bytes, path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines of a table; empty ones and comments (#) are skipped."""
    for number, line in enumerate(BytesIO(content), start=1):
        if len(line) > LONGEST_LINE:
            raise BadInput(f"{path}, line {number}: too long for a dictionary")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
        except UnicodeDecodeError:
            message = f"{path}, line {number}: not UTF-8; save the file as UTF-8"
            raise BadInput(message) from None
        if not text.strip() or text.startswith("#"):
            continue
        word, tab, meaning = text.partition("\t")
        if not tab:
            raise BadInput(
                f"{path}, line {number}: no tab; write word<TAB>meaning; meaning"
            )
        yield word, meanings(meaning.replace("\t", "; "))


def tei(content: bytes, path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The entries of a FreeDict file in TEI."""
    from lxml import etree  # slow to import, and rarely needed

    try:
        for _, entry in etree.iterparse(
            BytesIO(content), tag="{*}entry", resolve_entities=False, no_network=True
        ):
            words = [orth.text or "" for orth in entry.iter("{*}orth")]
            quotes = [
                "".join(quote.itertext())
                for cit in entry.iter("{*}cit")
                if cit.get("type") in ("trans", "translation")
                for quote in cit.iter("{*}quote")
            ]
            for word in words:
                yield word, meanings("\n".join(quotes))
            entry.clear()
            while (before := entry.getprevious()) is not None:
                before.getparent().remove(before)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 0
        raise BadInput(f"{path}, line {line}: broken XML: {error.msg}") from None
