"""The routes of the server: pages, JSON twins, actions, events, static files."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from opilio.errors import BadInput, OpilioError
from opilio.serve.actions import CRAWL_ACTIONS, LIBRARY_ACTIONS
from opilio.serve.guard import FORM_TOKEN_HEADER, Guard
from opilio.serve.library import Library
from opilio.serve.live import LiveEvents
from opilio.serve.login import Doorkeeper, same
from opilio.serve.metrics import metrics_text
from opilio.serve.openapi import API, openapi
from opilio.serve.render import Renderer
from opilio.serve.view import Action, LibraryView, View
from opilio.serve.views import CRAWL_VIEWS, LIBRARY_VIEWS
from opilio.serve.views.lab_reports import lab_folders

HERE = Path(__file__).parent
FORM = "application/x-www-form-urlencoded"
Endpoint = Callable[[Request], Awaitable[Response]]

log = logging.getLogger(__name__)


class Unknown(OpilioError):
    """There is no crawl of this name."""


def make_app(
    library: Library,
    keeper: Doorkeeper,
    hosts: Collection[str],
    cookie: str,
    is_ending: Callable[[], bool] = lambda: False,
) -> Starlette:
    """The server of a library, behind its guard."""
    routes = PageRoutes(library, keeper, cookie, is_ending)
    return Starlette(
        routes=routes.routes(),
        middleware=[Middleware(Guard, keeper=keeper, hosts=hosts, cookie=cookie)],
        exception_handlers={404: routes.not_found, 405: not_allowed},
        lifespan=closing_library(library),
    )


def closing_library(library: Library) -> Any:
    """Counts what is in the crawls while the first browser is on its way, and closes
    them when the server ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        threading.Thread(target=library.count_first, daemon=True).start()
        yield
        await run_in_threadpool(library.close)

    return lifespan


class PageRoutes:
    """Makes the endpoints of all routes."""

    def __init__(
        self,
        library: Library,
        keeper: Doorkeeper,
        cookie: str,
        is_ending: Callable[[], bool],
    ) -> None:
        self.library = library
        self.keeper = keeper
        self.cookie = cookie
        self.render = Renderer(library)
        self.live = LiveEvents(library, is_ending)

    def routes(self) -> list[Route | Mount]:
        """All routes."""
        of_crawl, below = "/crawls/{crawl}", f"{API}/crawls/{{crawl}}"
        routes: list[Route | Mount] = [
            Mount("/static", StaticFiles(directory=HERE / "static")),
            Route("/login", self.login, methods=["GET", "POST"]),
            Route("/logout", self.logout, methods=["POST"]),
            Route("/metrics", self.metrics),
            Route(f"{API}/openapi.json", self.openapi),
            Route(f"{of_crawl}/events", self.live.stream),
            Route(f"{of_crawl}/preview", self.to_preview),
            Route("/lab/{report}/recall.svg", self.curves),
        ]
        for view in CRAWL_VIEWS:
            page = f"{of_crawl}/{view.path}".rstrip("/")
            routes += [
                Route(page, self.page(view), name=view.name),
                Route(f"{below}/{view.path}".rstrip("/"), self.twin(view)),
            ]
        for shelf in LIBRARY_VIEWS:
            routes += [
                Route(f"/{shelf.path}", self.page(shelf)),
                Route(f"{API}/{shelf.path or 'crawls'}", self.twin(shelf)),
            ]
        for action in CRAWL_ACTIONS:
            routes += [
                Route(f"{of_crawl}/{action.path}", self.form(action), methods=["POST"]),
                Route(f"{below}/{action.path}", self.call(action), methods=["POST"]),
            ]
        for action in LIBRARY_ACTIONS:
            routes += [
                Route(f"/{action.path}", self.form(action), methods=["POST"]),
                Route(f"{API}/{action.path}", self.call(action), methods=["POST"]),
            ]
        return routes

    # Pages and their twins

    def page(self, view: View | LibraryView) -> Endpoint:
        """The endpoint of a page."""

        async def endpoint(request: Request) -> Response:
            if view.name == "home" and (place := self.first_page()):
                return RedirectResponse(place, 303)
            return await run_in_threadpool(self.rendered, view, request)

        return endpoint

    def rendered(self, view: View | LibraryView, request: Request) -> Response:
        """The page of a view, or what is wrong with the request."""
        try:
            shown = self.show(view, request)
        except (OpilioError, sqlite3.Error, msgspec.ValidationError) as error:
            return self.render.trouble(request, *told(error))
        return self.render.page(request, view, shown)

    def first_page(self) -> str:
        """Where to go instead of the list of crawls: to the only one, or to the form
        for a new one if there are none; "" if there is something to list."""
        if self.library.is_single:
            (only,) = self.library.crawls()
            return f"/crawls/{quote(only)}"
        return "" if self.library.crawls() else "/start"

    def twin(self, view: View | LibraryView) -> Endpoint:
        """The endpoint of the same as JSON."""

        async def endpoint(request: Request) -> Response:
            try:
                shown = await run_in_threadpool(self.show, view, request)
            except (OpilioError, sqlite3.Error, msgspec.ValidationError) as error:
                return problem(*told(error))
            return as_json(shown)

        return endpoint

    def show(self, view: View | LibraryView, request: Request) -> Any:
        """What a view shows for a request."""
        given = parameters(request.query_params.multi_items(), view.parameters)
        return view.show(self.whose(request), given)

    def whose(self, request: Request) -> Any:
        """The crawl that a request names; the library if it names none."""
        name = request.path_params.get("crawl")
        if name is None:
            return self.library
        crawl = self.library.find(name)
        if crawl is None:
            raise Unknown(f"there is no crawl {name[:80]!r} here")
        return crawl

    # Actions

    def form(self, action: Action) -> Endpoint:
        """The endpoint of a form: it acts, then shows another page."""

        async def endpoint(request: Request) -> Response:
            rest: list[tuple[str, str]] = []
            try:
                if request.headers.get("content-type", "").partition(";")[0] != FORM:
                    raise BadInput(f"send a form as {FORM}")
                async with request.form(max_fields=2_000) as form:
                    fields = [(name, str(value)) for name, value in form.multi_items()]
                sent = [value for name, value in fields if name == "form_token"]
                if not self.is_ours(request, sent):
                    return PlainTextResponse("The form is not from this session.", 403)
                rest = [pair for pair in fields if pair[0] != "form_token"]
                body = parameters(rest, action.body)
                result = await run_in_threadpool(self.act, action, request, body)
            except (OpilioError, sqlite3.Error, msgspec.ValidationError) as error:
                wrong = action, request, rest, error
                return await run_in_threadpool(self.refuse, *wrong)
            self.render.say(request, action.say(result))
            name = request.path_params.get("crawl")
            before = f"/crawls/{quote(name)}" if name else ""
            return RedirectResponse(before + action.next_page(result), 303)

        return endpoint

    def refuse(
        self,
        action: Action,
        request: Request,
        fields: list[tuple[str, str]],
        error: Exception,
    ) -> Response:
        """Say what is wrong with a form: above it, with all that was written into it,
        or else on a page of its own."""
        message, status = told(error)
        if action.again is None:
            return self.render.trouble(request, message, status)
        shown = action.again.show(self.library, action.again.parameters())
        more = {"message": message, "given": defaultdict(str, fields)}
        return self.render.page(request, action.again, shown, status, **more)

    def call(self, action: Action) -> Endpoint:
        """The endpoint of the same for programs: JSON in, JSON out."""

        async def endpoint(request: Request) -> Response:
            try:
                if not self.is_ours(request, []):
                    return problem("send the token, or the header X-Form-Token", 403)
                body = msgspec.json.decode(await request.body() or b"{}")
                given = msgspec.convert(body, action.body)
                result = await run_in_threadpool(self.act, action, request, given)
            except (OpilioError, sqlite3.Error, msgspec.ValidationError) as error:
                return problem(*told(error))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                return problem(f"the body is not JSON: {error}", 400)
            return as_json(result)

        return endpoint

    def act(self, action: Action, request: Request, body: Any) -> Any:
        """Do what a request asks for."""
        return action.act(self.whose(request), body)

    def is_ours(self, request: Request, sent: list[str]) -> bool:
        """Whether a request that changes something has the token of this session's
        forms, or the token of programs."""
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.keeper.is_token(bearer):
            return True
        expected = getattr(request.state, "form_token", "")
        token = sent[0] if sent else request.headers.get(FORM_TOKEN_HEADER, "")
        return bool(expected) and same(token, expected)

    # The rest

    async def login(self, request: Request) -> Response:
        """Begin a session, by the login link or by the token."""
        code = request.query_params.get("code", "")
        if request.method == "POST":
            async with request.form(max_fields=10) as form:
                code = str(form.get("token", ""))
        if not code:
            return self.render.login(request, "")
        cookie = self.keeper.enter(code.strip())
        if not cookie:
            return self.render.login(
                request, "That login link was used already, or the token is wrong.", 403
            )
        response = RedirectResponse("/", 303)
        response.set_cookie(self.cookie, cookie, httponly=True, samesite="strict")
        return response

    async def logout(self, request: Request) -> Response:
        """End the session of this browser."""
        self.keeper.leave(request.cookies.get(self.cookie, ""))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(self.cookie)
        return response

    async def curves(self, request: Request) -> Response:
        """The curves of a comparison, as a picture."""
        found = await run_in_threadpool(lab_folders, self.library)
        folder = found.get(request.path_params["report"])
        if folder is None or not (folder / "recall.svg").is_file():
            return PlainTextResponse("There are no such curves.\n", 404)
        return FileResponse(folder / "recall.svg", media_type="image/svg+xml")

    async def metrics(self, _: Request) -> Response:
        """The figures of all crawls for Prometheus."""
        text = await run_in_threadpool(metrics_text, self.library)
        return Response(text, media_type="text/plain; version=0.0.4")

    async def to_preview(self, request: Request) -> Response:
        """Where a form on the preview of a crawl goes back to."""
        name = quote(request.path_params["crawl"], safe="")
        return RedirectResponse(f"/preview?name={name}", 303)

    async def not_found(self, request: Request, _: Exception) -> Response:
        """There is nothing at this address."""
        if request.url.path.startswith(API):
            return problem("there is nothing at this address", 404)
        message = "there is nothing at this address"
        return await run_in_threadpool(self.render.trouble, request, message, 404)

    async def openapi(self, _: Request) -> Response:
        """The description of the API."""
        return as_json(openapi())


def parameters(pairs: list[tuple[str, str]], kind: type[msgspec.Struct]) -> Any:
    """Query or form parameters as a record; a repeated one becomes a list."""
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    values: dict[str, Any] = {}
    for name, value in pairs:
        if "list" in str(types.get(name, "")) or "tuple" in str(types.get(name, "")):
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return msgspec.convert(values, kind, strict=False)


def told(error: Exception) -> tuple[str, int]:
    """What to say about an error, and the status of the response."""
    if isinstance(error, Unknown):
        return str(error), 404
    if isinstance(error, msgspec.ValidationError):
        return f"the request cannot be understood: {error}", 422
    if isinstance(error, sqlite3.Error):
        log.warning("crawl.db: %s", error)
        return f"the crawl cannot be read now ({error}); try again", 503
    return str(error), 400


def as_json(value: Any) -> Response:
    """A result for programs."""
    return Response(msgspec.json.encode(value), media_type="application/json")


def problem(message: str, status: int) -> Response:
    """An error for programs."""
    body = msgspec.json.encode({"error": message})
    return Response(body, status, media_type="application/json")


async def not_allowed(request: Request, error: Exception) -> Response:
    """What this address does not do."""
    allowed = getattr(error, "headers", None) or {}
    if request.url.path.startswith(API):
        response = problem(f"{request.method} is not possible here", 405)
        response.headers.update(allowed)
        return response
    return PlainTextResponse("Only POST changes something.\n", 405, allowed)
