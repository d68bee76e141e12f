"""Usage errors, with hints beyond those of click.

Law: one sentence states the mistake and the valid values; one line names the help page. A word that was meant as an
option, but has other dashes, is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

_DASHES: Final = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
"""The hyphen, and the dashes that word processors make of two hyphens."""
_MEANT: Final = re.compile(rf"[{_DASHES}]{{1,2}}([a-z][a-z-]+)")
_NO_NUMBER: Final = re.compile(r" is not a valid (?:integer|float)(?: range)?\.")


def tell(error: click.ClickException, words: Sequence[str], root: click.Group) -> None:
    """Print the mistake in the command line `words` on stderr."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = _context(root, words)
    click.echo(f"Error: {_sentence(error, context)}", err=True)
    for line in _meant_as_options(words, context):
        click.echo(line, err=True)
    if isinstance(error, click.UsageError):
        click.echo(f"for help: {context.command_path} --help", err=True)


def _sentence(error: click.ClickException, context: click.Context) -> str:
    said = error.format_message()
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        return f"{said.rstrip('.')}, {_value(error.param, context)}"
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Parameter):
        return _NO_NUMBER.sub(f" is not {_number(error.param.type)}", said)
    if isinstance(error, click.BadOptionUsage) and (option := _options(context).get(error.option_name or "")):
        return f"{said.rstrip('.')}, {_value(option, context)}"
    return said


def _value(option: click.Option, context: click.Context) -> str:
    """Return the values that an option accepts."""
    if isinstance(option.type, click.Choice):
        return " or ".join(map(str, option.type.choices))
    if isinstance(option.type, click.IntRange | click.FloatRange) or option.type in (click.INT, click.FLOAT):
        return _number(option.type)
    return f"{option.make_metavar(context)}: {(option.help or '').rstrip('.')}"


def _number(kind: click.ParamType[Any]) -> str:
    what = "a number" if isinstance(kind, click.FloatRange) or kind is click.FLOAT else "a whole number"
    return f"{what}, {kind._describe_range()}" if isinstance(kind, click.IntRange | click.FloatRange) else what


def _meant_as_options(words: Sequence[str], context: click.Context) -> Iterator[str]:
    known = _options(context)
    for word in words:
        meant = _MEANT.fullmatch(word)
        if meant and word not in known and f"--{meant[1]}" in known:
            yield f"{word}: an option begins with two hyphens: --{meant[1]}"


def _context(root: click.Group, words: Sequence[str]) -> click.Context:
    """Return the context of the command that the first of `words` name."""
    context = click.Context(root, info_name="tamis")
    for word in words:
        found = context.command.get_command(context, word) if isinstance(context.command, click.Group) else None
        if found is None:
            break
        context = click.Context(found, info_name=word, parent=context)
    return context


def _options(context: click.Context) -> dict[str, click.Option]:
    options = [each for each in context.command.params if isinstance(each, click.Option)]
    return {name: option for option in options for name in (*option.opts, *option.secondary_opts)}
