"""A synthetic web is made again when the code that makes it has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from opilio.lab import synthetic, webs
from opilio.lab.reproduce.synthetic_webs import mark_of, synthetic_ground
from opilio.lab.synthetic.dials import Dials

DIALS = Dials(pages=40, hosts=2, topics=2, seed=1)


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the code that makes webs, to be changed."""
    [made_by] = synthetic.__path__
    for file in (*Path(made_by).glob("*.py"), Path(webs.__file__)):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = mark_of(DIALS)
    monkeypatch.setattr(synthetic, "__path__", [str(tmp_path)])
    (tmp_path / "webs.py").rename(tmp_path / "webs.txt")  # it lies elsewhere
    monkeypatch.setattr(webs, "__file__", str(tmp_path / "webs.txt"))
    assert mark_of(DIALS) == before  # by what is in the files, not where they are
    return tmp_path


@pytest.mark.parametrize("name", ["pages.py", "graph.py", "lexicon.py", "webs.txt"])
def test_the_mark_of_a_web_tells_which_code_made_it(code: Path, name: str) -> None:
    before = mark_of(DIALS)
    with (code / name).open("a") as file:
        file.write("\n# changed\n")
    assert mark_of(DIALS) != before


def test_other_dials_have_another_mark() -> None:
    assert mark_of(DIALS) != mark_of(Dials(pages=41, hosts=2, topics=2, seed=1))


def test_a_web_is_made_once_and_anew_after_a_change(tmp_path: Path, code: Path) -> None:
    folder = tmp_path / "web"
    synthetic_ground(folder, DIALS, 1)
    (folder / "kept").touch()
    synthetic_ground(folder, DIALS, 1)
    assert (folder / "kept").exists()
    (code / "pages.py").write_text("# quite another way\n")
    synthetic_ground(folder, DIALS, 1)
    assert not (folder / "kept").exists()
