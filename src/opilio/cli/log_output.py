"""Shows log messages of the library on the terminal, apart from a command's output."""

from __future__ import annotations

import logging


class OnTerminal(logging.Handler):
    """Prints each message on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message; warnings are yellow."""
        from opilio.cli.terminal import foreign, stderr  # most commands log nothing

        style = "yellow" if record.levelno >= logging.WARNING else ""
        message = record.getMessage()
        stderr.print(foreign(message, style=style), soft_wrap=True)


def show_messages() -> None:
    """Show messages of the level INFO and above."""
    logger = logging.getLogger("opilio")
    if not any(isinstance(handler, OnTerminal) for handler in logger.handlers):
        logger.addHandler(OnTerminal())
    logger.setLevel(logging.INFO)
