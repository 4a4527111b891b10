"""Reads the records of sitemaps and feeds from XML that may be damaged or hostile.

No tree is built, no document type is loaded, nothing is fetched, and a file that
declares entities gives nothing. Elements and records are bounded.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple

from lxml import etree

from opilio.text import content, urls

MAX_RECORDS = 50_000  # the sitemaps protocol's own limit
MAX_ELEMENTS = 1_000_000
MAX_FIELDS = 200  # of a record
MAX_TEXT = urls.MAX_LENGTH  # characters of a field
PIECE = 2**16  # bytes given to the parser at a time
XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_declared = re.compile(rb"<\?xml[^>]{0,80}?\sencoding\s*=\s*[\"']([\w.:-]{1,40})").match
_bare_ampersand = re.compile(rb"&(?!#?\w{1,31};)").sub


class Field(NamedTuple):
    """A child of a record."""

    name: str  # without its namespace
    attributes: Mapping[str, str]  # names without namespaces
    text: str


class Record(NamedTuple):
    """An element that lists something: <url>, <sitemap>, <item>, <entry>."""

    name: str
    attributes: Mapping[str, str]
    fields: list[Field]
    base: str  # what its links are relative to

    def text(self, name: str) -> str:
        """The text of the first field of that name; "" if there is none."""
        found = (field.text for field in self.fields if field.name == name)
        return next(found, "")


class XmlReader:
    """A parser target that collects the records of some names."""

    def __init__(self, names: frozenset[str], base: str, entities: bool) -> None:
        self.root = ""
        self.records: list[Record] = []
        self.full = False
        self._names = names
        self._entities = entities  # whether the file declares any
        self._bases = [(0, base)]  # depth, and xml:base from there on
        self._elements = self._depth = 0
        self._record: Record | None = None
        self._record_depth = 0
        self._field: tuple[str, Mapping[str, str]] | None = None
        self._text: list[str] = []
        self._room = 0

    def doctype(self, _name: str, _public: str | None, _system: str | None) -> None:
        """Handle a document type, the only place where entities can be declared."""
        self.full = self._entities

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        if self.full:
            return
        self._elements += 1
        self.full = self._elements > MAX_ELEMENTS
        self._depth += 1
        name = local(tag)
        self.root = self.root or name
        if XML_BASE in attributes and len(self._bases) < MAX_FIELDS:
            base = urls.join(self._bases[-1][1], attributes[XML_BASE])
            self._bases.append((self._depth, base or self._bases[-1][1]))
        if self._record is None:
            if name in self._names:
                self._record_depth = self._depth
                plain = without_namespaces(attributes)
                self._record = Record(name, plain, [], self._bases[-1][1])
        elif self._depth == self._record_depth + 1:
            self._field = name, without_namespaces(attributes)
            self._text, self._room = [], MAX_TEXT

    def data(self, text: str) -> None:
        """Handle a text, or a part of it."""
        if self._room > 0 and self._depth == self._record_depth + 1:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def end(self, _tag: str) -> None:
        """Handle an end tag."""
        if self.full:
            return
        if self._record is not None:
            if self._depth == self._record_depth:
                self.records.append(self._record)
                self._record = None
                self.full = len(self.records) >= MAX_RECORDS
            elif self._depth == self._record_depth + 1 and self._field:
                if len(self._record.fields) < MAX_FIELDS:
                    text = "".join(self._text).strip()
                    self._record.fields.append(Field(*self._field, text))
                self._field, self._room = None, 0
        if self._bases[-1][0] == self._depth:
            self._bases.pop()
        self._depth -= 1

    def close(self) -> None:
        """Handle the end of the file."""


def read_records(body: bytes, base: str, *names: str) -> tuple[str, list[Record]]:
    """The name of the root element, and the records of these names, in order."""
    body = with_ampersands_escaped(as_utf8(body))
    reader = XmlReader(frozenset(names), base, b"<!ENTITY" in body)
    parser = etree.XMLParser(
        target=reader,
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
    )
    try:
        for start in range(0, len(body), PIECE):
            parser.feed(body[start : start + PIECE])
            if reader.full:
                break
        else:
            parser.close()
    except (etree.LxmlError, ValueError):
        pass  # use what was read so far
    return reader.root, reader.records


def as_utf8(body: bytes) -> bytes:
    """The file in UTF-8, so that nothing can be hidden by its encoding."""
    if body.startswith(UTF16):
        return body.decode("utf-16", "replace").encode("utf-8", "replace")
    body = body.removeprefix(codecs.BOM_UTF8).lstrip()
    declared = _declared(body)
    name = content.encoding(declared[1].decode("ascii", "replace")) if declared else ""
    if name in ("", "utf-8", "utf-16le", "utf-16be"):  # the latter it cannot be
        return body
    return content.in_encoding(body, name).encode("utf-8", "replace")


def with_ampersands_escaped(body: bytes) -> bytes:
    """The file with `?a=1&b=2` escaped, which many feeds forget."""
    parts = body.split(b"<![CDATA[")
    for number, part in enumerate(parts):
        quoted, end, plain = part.partition(b"]]>") if number else (b"", b"", part)
        parts[number] = quoted + end + _bare_ampersand(b"&amp;", plain)
    return b"<![CDATA[".join(parts)


def local(tag: str) -> str:
    """`{namespace}name` as `name`."""
    return tag.rpartition("}")[2]


def without_namespaces(attributes: Mapping[str, str]) -> Mapping[str, str]:
    """Attributes by their names alone."""
    return {local(name): value for name, value in attributes.items()}
