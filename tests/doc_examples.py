"""The examples of the documentation, as files and as one installed package."""

import asyncio
import base64
import hashlib
import os
import re
import sys
import zipfile
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
OWN = ("own-strategy", "own-judge", "own-seed-source", "own-exporter")


def blocks(page: str, language: str = "python") -> list[str]:
    """The blocks of code on a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def own_modules() -> dict[str, str]:
    """The modules of the pages about extensions: name -> code."""
    found = {}
    for page in OWN:
        text = (DOCS / f"howto/{page}.md").read_text(encoding="utf-8")
        name = re.search(r"it is a whole module, `(\w+)\.py`", text)
        assert name, page
        found[name[1]] = blocks(f"howto/{page}.md")[0]
    return found


def write_modules(folder: Path) -> None:
    """Write these modules into a folder."""
    for name, code in own_modules().items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


def build_wheel(folder: Path) -> Path:
    """A wheel of a package with these modules, and the entry points of the pages."""
    files = {f"{name}.py": code for name, code in own_modules().items()}
    info = "toy_extensions-1.0.dist-info"
    entries = ""
    for page in OWN:
        [toml] = blocks(f"howto/{page}.md", "toml")
        entries += re.sub(r'\[project\.entry-points\."(.*)"\]', r"[\1]", toml)
    files[f"{info}/METADATA"] = (
        "Metadata-Version: 2.1\nName: toy-extensions\nVersion: 1.0\n"
    )
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n"
    )
    files[f"{info}/entry_points.txt"] = entries.replace('"', "")
    rows = [
        f"{name},{digest(text)},{len(text.encode())}" for name, text in files.items()
    ]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    wheel = folder / "toy_extensions-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


def digest(text: str) -> str:
    """The hash of a file as wheels record it."""
    raw = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


async def install(wheel: Path, target: Path) -> None:
    """Install a wheel with pip, without any network."""
    options = ("--no-index", "--no-deps", "--quiet", "--target")
    ended = await python("-m", "pip", "install", *options, target, wheel)
    assert ended[0] == 0, ended[1]


async def python(
    *arguments: object, cwd: Path | None = None, **env: str
) -> tuple[int, str]:
    """Run Python to its end: exit code, and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=cwd,
        env={**os.environ, **env},
    )
    out, _ = await asyncio.wait_for(process.communicate(), 110)
    return process.returncode or 0, out.decode()
