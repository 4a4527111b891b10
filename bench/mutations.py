"""Makes small errors in Python files, for `bench.mutants`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

SWAPPED: dict[type[ast.AST], Callable[[], Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
RETURN = "return None"
Change = Callable[[Any], str]


class Mutant(NamedTuple):
    """A file with one error."""

    line: int
    lines: range  # of the function with the error; empty outside of functions
    error: str
    text: str  # of the whole file

    @property
    def name(self) -> str:
        """Where the error is, and what it is."""
        return f"{self.line}: {self.error}"


def mutants(text: str) -> Iterator[Mutant]:
    """Make each error that can be made in a file."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    skipped = {id(below) for node in nodes if said(node) for below in ast.walk(node)}
    functions = [node for node in nodes if isinstance(node, FUNCTION)]
    for number, node in enumerate(nodes):
        if id(node) in skipped:
            continue
        for change in changes(node):
            made = copy.deepcopy(tree)
            other = next(n for k, n in enumerate(ast.walk(made)) if k == number)
            error, line = change(other), getattr(node, "lineno", 0)
            yield Mutant(line, body_around(line, functions), error, ast.unparse(made))


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def said(node: ast.AST) -> bool:
    """Is this only what is said: an error message, or for type checkers?"""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.Raise) or (
        isinstance(node, FUNCTION) and node.name == "__repr__"
    )


def body_around(line: int, functions: list[Any]) -> range:
    """The lines of the innermost function whose body a line is in."""
    around = [
        range(node.body[0].lineno, node.end_lineno + 1)
        for node in functions
        if node.body[0].lineno <= line <= node.end_lineno
    ]
    return min(around, key=len, default=range(0))


def changes(node: ast.AST) -> Iterator[Change]:
    """Find functions that make an error at a node and describe it."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield swap_comparison
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        yield swap_operator
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield change_number
    if isinstance(node, ast.If | ast.IfExp):
        yield negate
    if isinstance(node, ast.Return) and ast.unparse(node) not in ("return", RETURN):
        yield return_none


def swap_comparison(node: ast.Compare) -> str:
    """Make < of <=, == of !=, and so on."""
    was = ast.unparse(node)
    node.ops[0] = SWAPPED[type(node.ops[0])]()
    return f"{was} → {ast.unparse(node)}"


def swap_operator(node: ast.BinOp | ast.BoolOp) -> str:
    """Make + of -, * of /, `and` of `or`."""
    was = ast.unparse(node)
    node.op = SWAPPED[type(node.op)]()
    return f"{was} → {ast.unparse(node)}"


def change_number(node: ast.Constant) -> str:
    """Make a number larger, by 1 or by half."""
    was = node.value
    assert isinstance(was, int | float)
    node.value = was + 1 if isinstance(was, int) else was * 1.5 + 0.01
    return f"{was} → {node.value:g}"


def negate(node: ast.If | ast.IfExp) -> str:
    """Make a condition its contrary."""
    was = ast.unparse(node.test)
    node.test = ast.UnaryOp(ast.Not(), node.test)
    return f"if {was} → if not"


def return_none(node: ast.Return) -> str:
    """Make a function return nothing."""
    was = ast.unparse(node)
    node.value = ast.Constant(None)
    return f"{was} → None"
