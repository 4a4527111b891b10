"""Stores the compiled topic in models/brief.msgpack of the crawl folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.records import ConceptWords, Subject


class StoredSubject(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of the file: the tables in one map, what readers need beside it."""

    subject: Subject
    terms: Sequence[str]
    language: str
    dictionaries: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    concepts: Mapping[str, ConceptWords] = {}
    vectors: str = ""


def save_subject(subject: Subject, path: Path) -> None:
    """Write the file, in a layout that version 0.1 reads, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    tables = msgspec.structs.asdict(subject)
    beside = {
        "terms": tables.pop("terms"),
        "language": tables.pop("language"),
        "dictionaries": tables.pop("dictionaries"),
        "concepts": tables.pop("named_concepts"),
        "vectors": tables.pop("word_vectors"),
    }
    draft = path.with_suffix(".new")
    draft.write_bytes(msgspec.msgpack.encode({"subject": tables, **beside}))
    draft.replace(path)


def load_subject(path: Path) -> Subject:
    """Read the file; BadInput if it cannot be read."""
    try:
        stored = msgspec.msgpack.decode(path.read_bytes(), type=StoredSubject)
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(
            f"{path} cannot be read ({error}); remove {path.parent} and resume the "
            f"crawl, which makes it again: opilio crawl {path.parent.parent}"
        ) from None
    return msgspec.structs.replace(
        stored.subject,
        terms=tuple(stored.terms),
        language=stored.language,
        dictionaries=stored.dictionaries,
        named_concepts=stored.concepts,
        word_vectors=stored.vectors,
    )
