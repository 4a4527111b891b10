"""Consoles for terminal output, and functions that make crawled text safe to print."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from opilio.cli.plain_text import plain


class Screen(Console):
    """A console that raises BrokenPipeError when the reader closes the pipe."""

    def on_broken_pipe(self) -> None:
        """Let the command end, as after `| head`."""
        raise BrokenPipeError


stdout = Screen(highlight=False)
stderr = Screen(stderr=True, highlight=False)


def foreign(text: str, limit: int = 0, style: str = "") -> Text:
    """Crawled text for rich: without control characters, never parsed as markup."""
    return Text(plain(text, limit), style=style, no_wrap=True, overflow="ellipsis")


def draw_curve(values: list[float], width: int = 60, height: int = 8) -> list[str]:
    """A line chart in characters, one string per row, top first; values in [0, 1]."""
    if not values:
        return []
    columns = min(width, len(values))
    heights = [
        values[int((column + 0.5) * len(values) / columns)] for column in range(columns)
    ]
    blocks = " ▁▂▃▄▅▆▇█"
    rows = []
    for row in range(height - 1, -1, -1):
        cells = (min(max(value * height - row, 0.0), 1.0) for value in heights)
        label = f"{(row + 1) / height:4.0%}" if row % 2 else "    "
        rows.append(f"{label} ┤" + "".join(blocks[round(cell * 8)] for cell in cells))
    return rows
