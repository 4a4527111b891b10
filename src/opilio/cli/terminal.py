"""What a person sees: consoles, and crawled text made harmless for them."""

from __future__ import annotations

import re
import unicodedata

from rich.console import Console
from rich.text import Text


class Screen(Console):
    """A console that leaves it to the command to end when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """The reader has seen enough, as `| head` has."""
        raise BrokenPipeError


stdout = Screen(highlight=False)
stderr = Screen(stderr=True, highlight=False)

_long_word = re.compile(r"(\S{120})\S{100,}(\S{40})")


def plain(text: str, limit: int = 0) -> str:
    """Crawled text without control characters, cut to `limit` characters."""
    clean = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cf", "Cs") else character
        for character in text
    )
    clean = " ".join(clean.split())
    return clean if not limit or len(clean) <= limit else clean[: limit - 1] + "…"


def brief(message: str, limit: int = 0) -> str:
    """A message without the middle of words that are too long to be read; nor its own,
    if it has more than `limit` characters."""
    short = _long_word.sub(r"\1…\2", message)
    if not limit or len(short) <= limit:
        return short
    end = limit // 4  # says what is wrong, or how to mend it
    return f"{short[: limit - end - 3]} … {short[-end:]}"


def foreign(text: str, limit: int = 0, style: str = "") -> Text:
    """Crawled text for rich: cleaned, and never read as markup."""
    return Text(plain(text, limit), style=style, no_wrap=True, overflow="ellipsis")


def curve(values: list[float], width: int = 60, height: int = 8) -> list[str]:
    """A line drawn in characters, one string a row, top first; values in [0, 1]."""
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
