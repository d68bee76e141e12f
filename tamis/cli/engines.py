"""The engines that `tamis match` can use, by name: those of the registry, and the twin in Python.

Law: the registry is C's, and reading it loads the extension; nothing is loaded for `plain`, nor before an engine is
named or listed.
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


class OfferedEngine(Protocol):
    """A table of filters."""

    def add(self, filter_: Filter, interface: Interface) -> None:
        """Refused if the engine cannot take the filter."""

    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        """The interfaces that want each message, those of one message in any order."""


class PlainEngine(PlainTable):
    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        return map(self.match, messages)


def engine_names() -> list[str]:
    from tamis.native import ENGINES

    return [*ENGINES, PLAIN]


def new_engine(name: str) -> OfferedEngine:
    """An empty one, of one of `engine_names`."""
    if name == PLAIN:
        return PlainEngine()
    from tamis.cli.native_engine import NativeEngine

    return NativeEngine(name)


class EngineName(click.ParamType):  # type: ignore[type-arg] # it takes no argument before click 8.5
    """One of `engine_names`, which are not asked for until they are needed."""

    name = "engine"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return PLAIN if value == PLAIN else str(click.Choice(engine_names()).convert(value, param, ctx))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return click.Choice(engine_names()).get_metavar(param, ctx)
