"""A wheel that is built without a compiler has nothing compiled in it."""

import shutil
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
wheel = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling")


@pytest.fixture
def tree(tmp_path):
    """The source as someone unpacks it, with what an earlier build left in it."""
    tree = tmp_path / "tree"
    left_out = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src", tree / "src", ignore=left_out)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    (tree / "src/opilio/read/_kernels.cpython-399-other.so").touch()
    return tree


@pytest.mark.parametrize(
    "without", [{"OPILIO_COMPILE": "0"}, {"CC": "no-such-compiler"}]
)
def test_a_build_without_a_compiler_uses_none(tree, tmp_path, monkeypatch, without):
    for name, value in without.items():
        monkeypatch.setenv(name, value)
    [built] = wheel.WheelBuilder(str(tree)).build(
        directory=str(tmp_path), versions=["standard"]
    )
    assert built.endswith("py3-none-any.whl")
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    assert "opilio/read/_kernels.pyx" in names
    assert not [name for name in names if name.endswith(".so")]


def test_a_compiler_that_must_be_there_is_named(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("OPILIO_COMPILE", "1")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(FileNotFoundError, match="no-such-compiler"):
        next(
            wheel.WheelBuilder(str(tree)).build(
                directory=str(tmp_path), versions=["standard"]
            )
        )
