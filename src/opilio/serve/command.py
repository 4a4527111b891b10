"""`opilio serve`: shows crawls in the browser, and serves the API and metrics."""

from __future__ import annotations

import ipaddress
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.cli.crawl_argument import kept_current
from opilio.cli.terminal import stdout
from opilio.errors import BadInput


def serve(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="The folder of a crawl, a folder with several crawls in it, or the "
            "database of a crawl on many machines: postgresql://…",
        ),
    ] = ".",
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Listen at this address; any other than this machine's own needs "
            "--token-file.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Listen at this port; 0: any.")
    ] = 8470,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Accept the token in this file as a login, also of programs; a file "
            "that does not exist is made, with a random token.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PORT]",
            help="Also answer to this name of the server; may be repeated.",
        ),
    ] = None,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
) -> None:
    """Show crawls in the browser; also an HTTP API and metrics.

    Only this machine can reach it, and only with the login link that is printed.

    Examples:

        opilio serve my-crawl --open

        opilio serve --host 0.0.0.0 --token-file token --allow-host www.example.org
    """
    try:
        from opilio.serve.run import Listening, run_server
    except ModuleNotFoundError as error:
        raise BadInput(
            f"the library {error.name} is missing; install it with: "
            "pip install 'opilio[serve]'"
        ) from None
    if not is_loopback(host) and token_file is None:
        raise BadInput(
            f"--host {host} lets other machines connect; give --token-file FILE too, "
            "so that only those who know the token can log in"
        )

    def tell(link: str) -> None:
        stdout.print(Text(f"Open {link}"), soft_wrap=True)
        stdout.print(Text("The link works once. Ctrl-C stops the server.", "dim"))
        if open_browser:
            webbrowser.open(link)

    where = Listening(host, port, token_file, tuple(allow_host or ()))
    with kept_current(folder) as path:
        run_server(path, where, tell)


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
