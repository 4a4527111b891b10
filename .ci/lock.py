"""Prints the versions installed here of all that Opilio and its tests need, for pip."""

import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

GROUPS = ("test", "lint")


def wanted(pyproject: Path) -> list[str]:
    """What pyproject.toml asks for: dependencies, extras, and groups for tests."""
    tables = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    project, groups = tables["project"], tables["dependency-groups"]
    extras = project["optional-dependencies"]
    found = [*project["dependencies"]]
    for name in Requirement(extras["all"][0]).extras:
        found += extras[name]
    for name in GROUPS:
        found += groups[name]
    return found


def versions(requirements: list[str]) -> dict[str, str]:
    """Name -> version of these packages and of all that they need."""
    found: dict[str, str] = {}
    left = [(Requirement(one), "") for one in requirements]
    while left:
        requirement, extra = left.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        try:
            package = distribution(name)
        except PackageNotFoundError:
            sys.exit(f"{requirement} is not installed here; run `make install` first")
        extras = requirement.extras or {""}
        if name in found and extras == {""}:
            continue
        found[name] = package.version
        needs = [Requirement(one) for one in package.requires or ()]
        left += [(one, extra) for extra in extras for one in needs]
    return found


if __name__ == "__main__":
    sys.stdout.write("# Versions that CI tests with; `make lock` writes this file.\n")
    for name, version in sorted(versions(wanted(Path("pyproject.toml"))).items()):
        sys.stdout.write(f"{name}=={version}\n")
