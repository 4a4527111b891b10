"""Settings: typed and closed; TOML in, an error that names the known keys out."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from opilio import __version__
from opilio.errors import BadInput


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a settings file; an unknown key in it is an error."""


class Crawl(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the crawl is run."""

    strategy: str = "best-first"
    judge: str = "cosine"
    max_pages: int = 1000  # stop after so many pages; 0: no limit
    readers: int = 1  # processes that read pages
    in_flight: int = 64  # pages being fetched or read at one time
    random_seed: int = 0
    near_copies: bool = True  # treat pages that differ in a few words as copies


class Politeness(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How hosts are treated."""

    delay: float = 1.0  # seconds between two requests to one host
    ip_delay: float = 0.25  # seconds between two requests to one address
    per_host: int = 1  # requests in flight to one host
    max_delay: float = 60.0  # the longest Crawl-delay that is obeyed
    max_rest: float = 3600.0  # the longest Retry-After or back-off
    attempts: int = 3  # how often a link is tried


class Fetch(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of the network, and what is accepted."""

    user_agent: str = f"opilio/{__version__} (focused crawler)"
    proxy: str = ""
    allow_networks: tuple[str, ...] = ()  # private networks that may be visited
    max_bytes: int = 10 * 2**20  # of a body, on the wire and decoded
    connect_timeout: float = 10.0
    timeout: float = 60.0  # of a whole request
    keep_alive: float = 60.0  # an idle connection is kept open so long
    max_redirects: int = 7


class Bounds(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the frontier takes in: budgets, and guards against traps."""

    capacity: int = 0  # links that may wait, the best ones; 0: no limit
    per_host: int = 0  # pages of one host; 0: no limit
    per_domain: int = 0  # pages of one registrable domain; 0: no limit
    max_depth: int = 50  # links from a seed
    max_url_length: int = 2083
    max_segments: int = 20  # of a path
    max_repeats: int = 2  # of one segment in a path, beyond its first time
    per_template: int = 5000  # URLs that differ only in numbers and parameters


class Scope(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which URLs belong to the crawl; empty means all of the web."""

    domains: tuple[str, ...] = ()  # a host, or a domain with all its hosts
    exclude_domains: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()  # shell patterns: /login*, *.zip


class Store(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept, and how carefully."""

    commit_every: float = 0.5  # seconds between two group commits
    min_free: int = 2**30  # bytes left on the disk when the crawl stops
    warc_bytes: int = 2**30  # size at which a new WARC file is begun


class Settings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """crawl.toml: everything a crawl was started with."""

    crawl: Crawl = Crawl()
    politeness: Politeness = Politeness()
    fetch: Fetch = Fetch()
    bounds: Bounds = Bounds()
    store: Store = Store()


S = TypeVar("S", bound=Section)


def load(path: Path, kind: type[S]) -> S:
    """Read a TOML file as a section; every mistake is a BadInput with a remedy."""
    return build(read_toml(path), kind, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; check the name") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder; name a TOML file") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from None


def build(tables: Mapping[str, Any], kind: type[S], source: str) -> S:
    """Turn tables into a section, checking every key and type."""
    refuse_unknown_keys(tables, kind, source)
    try:
        return msgspec.convert(tables, kind)
    except msgspec.ValidationError as error:
        raise BadInput(f"{source}: {explain_mismatch(error)}") from None


def explain_mismatch(error: msgspec.ValidationError) -> str:
    """`Expected int, got str - at $.a.b` as `a.b: expected int, got str`."""
    message, _, path = str(error).partition(" - at ")
    where = path.strip("`").removeprefix("$").lstrip(".")
    message = message[0].lower() + message[1:]
    return f"{where}: {message}" if where else message


def refuse_unknown_keys(
    tables: Mapping[str, Any], kind: type[Section], source: str, path: str = ""
) -> None:
    """Raise BadInput for the first key that no field of `kind` has."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in tables.items():
        where = f"{path}{key}"
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            known = ", ".join(sorted(fields))
            raise BadInput(
                f"{source}: unknown key {where!r}; {hint}known here: {known}"
            )
        inner = section_in(fields[key])
        if inner is not None and isinstance(value, Mapping):
            refuse_unknown_keys(value, inner, source, f"{where}.")


def section_in(annotation: Any) -> type[Section] | None:
    """The Section that a field holds, also behind `Section | None`."""
    for option in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(option, type) and issubclass(option, Section):
            return option
    return None
