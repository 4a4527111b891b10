"""Caches parsed ontologies on disk.

A cache that is damaged, of another version or not writable is ignored.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import msgspec
import xxhash

from opilio.storage import caches
from opilio.topic.ontology.model import Ontology

VERSION = 2  # of the records in model.py and of the parsers
NAMES = r"[0-9a-f]{64}-.*"  # of cached files, in any version, and temporary ones

_decode = msgspec.msgpack.Decoder(Ontology).decode


def user_folder() -> Path | None:
    """The cache folder of this user; None: there is none."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not home.is_absolute():
        try:
            home = Path.home() / ".cache"
        except RuntimeError:
            return None
    return home / "opilio" / "ontologies"


def load_cached(folder: Path | None, key: str) -> Ontology | None:
    """The ontology saved under a key; None if there is none, or it is damaged."""
    if folder is None:
        return None
    try:
        file = _file(folder, key)
        data = file.read_bytes()
        if data[:8] == _seal(data[8:]):
            caches.note_use(file)
            return _decode(data[8:])
    except (OSError, msgspec.DecodeError):
        pass
    return None


def save_cached(folder: Path | None, key: str, ontology: Ontology) -> None:
    """Save an ontology; a reader at the same time gets the old file or the new one."""
    if folder is None:
        return
    data = msgspec.msgpack.encode(ontology)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, unfinished = tempfile.mkstemp(dir=folder, prefix=f"{key}-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_seal(data) + data)
            Path(unfinished).replace(_file(folder, key))
            caches.prune(folder, NAMES)
        except OSError:
            Path(unfinished).unlink()


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}-{VERSION}.msgpack"


def _seal(data: bytes) -> bytes:
    return xxhash.xxh3_64_digest(data)
