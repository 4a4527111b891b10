"""Writes a message of a crawl and what became of it in one line."""

from __future__ import annotations

from rich.text import Text

from opilio.cli.plain_text import plain
from opilio.store.message_log import REFUSED, ToldMessage


def in_a_line(told: ToldMessage) -> Text:
    """A message and what became of it."""
    style = "red" if told.state == REFUSED else "green" if told.is_over else "yellow"
    outcome = f": {told.outcome}" if told.outcome else ""
    return Text(f"{told.state:8} ", style) + Text(plain(told.text + outcome))
