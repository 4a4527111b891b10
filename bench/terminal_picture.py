"""Draws what a command prints on a terminal as an SVG picture for the docs.

`python -m bench.terminal_picture docs/images/status.svg opilio status demo-crawl` runs
`opilio status demo-crawl` as on a terminal of 88 columns, with colours.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS = 88


def main(picture: str, *command: str) -> None:
    """Run the command and draw its output below it."""
    told = subprocess.run(
        command,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    shown = " ".join(command)
    console.print(Text(f"$ {shown}", "bold"))
    console.print(Text.from_ansi(told.rstrip()))
    drawing = console.export_svg(title=shown, theme=MONOKAI)
    # Only fonts of the reader's machine, so that the picture loads nothing.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)
    Path(picture).parent.mkdir(parents=True, exist_ok=True)
    Path(picture).write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
