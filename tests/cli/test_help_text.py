"""Help of commands: brackets are shown, text flows, an example is one line."""

from collections.abc import Iterator
from typing import Any

import pytest
from rich.markup import render

from crawling import opilio
from opilio.cli import COMMANDS
from opilio.cli.deferred import laid_out


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


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_fit_on_a_line_of_a_terminal(name: str):
    for command in commands(COMMANDS[name].load(name)):
        for line in command.help.splitlines():
            assert not line.startswith("$") or len(line) <= 78, line


def test_paragraphs_flow_and_examples_have_lines_of_their_own():
    docstring = """Keep a crawl current.

    A line that is broken in the source
    goes on in the terminal.

    Examples:

        opilio evolve my-crawl --pages 200

        opilio evolve my-crawl --every 6h
    """
    assert laid_out(docstring).splitlines() == [
        "Keep a crawl current.",
        "",
        "A line that is broken in the source goes on in the terminal.",
        "",
        "Examples:",
        "$ opilio evolve my-crawl --pages 200",
        "$ opilio evolve my-crawl --every 6h",
    ]


async def test_a_table_of_the_topic_file_is_named():
    told = (await opilio("topic", "show", "-h")).out
    assert "[classes]" in told
