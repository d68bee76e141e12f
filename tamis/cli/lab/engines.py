"""The engines that `tamis match` can use, by name and with options: those of the registry, and the twin in Python.

Law: the registry is C's, options included, and reading it loads the extension; nothing is loaded for `plain`, nor
before an engine is named or listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import click

from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.plain import PlainTable
from tamis.protocol.values import Value

PLAIN = "plain"
DEFAULT = "tamis"
"""That of the registry (a test compares them), known without loading it."""


HELP = "help"
"""What is given in place of an engine to have them listed."""

_PLAIN_ABOUT = "What filters mean, written down once in Python: slow, and what the others are compared with."


class OfferedEngine(Protocol):
    """A table of filters."""

    def add(self, filter_: Filter, interface: Interface) -> None:
        """Refused if the engine cannot take the filter."""

    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        """The interfaces that want each message, those of one message in any order."""

    def figures(self) -> dict[str, int]:
        """What it holds, and the steps that its matches took so far; nothing where an engine does not count."""


class PlainEngine(PlainTable):
    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        return map(self.match, messages)

    def figures(self) -> dict[str, int]:
        return {}


def engine_names() -> list[str]:
    from tamis.native import ENGINES

    return [*ENGINES, PLAIN]


def new_engine(spelled: str, hash_seed: int | None = None) -> OfferedEngine:
    """An empty one, of one of `engine_names` with its options. With a seed it takes equal steps in every run."""
    if spelled == PLAIN:
        return PlainEngine()
    from tamis.cli.lab.native_engine import NativeEngine

    return NativeEngine(spelled, hash_seed)


def checked(spelled: str) -> str:
    """`spelled`; ValueError, which says what is allowed, where there is no such engine, option or value."""
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
    """Every engine, and below each its options: what they may be, what they are if not given, what they do."""
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
    """`value`; where it is `help`, in place of an engine, the engines are printed and the command ends."""
    if value == HELP and ctx is not None:
        click.echo(listing())
        ctx.exit()
    return value


class EngineName(click.ParamType):  # type: ignore[type-arg] # it takes no argument before click 8.5
    """One of `engine_names`, with options or without, which are not asked for until they are needed."""

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
