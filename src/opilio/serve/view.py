"""What a page is made of: typed parameters, a function, a typed result, a template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta

from opilio.serve.library import Library
from opilio.serve.served_crawl import ServedCrawl

Address: TypeAlias = Annotated[str, Meta(min_length=1, max_length=8_000)]
"""A URL, in any spelling."""
PageNumber: TypeAlias = Annotated[int, Meta(ge=1, le=1_000)]


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For views that need nothing but the crawl."""


class View(NamedTuple):
    """A page of a crawl, and its JSON twin."""

    name: str  # of its template, and of its path if that is not empty
    path: str  # below the crawl
    title: str  # in navigation and browser tabs
    help: str  # a sentence for the OpenAPI document
    parameters: type[msgspec.Struct]
    result: type[msgspec.Struct]
    show: Callable[[ServedCrawl, Any], Any]
    in_navigation: bool = True


class LibraryView(NamedTuple):
    """A page about no single crawl, and its JSON twin."""

    name: str
    path: str
    title: str
    help: str
    parameters: type[msgspec.Struct]
    result: type[msgspec.Struct]
    show: Callable[[Library, Any], Any]


class Action(NamedTuple):
    """Something that a POST does to a crawl."""

    path: str  # below the crawl, or below the API if it is about none
    help: str
    body: type[msgspec.Struct]
    result: type[msgspec.Struct]
    act: Callable[[Any, Any], Any]  # crawl or library, and body
    next_page: Callable[[Any], str]  # result -> where a form's sender goes then
    say: Callable[[Any], str] = lambda _: ""  # result -> what the page says there
    again: LibraryView | None = None  # the form, to correct what was wrong in it
