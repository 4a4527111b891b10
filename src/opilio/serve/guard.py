"""Lets requests in or not: Host and Origin, login, size; adds security headers.

It is the outermost layer, so every route is behind it. A request must

1. name a host that this server is known by (against DNS rebinding), else 421;
2. come with a session cookie or the token, else it gets the login page or 401;
3. if it changes something: be a POST, come from this origin, and carry the token of
   the session's forms, unless it carries the token of programs, which no browser sends
   by itself; else 403 or 405;
4. have a body of at most 1 MiB, else 413.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from opilio.serve.login import Doorkeeper

LARGEST_BODY = 2**20  # bytes
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
OPEN = ("/login", "/static/")  # paths without a login
SAFE = ("GET", "HEAD")
FORM_TOKEN_HEADER = "x-form-token"  # noqa: S105  the name of a header
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """The outermost layer of the server."""

    def __init__(
        self, app: ASGIApp, keeper: Doorkeeper, hosts: Collection[str], cookie: str
    ) -> None:
        self.app = app
        self.keeper = keeper
        self.hosts = frozenset(hosts)  # with ports, as browsers write them
        self.cookie = cookie  # its name, which has the port in it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no WebSockets here
            await send({"type": "websocket.close"})
            return
        refused = self.check(scope)

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        if refused:
            await refused(scope, receive, send_safely)
            return
        try:
            await self.app(scope, limited(receive), send_safely)
        except BodyTooLarge:  # nothing was answered: the body is read before that
            await too_large()(scope, receive, send_safely)

    def check(self, scope: Scope) -> Response | None:
        """The answer to a request that may not pass; None if it may."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if len(headers.getlist("host")) != 1 or host not in self.hosts:
            return PlainTextResponse(
                "This server is not known by that name; start it with --allow-host "
                "NAME to use it by another name.\n",
                421,
            )
        if int_or(headers.get("content-length"), 0) > LARGEST_BODY:
            return too_large()
        cookie = cookies(headers).get(self.cookie, "")
        scope["state"] = {"form_token": self.keeper.form_token(cookie)}
        path, method = scope["path"], scope["method"]
        if path.startswith(OPEN):
            wrong = method not in SAFE and not self.is_own(headers, scope)
            return forbidden("it comes from another site") if wrong else None
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self.keeper.is_token(bearer):
            return None
        form_token = scope["state"]["form_token"]
        if not form_token:
            return self.unknown(scope, headers)
        if method not in SAFE and not self.is_own(headers, scope):
            return forbidden("it comes from another site")
        return None

    def unknown(self, scope: Scope, headers: Headers) -> Response:
        """The answer to somebody who is not logged in."""
        wants_page = "text/html" in headers.get("accept", "")
        if wants_page and scope["method"] in SAFE:
            return RedirectResponse("/login", 303)
        return PlainTextResponse(
            "Not logged in. Open the login link that `opilio serve` printed, or send "
            "the token: Authorization: Bearer TOKEN\n",
            401,
            {"www-authenticate": "Bearer"},
        )

    def is_own(self, headers: Mapping[str, str], scope: Scope) -> bool:
        """Whether a browser says that a page of this server sent the request."""
        site = headers.get("sec-fetch-site", "same-origin")
        origin = headers.get("origin", "")
        if site != "same-origin" or not origin:
            return False
        parts = urlsplit(origin)
        return parts.netloc.lower() == headers.get("host", "").lower()


class BodyTooLarge(Exception):
    """The body of a request became too large while it was received."""


def too_large() -> Response:
    """The answer to a request with too large a body."""
    told = f"The request is larger than {LARGEST_BODY:,} bytes.\n"
    return PlainTextResponse(told, 413)


def limited(receive: Receive) -> Receive:
    """Receives a request; BodyTooLarge where its body becomes that."""
    received = 0

    async def receive_some() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST_BODY:
            raise BodyTooLarge
        return message

    return receive_some


def forbidden(why: str) -> Response:
    """The answer to a request that may change nothing."""
    return PlainTextResponse(f"The request was refused: {why}.\n", 403)


def cookies(headers: Headers) -> dict[str, str]:
    """The cookies of a request; none if they cannot be read."""
    try:
        parsed = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in parsed.items()}


def int_or(text: str | None, otherwise: int) -> int:
    """A number in a header, or another one if there is none."""
    return int(text) if text and text.isdecimal() and len(text) < 20 else otherwise


def host_names(host: str, port: int, more: Collection[str]) -> set[str]:
    """The values of the Host header that are accepted: with the port, and without it
    where it is the default."""
    names = {*LOOPBACK, host.lower()}
    names -= {"0.0.0.0", "::", "[::]"}  # noqa: S104  no browser uses these as a name
    with_port = {f"{name}:{port}" for name in names}
    chosen = {name.lower() for name in more}  # perhaps those of a proxy before us
    chosen |= {f"{name}:{port}" for name in chosen if ":" not in name}
    return with_port | chosen | (names if port in (80, 443) else set())
