"""The messages that a crawl understands, and how they are written on a command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from opilio.errors import BadInput
from opilio.text import urls

MOST_PAGES = 10_000  # for one query
LONGEST = 1_000  # characters of a query
USUAL_PAGES = 20
USUAL_SECONDS = 60.0
USUAL_BOOST = 2.0
HOST = re.compile(r"[^\s/?#@:]+(:\d{1,5})?|\[[0-9a-f:]+\](:\d{1,5})?", re.IGNORECASE)

Pages = Annotated[int, Meta(ge=1, le=MOST_PAGES)]
Seconds = Annotated[float, Meta(ge=1, le=86_400)]
Factor = Annotated[float, Meta(gt=0, le=1_000)]
Words = Annotated[str, Meta(min_length=1, max_length=LONGEST)]


class Message(
    msgspec.Struct, frozen=True, tag_field="verb", forbid_unknown_fields=True
):
    """Something that a crawl is told."""


class PauseCrawl(Message, frozen=True, tag="pause"):
    """Begin no more visits until told to resume."""


class ResumeCrawl(Message, frozen=True, tag="resume"):
    """Resume after a pause."""


class StopCrawl(Message, frozen=True, tag="stop"):
    """End the run, as Ctrl-C does."""


class AddSeed(Message, frozen=True, tag="seed"):
    """Visit a URL next, as a seed."""

    url: str


class BlockHost(Message, frozen=True, tag="block"):
    """Visit no more pages of a host and of the hosts below it."""

    host: str


class BoostHost(Message, frozen=True, tag="boost"):
    """Let the links of a host count so many times more; 1 ends a block or a boost."""

    host: str
    factor: Factor = USUAL_BOOST


class LabelPage(Message, frozen=True, tag="label"):
    """A page of the crawl is relevant, or is not: somebody looked at it."""

    url: str
    relevant: bool
    check: bool = False  # learn nothing from it: check what other labels have taught


class AskQuery(Message, frozen=True, tag="query"):
    """Fetch pages for a query, before all other links."""

    query: Words
    pages: Pages = USUAL_PAGES
    seconds: Seconds = USUAL_SECONDS


AnyMessage: TypeAlias = (
    PauseCrawl
    | ResumeCrawl
    | StopCrawl
    | AddSeed
    | BlockHost
    | BoostHost
    | LabelPage
    | AskQuery
)

PLAIN: dict[str, AnyMessage] = {
    "pause": PauseCrawl(),
    "resume": ResumeCrawl(),
    "stop": StopCrawl(),
}
LABELS = ("yes", "no", "yes check", "no check")
USAGE = {
    "pause": "",
    "resume": "",
    "stop": "",
    "seed": "URL",
    "block": "HOST",
    "unblock": "HOST",
    "boost": "HOST [FACTOR]",
    "label": "URL yes|no [check]",
    "query": "WORDS… [--pages N]",
}


def parse_message(
    verb: str, words: Sequence[str], pages: int = USUAL_PAGES
) -> AnyMessage:
    """The message that somebody has typed; BadInput for one that makes no sense."""
    if verb not in USAGE:
        raise BadInput(
            f"{verb!r} is nothing that a crawl can be told; choose one of "
            f"{', '.join(USAGE)}"
        )
    if verb in PLAIN and not words:
        return PLAIN[verb]
    if verb == "query" and words:
        return checked_message(AskQuery(" ".join(words), pages))
    if verb == "seed" and len(words) == 1:
        return AddSeed(address(words[0]))
    if verb in ("block", "unblock") and len(words) == 1:
        host = host_of(words[0])
        return BlockHost(host) if verb == "block" else BoostHost(host, 1.0)
    if verb == "boost" and len(words) in (1, 2):
        return checked_message(BoostHost(host_of(words[0]), factor(words[1:])))
    if verb == "label" and " ".join(words[1:]) in LABELS:
        return LabelPage(address(words[0]), words[1] == "yes", len(words) > 2)
    raise BadInput(f"write it as: opilio tell DIR {verb} {USAGE[verb]}".rstrip())


def checked_message(message: AnyMessage) -> AnyMessage:
    """A message whose numbers and texts are within their limits; else BadInput."""
    try:
        return decode_message(encode_message(message))
    except msgspec.ValidationError as error:
        raise BadInput(f"{message.__struct_config__.tag}: {error}") from None


def address(text: str) -> str:
    """A URL in its canonical form; BadInput if it is none."""
    url = urls.join("", text.strip())
    if not url:
        raise BadInput(f"{text!r} is not a URL; write https://…")
    return url


def host_of(text: str) -> str:
    """The host that is meant by a name or a URL; BadInput if there is none."""
    name = text.strip()
    if "://" in name:
        return urls.host(address(name))
    url = urls.join("", f"http://{name}/") if HOST.fullmatch(name) else ""
    if not url:
        raise BadInput(f"{text!r} is not a host; write it like www.example.org")
    return urls.host(url)


def factor(words: Sequence[str]) -> float:
    """The factor of a boost, if it is given."""
    try:
        return float(words[0]) if words else USUAL_BOOST
    except ValueError:
        raise BadInput(
            f"boost {words[0]!r}: the factor must be a number such as 2; 1 ends a boost"
        ) from None


def encode_message(message: AnyMessage) -> str:
    """A message as it is kept."""
    return msgspec.json.encode(message).decode()


def decode_message(text: str | bytes) -> AnyMessage:
    """A message that was kept; msgspec.ValidationError for anything else."""
    message: AnyMessage = msgspec.json.decode(text, type=AnyMessage)
    return message


def message_in_words(message: AnyMessage) -> str:
    """A message as one types it.

    >>> message_in_words(BoostHost("example.org", 2.0))
    'boost example.org 2'
    >>> message_in_words(AskQuery("star cluster", 5))
    'query star cluster --pages 5'
    """
    match message:
        case AddSeed(url):
            return f"seed {url}"
        case BlockHost(host):
            return f"block {host}"
        case BoostHost(host, 1.0):
            return f"unblock {host}"
        case BoostHost(host, factor):
            return f"boost {host} {factor:g}"
        case LabelPage(url, relevant, check):
            check_word = " check" if check else ""
            return f"label {url} {'yes' if relevant else 'no'}{check_word}"
        case AskQuery(query, pages):
            return f"query {query} --pages {pages}"
    return str(message.__struct_config__.tag)
