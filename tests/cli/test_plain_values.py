"""What is read without typer is what typer reads."""

from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperCommand
from typer.testing import CliRunner

from opilio.cli.plain_values import PlainCommand


def run(kind: type[TyperCommand], *arguments: str) -> tuple[Any, int, str]:
    """What a command of that kind was given, and what it said."""
    got: list[Any] = []
    app = typer.Typer(add_completion=False)

    @app.command(cls=kind)
    def command(
        there: Path,
        more: list[str] | None = None,
        some: Annotated[int, typer.Option(min=1, max=1000)] = 7,
        share: Annotated[float | None, typer.Option(min=0)] = None,
        name: str = "none",
        file: Annotated[Path | None, typer.Option()] = None,
        many: Annotated[list[Path] | None, typer.Option()] = None,
        each: Annotated[list[int] | None, typer.Option()] = None,
        folder: Annotated[Path, typer.Option(exists=True)] = Path(),
        flag: bool = False,
    ) -> None:
        got.extend((there, more, some, share, name, file, many, each, folder, flag))

    ended = CliRunner().invoke(app, list(arguments))
    return got, ended.exit_code, ended.output


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("x",),
        ("", "a", "b"),
        ("x", "--some", "12", "--share", "0.25", "--name", "", "--flag"),
        ("x", "--some", "0"),
        ("x", "--some", "1001"),
        ("x", "--some", "٣"),
        ("x", "--some", "1_0"),
        ("x", "--some", "twelve"),
        ("x", "--share", "-1"),
        ("x", "--share", "nan"),
        ("x", "--share", "1e3"),
        ("x", "--share", "5"),
        ("x", "--file", "y", "--many", "1", "--many", "2", "--each", "1"),
        ("x", "--each", "1", "--each", "one"),
        ("x", "--folder", "/nowhere/at/all"),
        ("x", "--folder", "/"),
        ("x", "--nothing"),
    ],
)
def test_plain_commands_read_what_others_do(arguments: tuple[str, ...]):
    assert run(PlainCommand, *arguments) == run(TyperCommand, *arguments)


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.sampled_from(["--some", "--share", "--name", "--each", "--file"]), WORDS)
def test_no_word_is_read_differently(option: str, word: str):
    arguments = ("x", f"{option}={word}")
    assert run(PlainCommand, *arguments) == run(TyperCommand, *arguments)
