"""Serves a crawl beside its process, until that ends: `opilio crawl --serve`.

The crawl starts this module and keeps its standard input open; when the crawl ends,
however it does, the input ends too.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from opilio.serve.run import Listening, run_server


def main() -> None:
    """Serve the folder that is named, and print the login link."""
    threading.Thread(target=end_with_input, daemon=True).start()
    run_server(
        Path(sys.argv[1]),
        Listening("127.0.0.1", 0),
        lambda link: print(link, flush=True),
    )


def end_with_input() -> None:
    """End this process when its standard input ends."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
