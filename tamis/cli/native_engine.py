"""An engine in C behind what `tamis match` asks of one: interfaces may have any name."""

from __future__ import annotations

from collections.abc import Mapping

from tamis.native import InterfaceNames, Table
from tamis.protocol.filters import Filter
from tamis.protocol.json_form import Interface
from tamis.protocol.values import Value


class NativeEngine:
    def __init__(self, engine: str) -> None:
        self._table = Table(engine)
        self._names = InterfaceNames()

    def add(self, filter_: Filter, interface: Interface) -> None:
        self._table.add(filter_, self._names.id_of(interface))

    def match(self, attributes: Mapping[str, Value]) -> list[Interface]:
        return [self._names.name_of(interface) for interface in self._table.match(attributes)]
