"""Parses simple command-line values without pydantic, so that commands start faster.

typer uses pydantic for every value, and importing that takes longer than most commands
run. Clear cases are parsed here; all others are left to typer, with its messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperCommand

from opilio.cli.error_messages import told

NUMBERS = {
    int: re.compile("[0-9]{1,9}"),
    float: re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?"),
}


class NotPlain(Exception):
    """The value is not a simple one; typer has to parse it."""


class PlainCommand(TyperCommand):
    """A command that needs no pydantic for simple values."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, including --help."""
        return reading_plainly(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run it; errors of the machine are explained with the given folder."""
        given = ctx.params
        folder = str(given.get("folder") or "")  # of a crawl, or its database
        home = Path(folder) if folder and "://" not in folder else None
        with told(home, str(given.get("output") or "")):
            return super().invoke(ctx)


def reading_plainly(parameters: list[Any]) -> list[Any]:
    """The parameters, changed to parse simple values without typer."""
    for parameter in parameters:
        if not isinstance(parameter.process_value, partial):
            otherwise = parameter.process_value
            parameter.process_value = partial(read, parameter, otherwise)
    return parameters


def read(
    parameter: Any, otherwise: Callable[[Any, Any], Any], context: Any, given: Any
) -> Any:
    """Parse the value of a parameter, with typer if it is not simple."""
    if parameter.required and not given:
        return otherwise(context, given)
    try:
        value = read_all(parameter, given)
    except (NotPlain, AttributeError, TypeError, ValueError):
        # Or this is a version of typer that we do not know.
        return otherwise(context, given)
    called = parameter.callback
    return called(context, parameter, value) if called else value


def read_all(parameter: Any, given: Any) -> Any:
    """The value or list of values of a parameter; raises NotPlain if one is not
    simple."""
    many = parameter.multiple or parameter.nargs == -1
    if given is None:
        return () if many else None
    kind = parameter.type_descriptor
    if not many:
        return read_one(given, kind.annotation, kind.parameter_info)
    [wanted] = get_args(kind.annotation)
    return [read_one(one, wanted, kind.parameter_info) for one in given]


def read_one(given: Any, wanted: Any, limits: Any) -> Any:
    """The value of one word, or a default unchanged; raises NotPlain if in doubt."""
    if wanted in (bool, int, float, Path) and isinstance(given, wanted):
        return given
    if wanted is float and isinstance(given, int):
        return float(given)
    if limits.parser or not isinstance(given, str):
        raise NotPlain
    if wanted is str:
        return given
    if wanted is Path and is_any_path(limits):
        path = Path(given)
        if os.path.exists(given) and not os.access(path, os.R_OK):  # noqa: PTH110
            raise NotPlain
        return path
    if wanted in NUMBERS and NUMBERS[wanted].fullmatch(given):
        number = wanted(given)
        if (limits.min is None or number >= limits.min) and (
            limits.max is None or number <= limits.max
        ):
            return number
    raise NotPlain


def is_any_path(limits: Any) -> bool:
    """Whether any path is allowed, existing or not."""
    return (
        limits.file_okay
        and limits.dir_okay
        and not (limits.exists or limits.resolve_path or limits.allow_dash)
        and not (limits.writable or limits.path_type)
    )
