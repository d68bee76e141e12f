"""R13: which tables the switch takes its own for, so that it believes what other routers found in equal ones.

Law: the switch has a digest only while its table holds all that the digest is of: none from before the first filter of
a change until after the last one, and none once a filter was left out. Without a digest it matches every message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, Protocol

from tamis.protocol.limits import ROUTE_SET_ROUTERS_MAX
from tamis.router.core.routing.reuse import NO_TABLES, HeldTables
from tamis.router.core.routing.trees import Trees
from tamis.router.links.installing import Installer


class HoldingSwitch(Protocol):
    """What a switch is told of its table."""

    def hold(self, digest: bytes | None, routers: Iterable[int] | None = None) -> None:
        """Say what the table holds; None: no digest is of it."""

    def tell_tree(self, before: Mapping[int, int]) -> None:
        """Say by which router messages that enter here come to each other one."""


class SwitchTables:
    """What one switch holds, as `installer` fills its table."""

    def __init__(self, switch: HoldingSwitch, installer: Installer) -> None:
        self._switch: Final = switch
        self._installer: Final = installer
        self._tables = NO_TABLES
        self._numbered: tuple[int, ...] = ()

    def change(self, tables: HeldTables) -> bool:
        """Take `tables` for what the core holds now; return whether that is new, so that `changed` follows once what
        makes the switch's table so is queued."""
        if tables is self._tables:
            return False
        self._tables = tables
        self._switch.hold(None)
        return True

    def rerouted(self, trees: Trees) -> None:
        """Messages go by `trees` from now on: the switch weighs by them what a set is worth."""
        onward = trees.onward
        self._switch.tell_tree(onward if len(onward) <= ROUTE_SET_ROUTERS_MAX else {})

    def changed(self) -> None:
        self._installer.afterwards(partial(self._hold, self._tables))

    def _hold(self, tables: HeldTables) -> None:
        if tables is not self._tables or not self._installer.is_whole or len(tables.routers) > ROUTE_SET_ROUTERS_MAX:
            return
        routers = None if tables.routers == self._numbered else tables.routers
        self._switch.hold(tables.digest, routers)
        self._numbered = tables.routers
