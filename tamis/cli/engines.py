"""The engines that `tamis match` can use, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol

from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.plain import PlainTable
from tamis.protocol.values import Value


class Engine(Protocol):
    """A table of filters. The order of the interfaces that `match` gives means nothing."""

    def add(self, filter_: Filter, interface: Interface) -> None: ...

    def match(self, attributes: Mapping[str, Value]) -> list[Interface]: ...


def _native(name: str) -> Engine:
    from tamis.cli.native_engine import NativeEngine

    return NativeEngine(name)


ENGINES: dict[str, Callable[[], Engine]] = {
    "tamis": partial(_native, "tamis"),
    "sff": partial(_native, "sff"),
    "counting": partial(_native, "counting"),
    "plain": PlainTable,
}
DEFAULT = "tamis"
