"""R13: the digest of the switch's tables, by which it accepts results that other routers computed from equal ones.

Law: the switch has a digest only while its table holds everything that the digest covers: none from before the first
filter of a change until after the last one, and none once a filter was left out. Without a digest it matches every
message itself.
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
    """A switch that can be given the digest of its table."""

    def hold(self, digest: bytes | None, routers: Iterable[int] | None = None) -> None:
        """Set the digest of the table and the routers that it covers; None: the table has no digest."""

    def tell_tree(self, before: Mapping[int, int]) -> None:
        """Set for each other router the one before it on the path of messages that enter here."""


class SwitchTables:
    """The digest of one switch, as `installer` fills its table."""

    def __init__(self, switch: HoldingSwitch, installer: Installer) -> None:
        self._switch: Final = switch
        self._installer: Final = installer
        self._tables = NO_TABLES
        self._numbered: tuple[int, ...] = ()

    def change(self, tables: HeldTables) -> bool:
        """Record `tables` as held by the core; return whether they are new. The caller then calls `changed` once the
        changes of the switch's table are queued."""
        if tables is self._tables:
            return False
        self._tables = tables
        self._switch.hold(None)
        return True

    def rerouted(self, trees: Trees) -> None:
        """Pass `trees` to the switch, which from now on estimates the benefit of a set by them."""
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
