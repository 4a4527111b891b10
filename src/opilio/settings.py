"""The settings of a crawl with their types and defaults, read from TOML files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from opilio import __version__
from opilio.errors import BadInput, did_you_mean
from opilio.records import Mode

Count = Annotated[int, msgspec.Meta(ge=0)]
Some = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Wait = Annotated[float, msgspec.Meta(gt=0)]
HeaderText = Annotated[  # text that is safe in a header line, and not empty
    str,
    msgspec.Meta(
        pattern=r"^[!-~]([ -~]*[!-~])?\Z",
        description="printable ASCII characters, and no blank at either end",
    ),
]
ContactText = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([!-~]([ -~]*[!-~])?)?\Z",
        description="printable ASCII characters, and no blank at either end",
    ),
]

if TYPE_CHECKING:  # a program may give any sequence; it becomes a tuple when checked
    Strings = Sequence[str]
else:
    Strings = tuple[str, ...]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a settings file; an unknown key in it is an error."""


class CrawlSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the crawl is run."""

    strategy: str = "opilio"
    judge: str = "opilio"
    max_pages: Count = 1000  # stop after this many pages; 0: no limit
    max_time: Seconds = 0.0  # stop after this many seconds; 0: no limit
    max_idle: Seconds = 1800.0  # stop if nothing can be visited for so long; 0: wait
    readers: Some = 1  # processes that read pages
    in_flight: Some = 64  # pages being fetched or read at the same time
    haste: Share = 0.1  # 0: keep to the order of promises; 1: let no worker idle
    breadth: Share = 0.0  # 0: no preference between hosts; 1: share among the best
    stop_when_dry: bool = False  # stop when little is left to find
    seed: int = 0  # of all random choices
    vectors: str = "auto"  # of words: auto, none, english, wordllama, or a path
    weights: str = (
        ""  # trained weights, a file of `opilio lab train`; "": the package's
    )
    near_copies: bool = True  # treat pages that differ in a few words as copies


class PolitenessSettings(
    Section, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Delays and limits of requests to one host."""

    delay: Seconds = 1.0  # seconds between two requests to one host
    ip_delay: Seconds = 0.25  # seconds between two requests to one address
    per_host: Some = 1  # requests in flight to one host
    max_delay: Seconds = 60.0  # the longest Crawl-delay that is obeyed
    max_rest: Seconds = 3600.0  # the longest Retry-After or back-off
    attempts: Some = 3  # how often a link is tried within minutes
    retry_for: Seconds = 259_200.0  # seconds to keep trying after that; 0: not


class FetchSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pages are requested, and which responses are accepted."""

    user_agent: HeaderText = f"opilio/{__version__} (focused crawler)"
    contact: ContactText = ""  # where we can be reached; part of the user agent
    proxy: str = ""
    allow_networks: Strings = ()  # private networks that may be visited
    max_bytes: Some = 10 * 2**20  # of a body, on the wire and decoded
    connect_timeout: Wait = 10.0
    timeout: Wait = 60.0  # of a whole request
    keep_alive: Seconds = 60.0  # how long an idle connection is kept open
    max_redirects: Count = 7


class DocumentSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which documents besides HTML pages are read."""

    pdf: bool = True
    text: bool = False  # plain text and Markdown
    pdf_bytes: Some = 32 * 2**20  # of a PDF file; a larger one is not fetched


DOCUMENTS = DocumentSettings()


class BrowserSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether scripts of pages are run, and by which browser."""

    render: Literal["never", "auto", "always"] = "never"
    executable: str = ""  # path of a Chromium; "": the one that is found
    render_timeout: Wait = 30.0  # seconds for one page, with the waits for its scripts
    tabs: Some = 2  # pages that are rendered at the same time


class BoundsSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of the frontier: budgets, and guards against crawler traps."""

    capacity: Count = 0  # links in the queue, the best; the rest on disk; 0: no limit
    per_host: Count = 0  # pages of one host; 0: no limit
    per_domain: Count = 0  # pages of one registrable domain; 0: no limit
    free_pages: Count = 200  # of a domain that hardly anybody links to; 0: no limit
    max_depth: Count = 50  # links from a seed
    max_url_length: Some = 2083
    max_segments: Some = 20  # of a path
    max_repeats: Count = 2  # of one segment in a path, beyond its first time
    per_template: Count = 5000  # URLs that differ only in numbers and parameters
    novelty: Count = 100  # leave a URL template after this many fruitless pages


class ScopeSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which URLs belong to the crawl; empty means all of the web."""

    domains: Strings = ()  # a host, or a domain with all its hosts
    exclude_domains: Strings = ()
    exclude_paths: Strings = ()  # shell patterns: /login*, *.zip


class StoreSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is stored, and how often it is committed."""

    commit_every: Wait = 0.5  # seconds between two group commits
    min_free: Count = 2**30  # bytes left on the disk when the crawl stops
    warc_bytes: Some = 2**30  # size at which a new WARC file is begun
    lease: Wait = 15.0  # seconds that a worker may be silent; only with --store
    warc: str = ""  # folder or URL for WARC files of workers; "": stay on each machine
    part_seconds: Wait = 300.0  # age at which workers begin a new WARC file
    lost_after: Wait = 3600.0  # seconds until files of a dead worker count as lost


class SearchSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is indexed for searches, and how searches work."""

    index: bool = True  # index while crawling; otherwise the first search does
    pages: Literal["kept", "all"] = "kept"  # which pages are indexed
    mode: Mode = "fixed"  # paper: refuse queries without a concept


class EmbeddingSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sentence model of the judge `embedding`."""

    model: str = ""  # a folder, an .onnx file with its tokenizer, or a jar with both


class LlmSettings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The language model of the judge `llm`, behind an OpenAI-compatible endpoint."""

    base_url: str = ""  # https://…/v1
    model: str = ""
    key_variable: str = "OPENAI_API_KEY"  # environment variable with the key; "": none
    local: bool = False  # it may be on this machine or in a private network
    max_calls: Count = 1000  # of the whole crawl; 0: no limit
    max_tokens: Count = 1_000_000  # of the whole crawl; 0: no limit
    answer_within: Wait = 60.0  # seconds; after that the page is judged without


class Settings(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a crawl, as in crawl.toml."""

    crawl: CrawlSettings = CrawlSettings()
    politeness: PolitenessSettings = PolitenessSettings()
    fetch: FetchSettings = FetchSettings()
    documents: DocumentSettings = DOCUMENTS
    browser: BrowserSettings = BrowserSettings()
    bounds: BoundsSettings = BoundsSettings()
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    options: Mapping[str, bool | int | float | str] = {}  # of the strategy


S = TypeVar("S", bound=Section)
MAX_FILE = 16 * 2**20  # bytes
# Dots in keys, each of which is a table: of one key, and of all.
MAX_DOTS, MAX_TABLES = 20, 20_000


def load_toml(path: Path, kind: type[S]) -> S:
    """Read a TOML file as a section; every mistake is a BadInput with a remedy."""
    return build_section(read_toml(path), kind, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        if path.is_dir():
            raise BadInput(f"{path} is a folder; name a TOML file")
        if path.exists() and not path.is_file():
            raise BadInput(f"{path} is not a file; name a TOML file")
        if (size := path.stat().st_size) > MAX_FILE:
            raise BadInput(f"{path} has {size:,} bytes; at most {MAX_FILE:,} are read")
        text = path.read_text(encoding="utf-8-sig")
        refuse_deep_keys(text, path)
        return tomllib.loads(text)
    except FileNotFoundError:
        raise BadInput(f"{path} does not exist; check the name") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not valid TOML: save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadInput(f"{path} is not valid TOML: {error}") from None


def refuse_deep_keys(text: str, path: Path) -> None:
    """Raise BadInput for keys with so many dots that their tables fill the memory."""
    dots = 0
    for number, line in enumerate(text.splitlines(), 1):
        is_table = line.lstrip().startswith("[")
        key = line if is_table else line.partition("=")[0] if "=" in line else ""
        here = key.partition("#")[0].count(".")
        dots += here
        if here > MAX_DOTS or dots > MAX_TABLES:
            raise BadInput(
                f"{path} is not valid: line {number} nests tables too deeply; a key "
                f"may have {MAX_DOTS} dots"
            )


def build_section(
    tables: Mapping[str, Any], kind: type[S], source: str, *, strict: bool = True
) -> S:
    """Turn tables into a section, checking every key and type.

    Unless `strict`, numbers may be written as strings, as on a command line.
    """
    refuse_unknown_keys(tables, kind, source)
    refuse_odd_numbers(tables, source)
    try:
        made = msgspec.convert(tables, kind, strict=strict)
    except msgspec.ValidationError as error:
        from opilio.settings_errors import explain_mismatch

        raise BadInput(f"{source}: {explain_mismatch(error, tables, kind)}") from None
    refuse_odd_numbers(msgspec.to_builtins(made), source)  # also if written as strings
    return made


def checked_section(given: S, kind: type[S], source: str) -> S:
    """A section from a program or command line, checked by the same rules as files."""
    if not isinstance(given, kind):
        from opilio.settings_errors import shorten

        raise BadInput(f"{source}: expected a {kind.__name__}, got {shorten(given)}")
    return build_section(tables_of(given), type(given), source)


def tables_of(value: Any) -> Any:
    """A section as TOML tables; values that TOML cannot hold stay as they are."""
    if isinstance(value, Section):
        names = value.__struct_fields__
        return {name: tables_of(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {key: tables_of(inner) for key, inner in value.items()}
    return list(map(tables_of, value)) if isinstance(value, tuple | list) else value


def refuse_unknown_keys(
    tables: Mapping[str, Any], kind: type[Section], source: str, path: str = ""
) -> None:
    """Raise BadInput for the first key that no field of `kind` has."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for key, value in tables.items():
        where = f"{path}{key}"
        if key not in fields:
            hint = did_you_mean(key, fields)
            known = ", ".join(sorted(fields)) or "none"
            raise BadInput(
                f"{source}: unknown key {where!r}; {hint}known here: {known}"
            )
        inner = section_in(fields[key])
        named = {where: value}
        if get_origin(fields[key]) is Mapping and isinstance(value, Mapping):
            named = {f"{where}.{name}": table for name, table in value.items()}
        for place, held in named.items():
            for table in held if isinstance(held, list) else [held]:
                if inner is not None and isinstance(table, Mapping):
                    refuse_unknown_keys(table, inner, source, f"{place}.")


def refuse_odd_numbers(value: Any, source: str, path: str = "") -> None:
    """Raise BadInput for nan and inf, which TOML allows and no setting can be."""
    if isinstance(value, float) and not isfinite(value):
        raise BadInput(f"{source}: {path} is {value}; it must be a finite number")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            refuse_odd_numbers(inner, source, f"{path}.{key}" if path else key)


def section_in(annotation: Any) -> type[Section] | None:
    """The Section that a field holds, also in a union or a tuple."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    inner = map(section_in, get_args(annotation))
    return next((section for section in inner if section), None)
