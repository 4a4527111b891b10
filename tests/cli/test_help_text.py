"""What stands in brackets in the help of a command is shown, not read as markup."""

from collections.abc import Iterator
from typing import Any

import pytest
from rich.markup import render

from crawling import opilio
from opilio.cli import COMMANDS


def commands(command: Any) -> Iterator[Any]:
    """A command, or those of a group."""
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from commands(below)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_help_is_swallowed_as_markup(name: str):
    for command in commands(COMMANDS[name].load(name)):
        told = [getattr(parameter, "help", None) for parameter in command.params]
        for text in filter(None, [command.help, *told]):
            assert render(text).plain == text.replace("\\[", "["), text


async def test_a_table_of_the_topic_file_is_named():
    told = (await opilio("topic", "show", "-h")).out
    assert "[classes]" in told
