"""Serves the hostile cases on loopback, to be tried by hand against any crawler."""

from __future__ import annotations

import argparse
import asyncio

from opilio.lab.hostile.cases import CASES
from opilio.lab.hostile.server import serve_cases


def main() -> None:
    """List or serve the cases."""
    parser = argparse.ArgumentParser(
        "python -m opilio.lab.hostile", description=__doc__
    )
    parser.add_argument("--list", action="store_true", help="list the cases and exit")
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free")
    chosen = parser.parse_args()
    if chosen.list:
        for case in CASES.values():
            print(f"{case.name:22} {case.sends}")
        return
    try:
        asyncio.run(serve(chosen.port))
    except KeyboardInterrupt:
        return


async def serve(port: int) -> None:
    """Serve until interrupted."""
    async with serve_cases(CASES, port) as server:
        address = f"http://127.0.0.1:{server.port}"
        print(f"{len(CASES)} cases at {address}/NAME/, and all of them at {address}/")
        print(f"As a proxy ({address}): http://NAME.test/. Ctrl-C ends it.")
        await asyncio.Event().wait()


if __name__ == "__main__":
    main()
