"""Words of the command line in; the values they stand for out, where that is plain.

typer asks pydantic about every value, and to import that takes longer than most
commands do. So what is beyond doubt is read here, and all else is left to typer, which
knows what to say about it.
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
    """Typer may know what it is."""


class PlainCommand(TyperCommand):
    """A command that needs no pydantic unless a value is odd."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, also that for help."""
        return reading_plainly(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run it; what the machine refuses is told with the folder it was given."""
        given = ctx.params
        with told(given.get("folder"), str(given.get("output") or "")):
            return super().invoke(ctx)


def reading_plainly(parameters: list[Any]) -> list[Any]:
    """The parameters, which read plain values without typer from now on."""
    for parameter in parameters:
        if not isinstance(parameter.process_value, partial):
            otherwise = parameter.process_value
            parameter.process_value = partial(read, parameter, otherwise)
    return parameters


def read(
    parameter: Any, otherwise: Callable[[Any, Any], Any], context: Any, given: Any
) -> Any:
    """What a parameter was given, by ourselves or else by typer."""
    if parameter.required and not given:
        return otherwise(context, given)
    try:
        value = read_all(parameter, given)
    except (NotPlain, AttributeError, TypeError, ValueError):
        # Or it is another typer than the one we know.
        return otherwise(context, given)
    called = parameter.callback
    return called(context, parameter, value) if called else value


def read_all(parameter: Any, given: Any) -> Any:
    """The value of a parameter, of which there may be several; NotPlain if one is."""
    many = parameter.multiple or parameter.nargs == -1
    if given is None:
        return () if many else None
    kind = parameter.type_descriptor
    if not many:
        return read_one(given, kind.annotation, kind.parameter_info)
    [wanted] = get_args(kind.annotation)
    return [read_one(one, wanted, kind.parameter_info) for one in given]


def read_one(given: Any, wanted: Any, limits: Any) -> Any:
    """The value of one word, or a default as it is; NotPlain if that is in doubt."""
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
    """May it be any file or folder, there or not?"""
    return (
        limits.file_okay
        and limits.dir_okay
        and not (limits.exists or limits.resolve_path or limits.allow_dash)
        and not (limits.writable or limits.path_type)
    )
