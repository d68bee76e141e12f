"""The reference page of the command line is the one that its commands print now."""

from __future__ import annotations

from pathlib import Path

import click

from tamis.cli import reference
from tamis.cli.main import COMMANDS, root

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"


def test_the_page_is_fresh() -> None:
    assert PAGE.read_text() == reference.page(), "run python -m tamis.cli.reference"


def test_every_command_and_option_is_named() -> None:
    page = PAGE.read_text()
    for name in COMMANDS:
        assert f"\n## tamis {name}\n" in page
        command = root.get_command(click.Context(root), name)
        assert command
        for option in (option for param in command.params for option in param.opts if option.startswith("-")):
            assert option in page
