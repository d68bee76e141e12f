"""The engines that `tamis match` can use, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.plain import PlainTable
from tamis.protocol.values import Value


class Engine(Protocol):
    """A table of filters. The order of the interfaces that `match` gives means nothing."""

    def add(self, filter_: Filter, interface: Interface) -> None: ...

    def match(self, attributes: Mapping[str, Value]) -> list[Interface]: ...


ENGINES: dict[str, Callable[[], Engine]] = {
    "plain": PlainTable,
}
DEFAULT = "plain"
