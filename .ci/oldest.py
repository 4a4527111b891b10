"""Prints constraints for pip: the oldest versions that pyproject.toml allows."""

import re
import sys
import tomllib
from pathlib import Path

LEAST = re.compile(r"([\w.-]+)(?:\[[^\]]*\])?>=([\w.]+)(.*)")


def oldest(pyproject: Path) -> list[str]:
    """Each direct dependency, extras included, at its lowest allowed version."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(one for extra in extras for one in extra)]
    found = {}
    for requirement in wanted:
        if match := LEAST.fullmatch(requirement):
            name, version, marker = match.groups()
            found[name.lower(), marker] = f"{name}=={version}{marker}"
    return sorted(found.values())


if __name__ == "__main__":
    sys.stdout.write("\n".join(oldest(Path("pyproject.toml"))) + "\n")
