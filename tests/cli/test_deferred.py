"""Commands are imported when they are run, and look the same before and after."""

import gc
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from opilio.cli import COMMANDS, app
from opilio.cli.deferred import importing_for_good

SAYS_WHAT_IS_LOADED = """
import sys
from opilio.cli import app
try:
    app({arguments!r})
except SystemExit:
    pass
print("loaded:", *sorted(name for name in sys.modules if name.startswith("opilio.")))
"""


def loaded_by(*arguments: str) -> list[str]:
    code = SAYS_WHAT_IS_LOADED.format(arguments=arguments)
    ended = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return ended.stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_says_of_itself(name: str):
    place = COMMANDS[name]
    itself = (place.load(name).help or "").partition("\n")[0]
    assert itself == place.help


def test_the_list_of_commands_imports_none_of_them():
    assert loaded_by("--help") == [
        "opilio.cli",
        "opilio.cli.deferred",
        "opilio.cli.error_messages",
        "opilio.cli.log_output",
        "opilio.cli.plain_values",
        "opilio.errors",
    ]


def test_a_command_imports_no_other():
    loaded = loaded_by("crawl", "--help")
    assert "opilio.cli.crawl" in loaded
    assert "opilio.cli.lab" not in loaded
    assert "opilio.cli.demo" not in loaded


def test_a_command_has_its_own_options_and_those_of_all():
    shown = CliRunner().invoke(app, ["search", "-h"])
    assert shown.exit_code == 0
    assert "--expand-seconds" in shown.stdout


def test_a_command_of_a_special_kind_stays_one(tmp_path):
    ended = CliRunner().invoke(app, ["search", str(tmp_path), "-word"])
    assert "No such option" not in ended.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "nowhere"),
        ("crawl", "x", "--max-pages", "3", "--delay", "0.5", "--seed-url", "y"),
        ("search", "nowhere", "two", "words", "--size", "20"),
    ],
)
def test_plain_values_need_no_pydantic(arguments: tuple[str, ...]):
    code = (
        "import sys; from opilio.cli import app\n"
        f"try:\n    app({arguments!r})\n"
        "except Exception as error:\n    print(error)\n"
        "print('pydantic' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    told, imported = ended.stdout.splitlines()
    assert "does not exist" in told or "holds no crawl" in told
    assert imported == "False"


@pytest.mark.parametrize(
    "arguments",
    [
        ["LONG"],
        ["--LONG"],
        ["status", "nowhere", "LONG"],
        ["status", "--LONG", "nowhere"],
        ["crawl", "x", "--max-pages", "LONG"],
        ["crawl", "x", "--max-pages=LONG"],
        ["search", "nowhere", "--LONG"],
        ["topic", "LONG"],
        ["topic", "show", "x", "LONG"],
        ["lab", "compare", "x", "--LONG"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("long", ["x" * 5000, "y " * 2500], ids=["word", "words"])
def test_no_usage_error_repeats_a_long_argument_whole(arguments: list[str], long: str):
    ended = CliRunner().invoke(app, [each.replace("LONG", long) for each in arguments])
    assert ended.exit_code == 2
    assert "Error" in ended.output
    assert len(ended.output) < 1500
    assert "…" in ended.output or long[:50] not in ended.output


def test_a_short_usage_error_is_left_as_it_is():
    ended = CliRunner().invoke(app, ["stats"])
    assert "No such command 'stats'. Did you mean 'status'" in ended.output
    assert "…" not in ended.output


def test_garbage_is_looked_for_again_after_an_import_that_failed():
    before = gc.get_freeze_count()
    with pytest.raises(ImportError), importing_for_good():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
    assert gc.get_freeze_count() > before  # what was imported is looked at no more
    gc.unfreeze()
