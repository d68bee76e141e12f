"""The reference page of the command line.

    python -m tamis.cli.reference > docs/reference/cli.md

Law: commands, options and examples come from the objects that `--help` prints; a test compares the page with them.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator

import click

from tamis.cli.main import root

_INTRO = """\
# The command line

One command, `tamis`. Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 misused, 130
stopped by Ctrl-C. Every command has `-h` and `--help`, which print the text below. Printed by
`python -m tamis.cli.reference`; do not edit.

For predicates and messages see [language.md](language.md), for topology files [topology.md](topology.md).
"""


def page() -> str:
    return "\n".join([_INTRO, *_sections(root, click.Context(root, info_name="tamis", **root.context_settings))])


def _sections(command: click.Command, ctx: click.Context) -> Iterator[str]:
    """Yield the section of `command`, and those of its subcommands."""
    yield _section(command, ctx)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            if inner is not None:  # always true: the group has just listed it
                yield from _sections(inner, click.Context(inner, info_name=name, parent=ctx))


def _section(command: click.Command, ctx: click.Context) -> str:
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    parts = [f"## {ctx.command_path}", _indented(usage), inspect.cleandoc(command.help or ""), _options(command, ctx)]
    return "\n\n".join(part for part in [*parts, *_examples(command)] if part) + "\n"


def _options(command: click.Command, ctx: click.Context) -> str:
    options = [param for param in command.params if isinstance(param, click.Option)]  # arguments are in the usage line
    records = [record for option in options if (record := option.get_help_record(ctx))]
    return "\n".join(f"- `{written}`: {re.sub(' +', ' ', meaning)}" for written, meaning in records)


def _examples(command: click.Command) -> Iterator[str]:
    """Return the epilog: a title, then lines that are printed unchanged (the first line of the epilog marks this for
    click)."""
    title, _, lines = (command.epilog or "").removeprefix("\b\n").partition("\n")
    if title:
        yield title
        yield _indented(inspect.cleandoc(lines))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    sys.stdout.write(page())
