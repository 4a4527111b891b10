"""Finds the ontology files of a crawl that were improved by accepted proposals.

`opilio ontology accept` writes DIR/ontology/NAME.ttl: the ontology of the topic with
what was accepted. From then on the crawl compiles its topic with that file in place of
the first one, which stays as it is.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from opilio.store.folder import CrawlFolder
from opilio.subject.topic_updates import digest
from opilio.topic import Topic

IN_USE = "in-use"  # the file with the digests of the files that the subject was made of


def improved_file(folder: CrawlFolder, file: str | Path) -> Path:
    """Where the improved form of an ontology file is, or will be."""
    name = Path(file).name.removesuffix(".gz").rpartition(".")[0] or Path(file).name
    return folder.ontology / f"{name}.ttl"


def with_improved(topic: Topic, folder: CrawlFolder) -> Topic:
    """The topic with the improved files in place of the first ones."""
    if topic.ontology is None:
        return topic
    files = (
        str(better) if (better := improved_file(folder, file)).is_file() else file
        for file in topic.ontology.files
    )
    ontology = msgspec.structs.replace(topic.ontology, files=tuple(files))
    return msgspec.structs.replace(topic, ontology=ontology)


def is_improved(folder: CrawlFolder) -> bool:
    """Whether something was accepted since the topic was compiled: an addition to the
    ontology, or a keyword."""
    return digests(folder) != in_use(folder)


def note_in_use(folder: CrawlFolder) -> None:
    """Record that the topic was compiled with the current files."""
    if found := digests(folder):
        folder.ontology.mkdir(exist_ok=True)
        draft = folder.ontology / f"{IN_USE}.new"
        draft.write_text(found, encoding="ascii")
        draft.replace(folder.ontology / IN_USE)


def in_use(folder: CrawlFolder) -> str:
    """The digests that were noted last; "" if none were."""
    note = folder.ontology / IN_USE
    return note.read_text(encoding="ascii") if note.is_file() else ""


def digests(folder: CrawlFolder) -> str:
    """A line for each improved file, after one for changed keywords."""
    return digest(folder) + "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        for path in sorted(folder.ontology.glob("*.ttl"))
        if not path.name.endswith(".new.ttl")
    )
