"""A class has a name of its own: one name means one thing across the tree."""

import ast
from collections import defaultdict
from pathlib import Path

import opilio

SOURCE = Path(opilio.__file__).parent

# Classes that share their name with another one, which is known to confuse nobody, or
# waits to be renamed. Take a name out of the list once it is unique; add none.
SHARED = {
    "Blocks",  # the judge and the strategy of one thesis
    "Linear",
    "Noted",
    "Opilio",  # the default judge and the default strategy
    "Snapshot",
    "Table",
    "Vocabulary",
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
