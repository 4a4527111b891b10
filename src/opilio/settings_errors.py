"""Explains why a value in a settings or topic file was refused, and what is allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import inspect

STEP = re.compile(r"\.(\w+)|\[(\d+)\]")  # of a path: a key, or a place in an array
LONGEST = 60  # characters of a value that are quoted


def explain_mismatch(
    error: msgspec.ValidationError, given: Mapping[str, Any], kind: type
) -> str:
    """`Invalid enum value 'x' - at $.a.b` as `a.b: expected one of 'y', 'z', got 'x'`.

    Messages of msgspec about missing keys stay as they are.
    """
    message, _, path = str(error).partition(" - at ")
    path = path.strip("`").removeprefix("$")
    value, wanted = at(path, given, inspect.type_info(kind))
    if "missing required field" in message:
        message += "; add it"
    elif allowed := describe(wanted):
        message = f"expected {allowed}, got {shorten(value)}"
    where = path.lstrip(".")
    message = message[0].lower() + message[1:]
    return f"{where}: {message}" if where else message


def at(path: str, value: Any, wanted: inspect.Type) -> tuple[Any, inspect.Type | None]:
    """The value at a path, and the type expected there; None: that is not known."""
    steps = list(STEP.finditer(path))
    if "".join(step[0] for step in steps) != path:
        return None, None
    for key, place in (step.groups() for step in steps):
        inner = within(wanted, key)
        if inner is None:
            return None, None
        wanted, value = inner, value[key] if key else value[int(place)]
    return value, wanted


def within(wanted: inspect.Type, key: str | None) -> inspect.Type | None:
    """The type expected under a key of a table, or in an array."""
    match wanted:
        case inspect.StructType(fields=fields) if key:
            types = {field.encode_name: field.type for field in fields}
            return types.get(key)
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return item if not key else None
        case inspect.UnionType(types=types):
            found = (within(one, key) for one in types)
            return next((one for one in found if one), None)
    return None


def describe(wanted: inspect.Type | None) -> str:
    """The expected values in words; empty where there is no simple way to say it."""
    match wanted:
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(repr, values))}"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number" + limits(wanted)
        case inspect.FloatType():
            return "a number" + limits(wanted)
        case inspect.Metadata(extra_json_schema={"description": str(said)}):
            return said
        case inspect.StructType():
            return "a table"
        case inspect.ListType() | inspect.VarTupleType():
            return "a list, as in ['…']"
        case inspect.UnionType(types=types):
            each = [describe(one) for one in types if one != inspect.NoneType()]
            return " or ".join(each) if all(each) else ""
        case inspect.StrType(pattern=str(pattern)):
            return f"text that matches {pattern}"
    return ""


def limits(number: inspect.IntType | inspect.FloatType) -> str:
    """The range of a number, if it has one."""
    if number.ge is not None and number.le is not None:
        return f" from {number.ge:g} to {number.le:g}"
    bounds: Sequence[tuple[str, float | None]] = (
        ("of at least", number.ge),
        ("above", number.gt),
        ("of at most", number.le),
        ("below", number.lt),
    )
    said = [f"{word} {bound:g}" for word, bound in bounds if bound is not None]
    return " " + " and ".join(said) if said else ""


def shorten(value: Any) -> str:
    """The given value as it was written, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
