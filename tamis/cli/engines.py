"""The engines that `tamis match` can use, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.plain import PlainTable
from tamis.protocol.values import Value


class Engine(Protocol):
    """A table of filters."""

    def add(self, filter_: Filter, interface: Interface) -> None:
        """Refused if the engine cannot take the filter."""

    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        """The interfaces that want each message, those of one message in any order."""


class PlainEngine(PlainTable):
    def match_many(self, messages: Sequence[Mapping[str, Value]]) -> Iterator[list[Interface]]:
        return map(self.match, messages)


def _native(name: str) -> Engine:
    from tamis.cli.native_engine import NativeEngine

    return NativeEngine(name)


ENGINES: dict[str, Callable[[], Engine]] = {
    "tamis": partial(_native, "tamis"),
    "sff": partial(_native, "sff"),
    "counting": partial(_native, "counting"),
    "plain": PlainEngine,
}
DEFAULT = "tamis"
