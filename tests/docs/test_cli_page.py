"""The reference page of the command line is the one that its commands print now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from tamis.cli import reference
from tamis.cli.main import COMMANDS, root

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == reference.page(), "run python -m tamis.cli.reference"


def test_every_command_and_option_is_named() -> None:
    """Hidden ones are old names of others."""
    sections = dict(part.partition("\n")[::2] for part in PAGE.read_text().split("\n## "))
    commands = dict(every(root, "tamis"))
    assert {f"tamis {name}" for name in COMMANDS} | {"tamis records cat", "tamis context add"} <= set(commands)
    for name, command in commands.items():
        for option in (option for param in command.params for option in param.opts if option.startswith("-")):
            assert re.search(rf"`[^`]*(?<![\w-]){option}\b[^`]*`", sections[name]), f"{name} {option}"


def every(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """All commands that are not hidden, those of groups included, with the words by which they are called."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            assert inner
            if not inner.hidden:
                yield from every(inner, f"{name} {word}")
