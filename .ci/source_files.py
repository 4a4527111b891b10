"""Lists every source file with the first sentence of its docstring.

`python .ci/source_files.py` prints the list. MkDocs uses this file as a hook, which
puts the list into docs/source-files.md when the documentation is built, so it is never
out of date.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "src/opilio"
MARK = "<!-- source files -->"


def first_sentence(path: Path) -> str:
    """What a file is for, in its own words."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        said = ast.get_docstring(ast.parse(text)) or ""
    else:  # Cython
        found = re.search(r'"""(.*?)"""', text, re.DOTALL)
        said = found[1] if found else ""
    paragraph = " ".join(said.split("\n\n")[0].split())
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", paragraph)[0]


def folders() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each folder with its files, and what these are for."""
    for folder in [
        SOURCE,
        *sorted(each for each in SOURCE.rglob("*") if each.is_dir()),
    ]:
        files = sorted([*folder.glob("*.py"), *folder.glob("*.pyx")])
        listed = [(file.name, first_sentence(file)) for file in files]
        if listed := [(name, said) for name, said in listed if said]:
            yield folder.relative_to(SOURCE.parent).as_posix(), listed


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the list in the place of the mark, for MkDocs."""
    if MARK not in markdown:
        return markdown
    lines = []
    for folder, files in folders():
        lines += [f"## {folder}/", "", "| file | what it is for |", "|---|---|"]
        lines += [
            f"| `{name}` | {said.replace('|', '&#124;')} |" for name, said in files
        ]
        lines.append("")
    return markdown.replace(MARK, "\n".join(lines))


if __name__ == "__main__":
    for folder, files in folders():
        print(f"{folder}/")
        for name, said in files:
            print(f"  {name:<28} {said}")
