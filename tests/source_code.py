"""The source code of Opilio as syntax trees, for tests about the code itself."""

import ast
from functools import cache
from pathlib import Path

import opilio

ROOT = Path(opilio.__file__).parent


def modules() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))


@cache
def nodes_of(module: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse((ROOT / module).read_text())))


@cache
def imported(module: str) -> set[str]:
    """Every module that a module imports, with the modules it is part of."""
    names = set()
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parents = {name.rpartition(".")[0] for name in names}
    return names | parents | {parent.partition(".")[0] for parent in parents}
