"""A class has a name of its own: one name means one thing across the tree."""

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
