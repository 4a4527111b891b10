"""Runs commands inside the test's own process: for messages, where that is enough."""

import asyncio
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from crawling import OPILIO, Ended
from opilio.cli import main


def run(*arguments: object) -> Ended:
    """Run the command to its end, as `opilio` does in `crawling`."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    code: object = 0
    with (
        patch.object(sys, "argv", [str(OPILIO), *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    texts = []
    for file in (out, err):
        file.flush()
        texts.append(file.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Ended(int(str(code)), *texts)


async def run_beside(*arguments: object) -> Ended:
    """The same for a command that has an event loop of its own."""
    return await asyncio.to_thread(run, *arguments)
