"""`opilio mcp`: lets agents search and read a crawl, by the Model Context Protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from opilio.cli.terminal import stderr
from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder

USUAL_BUDGET = 200


def mcp(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of a crawl.")
    ],
    allow_fetch: Annotated[
        bool,
        typer.Option("--allow-fetch", help="Let agents fetch pages: expand and crawl."),
    ] = False,
    budget: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="With --allow-fetch: fetch at most N pages until this command ends.",
        ),
    ] = USUAL_BUDGET,
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Serve streamable HTTP instead of standard input and output."
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --http: the port; 0: any.")
    ] = 8471,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --http: agents must send the token in this file; a file that "
            "does not exist is made.",
        ),
    ] = None,
) -> None:
    """Let agents search and read a crawl, by the Model Context Protocol.

    The tools search, read, explain, status and sites only read. With --allow-fetch,
    expand and crawl fetch pages.

    Examples:

        opilio mcp my-crawl

        opilio mcp my-crawl --http --token-file token --allow-fetch --budget 50
    """
    crawl = CrawlFolder(folder).require()
    if http and token_file is None:
        raise BadInput(
            "--http needs --token-file FILE, so that only your agents can connect"
        )
    try:
        from opilio.serve.agent_tools import AgentTools, FetchBudget
        from opilio.serve.run import Listening, run_agents
        from opilio.serve.served_crawl import ServedCrawl
    except ModuleNotFoundError as error:
        raise BadInput(
            f"the library {error.name} is missing; install it with: "
            "pip install 'opilio[serve]'"
        ) from None
    path = crawl.path.resolve()
    served = ServedCrawl(path.name, CrawlFolder(path), path / "run.log")
    server = AgentTools(served, FetchBudget(budget) if allow_fetch else None).server()
    if not http:
        asyncio.run(server.run_stdio_async())
        return

    def tell(link: str) -> None:
        stderr.print(Text(f"Agents connect to {link}"), soft_wrap=True)

    run_agents(server, Listening("127.0.0.1", port, token_file), tell)
