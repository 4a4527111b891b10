"""Renders pages from templates; everything in them is escaped."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from opilio import __version__
from opilio.cli.plain_text import plain
from opilio.read.main_content.titles import names_of_host, without_name
from opilio.serve import plot
from opilio.serve.library import Library
from opilio.serve.openapi import API
from opilio.serve.view import LibraryView, View
from opilio.serve.views import CRAWL_VIEWS

MOST_SAID = 100  # browsers that something is said to
NOTHING: dict[str, str] = defaultdict(str)  # was written into a form so far
LONGEST = 300  # characters of a crawled title or anchor that are shown


class Renderer:
    """Makes HTML of what views return."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.said: dict[str, str] = {}  # token of a session's forms -> what to say next
        self.templates = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {
            "number": "{:,}".format,
            "percent": "{:.0%}".format,
            "score": "{:.3f}".format,
            "signed": "{:+.3f}".format,
            "short": shortened,
            "day": day,
            "moment": moment,
            "spark": plot.spark,
            "size": plot.size_in_words,
            "outward": outward,
            "query": query_string,
            "segment": lambda name: quote(name, safe=""),
            "headline": headline,
            "sentence": sentence,
        }
        self.templates.globals |= {"version": __version__}

    def page(
        self,
        request: Request,
        view: View | LibraryView,
        shown: Any,
        status: int = 200,
        **more: Any,
    ) -> HTMLResponse:
        """The page of a view."""
        name = request.path_params.get("crawl", "")
        more["shown"] = shown
        if view.name == "overview":
            more["live"] = plot.live_values(shown)
        twin = f"{API}/crawls/{quote(name)}" if name else API
        path = view.path if name else view.path or "crawls"
        twin = f"{twin}/{path}".rstrip("/")
        query = f"?{request.url.query}" if request.url.query else ""
        more |= {"active": view.path, "twin": twin + query}
        return self.html(request, view.name, view.title, status, **more)

    def say(self, request: Request, text: str) -> None:
        """Show this on the next page of the browser that sent a request."""
        if token := getattr(request.state, "form_token", ""):
            self.said = {
                token: sentence(text),
                **dict(list(self.said.items())[:MOST_SAID]),
            }

    def trouble(self, request: Request, message: str, status: int) -> HTMLResponse:
        """A page that says what is wrong."""
        title = "Not found" if status == HTTPStatus.NOT_FOUND else "Something is wrong"
        return self.html(request, "trouble", title, status, message=message)

    def login(self, request: Request, message: str, status: int = 200) -> HTMLResponse:
        """The page for those who are not logged in."""
        return self.html(request, "login", "Log in", status, message=message)

    def html(
        self, request: Request, name: str, title: str, status: int = 200, **more: Any
    ) -> HTMLResponse:
        """A page from its template."""
        crawl = request.path_params.get("crawl", "")
        form_token = getattr(request.state, "form_token", "")
        known = crawl if crawl and self.library.find(crawl) else ""
        text = self.templates.get_template(f"{name}.html").render(
            title=title,
            crawl=known,
            base=f"/crawls/{quote(known, safe='')}" if known else "",
            navigation=[view for view in CRAWL_VIEWS if view.in_navigation],
            form_token=form_token,
            said=self.said.pop(form_token, ""),
            many=not self.library.is_single,
            **{"active": None, "twin": "", "message": "", "given": NOTHING} | more,
            page_name=name,
        )
        return HTMLResponse(text, status)


@lru_cache(maxsize=20_000)  # names of parts and hosts are repeated on every page
def shortened(text: str | None, limit: int = LONGEST) -> str:
    """Crawled text in one line, without control characters."""
    return plain(text or "", limit)


@lru_cache(maxsize=20_000)
def headline(title: str | None, url: str, limit: int = LONGEST) -> str:
    """What a list calls a page: its title without the name of the site, or its URL.

    >>> headline("Honey – Bees Online", "https://www.bees-online.org/honey")
    'Honey'
    """
    return shortened(without_name(title or "", names_of_host(url)) or url, limit)


def sentence(text: str) -> str:
    """A text as a sentence.

    >>> sentence("paused"), sentence("Is it?")
    ('Paused.', 'Is it?')
    """
    end = "" if not text or text[-1] in ".!?…" else "."
    return f"{text[:1].upper()}{text[1:]}{end}"


def outward(url: str) -> str:
    """A URL to link to; "" for one that is not of the web.

    >>> outward("https://example.org/a"), outward("javascript:alert(1)")
    ('https://example.org/a', '')
    """
    return url if urlsplit(url).scheme in ("http", "https") else ""


def query_string(values: Any, **changed: Any) -> str:
    """The query of a URL: the fields of a record that are set, with some changed."""
    names = values.__struct_fields__
    fields = {name: getattr(values, name) for name in names} | changed
    return urlencode({name: value for name, value in fields.items() if value})


def day(at: float | None) -> str:
    """A day, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}" if at else "–"


def moment(at: float | None) -> str:
    """A time, in UTC."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC" if at else "–"
