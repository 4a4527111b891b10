"""Runs the server until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import uvicorn

from opilio.errors import BadInput
from opilio.serve.app import make_app
from opilio.serve.guard import host_names
from opilio.serve.library import Library
from opilio.serve.login import Doorkeeper, read_token

KEEP_ALIVE = 30  # seconds that an idle connection stays open
MOST_CONNECTIONS = 200
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
    asyncio.run(serve_until_stopped(library, keeper, where, tell))


async def serve_until_stopped(
    library: Library,
    keeper: Doorkeeper,
    where: Listening,
    tell: Callable[[str], None],
) -> None:
    """Listen, tell the link, and serve."""
    hosts: set[str] = set()
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
    port = socket.getsockname()[1]
    hosts = host_names(where.host, port, where.names)
    config.app = make_app(library, keeper, hosts, f"opilio_{port}")
    server = uvicorn.Server(config)
    shown = where.host if where.host not in ("0.0.0.0", "::") else "localhost"  # noqa: S104
    tell(f"http://{shown}:{port}/login?code={keeper.link_code}")
    await server.serve(sockets=[socket])
