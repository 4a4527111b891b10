"""The kinds of synthetic web that the lab can make, each with dials of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from opilio.lab.synthetic.dials import MANY_HOSTS, Dials
from opilio.lab.synthetic.lists.dials import ListDials
from opilio.lab.synthetic.lists.web import ListWeb
from opilio.lab.synthetic.web import SyntheticAnswer, SyntheticWeb


class WebKind(StrEnum):
    """How relevant pages are reached."""

    DENSE = "dense"  # through links in the text of other relevant pages
    LISTS = "lists"  # through lists that say little about what they list
    HOSTS = "hosts"  # on few of many hosts, with few links between hosts


class MadeWeb(Protocol):
    """A synthetic web of any kind."""

    title: str
    topics: tuple[str, ...]
    hosts: tuple[str, ...]

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        """The answer to a request that was made `attempt` times before."""
        ...

    def labels(self, url: str) -> Sequence[str]:
        """The topics that a page is about."""
        ...

    def urls(self) -> Iterator[str]:
        """The URL of every page."""
        ...

    def detours(self) -> Iterator[str]:
        """The URLs that are linked but give no page."""
        ...

    def seeds(self, topic: str, n: int) -> Sequence[str]:
        """Pages about a topic to start from."""
        ...

    def topic_file(self, topic: str) -> str:
        """A topic file in TOML, with the table that only the lab reads."""
        ...


KINDS: Mapping[WebKind, tuple[Callable[[Any], MadeWeb], Dials | ListDials]] = {
    WebKind.DENSE: (SyntheticWeb, Dials()),
    WebKind.LISTS: (ListWeb, ListDials()),
    WebKind.HOSTS: (SyntheticWeb, MANY_HOSTS),
}


def make_kind(kind: WebKind, **dials: int | float | None) -> MadeWeb:
    """A web of this kind; dials that are None keep the kind's own value."""
    make, usual = KINDS[kind]
    given = {name: value for name, value in dials.items() if value is not None}
    return make(msgspec.structs.replace(usual, **given))
