"""The engines that `tamis match` offers, by name and with options: those of the registry, and the reference engine in
Python.

Law: the registry, with its options, is in C, and reading it loads the extension; nothing is loaded for `plain`, nor
before an engine is named or listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import click

from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.limits import MATCH_STEPS_MAX
from tamis.protocol.plain import PlainTable
from tamis.protocol.residual import Program, ResidualVerdict, run
from tamis.protocol.values import Value

Decider = Callable[[Mapping[str, Value]], bool]

PLAIN = "plain"
DEFAULT = "tamis"
"""The default of the registry, known here without loading it (a test compares them)."""


HELP = "help"
"""The value that lists the engines."""

_PLAIN_ABOUT = "The reference in Python: slow; the other engines are compared with it."


class OfferedEngine(Protocol):
    """A table of filters."""

    def add(self, filter_: Filter, interface: Interface) -> None:
        """Add a filter; Refused if the engine does not support it."""

    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        """Yield the interfaces that match each message, in any order within a message."""

    def figures(self) -> dict[str, int]:
        """Return the size of the table, and the steps of its matches so far; empty if the engine does not count."""


class PlainEngine(PlainTable):
    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        return map(self.match, messages)

    def figures(self) -> dict[str, int]:
        return {}


def engine_names() -> list[str]:
    from tamis.native import ENGINES

    return [*ENGINES, PLAIN]


def new_engine(spelled: str, hash_seed: int | None = None) -> OfferedEngine:
    """Return an empty engine, of one of `engine_names` with its options. With a seed it takes equal steps in every
    run."""
    if spelled == PLAIN:
        return PlainEngine()
    from tamis.cli.lab.native_engine import NativeEngine

    return NativeEngine(spelled, hash_seed)


def new_decider(spelled: str, program: Program) -> Decider:
    """Return whether a residual program wants a message: the program as C runs it, or in Python for `plain`."""
    if spelled == PLAIN:
        return lambda attributes: run(program, attributes, MATCH_STEPS_MAX).verdict is ResidualVerdict.TRUE
    from tamis.cli.lab.native_engine import native_decider

    return native_decider(program)


def checked(spelled: str) -> str:
    """Return `spelled`; ValueError, which lists the valid ones, if there is no such engine, option or value."""
    from tamis.native import ENGINES, engine_spelled

    name = spelled.partition(":")[0]
    if name == PLAIN:
        raise ValueError(f"engine {PLAIN} has no options")
    if name not in ENGINES:
        raise ValueError(f"no engine {name!r}; one of {', '.join(engine_names())}")
    engine, options = engine_spelled(spelled)
    engine.values(options)
    return spelled


def listing() -> str:
    """Return the list of engines, with the options of each: their values, defaults and effects."""
    from tamis.native import ENGINES

    lines = []
    for engine in ENGINES.values():
        lines.append(f"{engine.name}: {engine.about}")
        for option in engine.options.values():
            lines.append(f"  {option.name} = {option.allowed}; {option.spelled} if not given")
            lines.append(f"      {option.about}")
    lines.append(f"{PLAIN}: {_PLAIN_ABOUT}")
    lines.append("An engine with options: pst:delay=8,order=names")
    return "\n".join(lines)


def listed_if_asked(ctx: click.Context | None, _param: click.Parameter | None, value: str) -> str:
    """Return `value`; if it is `help`, print the list of engines and end the command."""
    if value == HELP and ctx is not None:
        click.echo(listing())
        ctx.exit()
    return value


class EngineName(click.ParamType):  # type: ignore[type-arg] # not generic before click 8.5
    """One of `engine_names`, with or without options. The names are read only when they are needed."""

    name = "engine"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == PLAIN:
            return PLAIN
        try:
            return checked(listed_if_asked(ctx, param, str(value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:  # noqa: ARG002 - click's
        return "NAME[:KEY=VALUE,...]"
