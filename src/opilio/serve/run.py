"""Runs the server until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from opilio.errors import BadInput
from opilio.serve.app import make_app
from opilio.serve.guard import Guard, host_names
from opilio.serve.library import Library
from opilio.serve.login import Doorkeeper, read_token

if TYPE_CHECKING:
    from mcp.server import MCPServer

KEEP_ALIVE = 30  # seconds that an idle connection stays open
MOST_CONNECTIONS = 200
ANY = ("0.0.0.0", "::")  # noqa: S104  addresses that stand for all
PATIENCE = 3  # seconds for requests under way when the server ends


class Listening(NamedTuple):
    """Where and for whom the server listens."""

    host: str
    port: int
    token_file: Path | None = None
    names: tuple[str, ...] = ()  # more that it is known by


def run_server(folder: Path, where: Listening, tell: Callable[[str], None]) -> None:
    """Serve the crawls of a folder; `tell` gets the login link once it listens."""
    library = Library(folder)
    keeper = Doorkeeper(read_token(where.token_file) if where.token_file else "")

    def pages(hosts: set[str], cookie: str, is_ending: Callable[[], bool]) -> ASGIApp:
        return make_app(library, keeper, hosts, cookie, is_ending)

    def tell_link(place: str) -> None:
        tell(f"{place}/login?code={keeper.link_code}")

    asyncio.run(listen(where, pages, tell_link))


def run_agents(
    agents: MCPServer, where: Listening, tell: Callable[[str], None]
) -> None:
    """Serve tools for agents over HTTP; they must send the token."""
    from mcp.server.transport_security import TransportSecuritySettings  # slow

    keeper = Doorkeeper(read_token(where.token_file) if where.token_file else "")
    keeper.link_code = ""  # nobody logs in
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = agents.streamable_http_app(transport_security=unchecked)  # Guard checks

    def guarded(hosts: set[str], cookie: str, _: Callable[[], bool]) -> ASGIApp:
        return Guard(app, keeper, hosts, cookie)

    asyncio.run(listen(where, guarded, lambda place: tell(f"{place}/mcp")))


async def listen(
    where: Listening,
    make: Callable[[set[str], str, Callable[[], bool]], ASGIApp],
    tell: Callable[[str], None],
) -> None:
    """Listen, tell the address, and serve; `make` gets the names of the server and of
    its cookie, and a function that says whether the server is ending."""
    config = uvicorn.Config(
        app=lambda: None,
        host=where.host.strip("[]"),
        port=where.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=PATIENCE,
    )
    try:
        socket = config.bind_socket()
    except SystemExit:
        raise BadInput(
            f"nothing can listen at {where.host} port {where.port}, probably because "
            "another program does; choose another with --port"
        ) from None
    socket.listen(MOST_CONNECTIONS)  # who opens the link at once waits a moment
    port = socket.getsockname()[1]
    hosts = host_names(where.host, port, where.names)
    server = uvicorn.Server(config)
    config.app = make(hosts, f"opilio_{port}", lambda: server.should_exit)
    shown = where.host if where.host not in ANY else "localhost"
    tell(f"http://{shown}:{port}")
    await server.serve(sockets=[socket])
    # After a signal, uvicorn restores the old handlers and raises the signal again. A
    # shell starts background jobs with SIGINT ignored, and then nothing comes of that.
    if server.should_exit:
        raise KeyboardInterrupt
