"""One name means one thing: classes, and functions that other modules import."""

import ast
from collections import defaultdict
from pathlib import Path

import opilio

SOURCE = Path(opilio.__file__).parent

# A judge and a strategy that users know by one name. Add no others.
SHARED = {
    "Blocks",  # of one thesis
    "Opilio",  # the defaults
}
SHARED_FUNCTIONS = {"propose"}  # a command, and what it does


def classes() -> dict[str, list[str]]:
    """Each public top-level class, and the modules that define one of that name."""
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    return found


def test_no_two_classes_have_the_same_name():
    several = {name: files for name, files in classes().items() if len(files) > 1}
    new = {name: files for name, files in several.items() if name not in SHARED}
    assert not new, f"rename all but one of these classes: {new}"
    assert set(several) == SHARED, "take names out of SHARED that are unique by now"


def modules() -> dict[str, ast.Module]:
    """Each module of Opilio, parsed."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("opilio", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(parsed: dict[str, ast.Module]) -> set[tuple[str, str]]:
    """The module and name of everything that a module imports from another."""
    return {
        (node.module or "", alias.name)
        for tree in parsed.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_a_function_that_others_import_has_a_name_of_its_own():
    parsed = modules()
    used = imported(parsed)
    homes = defaultdict(set)
    for module, tree in parsed.items():
        for node in tree.body:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and (module, node.name) in used:
                homes[node.name].add(module)
    several = {name: sorted(found) for name, found in homes.items() if len(found) > 1}
    new = {
        name: found for name, found in several.items() if name not in SHARED_FUNCTIONS
    }
    assert not new, f"rename all but one of these functions: {new}"
    assert set(several) == SHARED_FUNCTIONS, "take out names that are unique by now"
