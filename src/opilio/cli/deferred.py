"""Imports each command only when it is run, so that the command line starts fast.

`opilio --help` needs only the names and first lines of the commands.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from inspect import cleandoc
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from opilio.cli.error_messages import while_read
from opilio.cli.plain_values import PlainCommand, reading_plainly
from opilio.errors import OpilioError

LONGEST = 400  # characters of a message about a wrong argument


class CommandPlace(NamedTuple):
    """Where a command is, and what it does."""

    module: str
    name: str  # of a function, or of a Typer with sub-commands
    help: str  # its first line
    group: str  # the heading under which `opilio --help` lists it
    kind: str = ""  # the name of its TyperCommand class, if it has a special one

    def load(self, command: str) -> TyperCommand | TyperGroup:
        """Import the command."""
        with importing_for_good():
            module = import_module(self.module)
        found = getattr(module, self.name)
        made: TyperCommand | TyperGroup
        if isinstance(found, typer.Typer):
            made = typer.main.get_group(found)
        else:
            alone = typer.Typer(add_completion=False)
            kind = getattr(module, self.kind) if self.kind else PlainCommand
            alone.command(command, cls=kind)(found)
            made = typer.main.get_command(alone)  # type: ignore[assignment]
        lay_out(made)
        return made


@contextmanager
def importing_for_good() -> Iterator[None]:
    """Import modules without looking for garbage among them, now or later: that was an
    eighth of the start of a crawl."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class Deferred(TyperCommand):
    """A command that is imported when it is run or its parameters are needed."""

    def __init__(self, name: str, place: CommandPlace) -> None:
        self.place = place
        super().__init__(name, help=place.help, rich_help_panel=place.group)

    @cached_property
    def loaded(self) -> TyperCommand | TyperGroup:
        """The command itself."""
        return self.place.load(self.name or "")

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Let the imported command parse its arguments and run."""
        return self.loaded.make_context(*args, **extra)

    @property
    def params(self) -> Any:
        """The parameters of the imported command."""
        return self.loaded.params

    @params.setter
    def params(self, _: Any) -> None:
        """Ignored: none are known before the import."""


def deferred(places: Mapping[str, CommandPlace]) -> type[TyperGroup]:
    """A group of these commands, in this order."""

    class Group(TyperGroup):
        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            for name, place in places.items():
                self.add_command(Deferred(name, place))

        def get_params(self, ctx: Any) -> Any:
            return reading_plainly(super().get_params(ctx))

        def make_context(self, *args: Any, **extra: Any) -> Any:
            with quoting_briefly():
                return super().make_context(*args, **extra)

        def invoke(self, ctx: Any) -> Any:
            with quoting_briefly(), while_read():
                return super().invoke(ctx)

    return Group


def lay_out(command: Any) -> None:
    """Change the help of a command, or of the commands of a group."""
    command.help = laid_out(command.help or "")
    for below in getattr(command, "commands", {}).values():
        lay_out(below)


def laid_out(docstring: str) -> str:
    """Text whose lines the terminal breaks, and examples with a prompt, one a line."""
    paragraphs: list[str] = []
    for paragraph in cleandoc(docstring).split("\n\n"):
        if not paragraph.startswith(" "):
            paragraphs.append(" ".join(paragraph.split("\n")))
        elif paragraphs:
            paragraphs[-1] += f"\n$ {paragraph.strip()}"
    return "\n\n".join(paragraphs)


@contextmanager
def quoting_briefly() -> Iterator[None]:
    """Shorten long arguments in usage errors."""
    try:
        yield
    except OpilioError:
        raise  # handled by click itself
    except Exception as error:
        shorten(error)
        raise


def shorten(error: Any) -> None:
    """Shorten the message of a usage error."""
    if isinstance(getattr(error, "message", None), str):
        from opilio.cli.plain_text import brief

        error.message = brief(error.message, LONGEST)
