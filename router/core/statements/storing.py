"""R19d: which routers store what this router states of its durable subscriptions, and in which life of which log.

Law: each router in reach that has stated a log owes a confirmation of what was last added here, under its present log
and epoch: after a restart, with another log or after an absence it owes one again. At most the routers in reach are
held.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from tamis.protocol.wire.home_bodies import DurablesHolder
from tamis.router.core.statements.freshness import Version
from tamis.router.core.statements.known_durables import KnownDurables


class _Stored(NamedTuple):
    """What a router has said that it stores; `epoch` is that of its own statement then, 0 if there was none."""

    version: Version
    holder: DurablesHolder
    epoch: int


class StoringRouters:
    """`known`: what routers state."""

    def __init__(self, known: KnownDurables) -> None:
        self._known = known
        self._stored: dict[int, _Stored] = {}
        self._least: Version | None = None
        """The version that stated what was last added; None: it is still to be issued."""

    def issued(self, version: Version) -> None:
        """Require `version`, or a fresher one, of all from now on."""
        self._least = version

    def again(self) -> None:
        """Require a version that is still to be issued."""
        self._least = None
        self._stored.clear()

    def heard(
        self, version: Version, holders: Iterable[DurablesHolder], reachable: AbstractSet[int]
    ) -> tuple[DurablesHolder, ...]:
        """Record that `holders` store a version; return those of which the log, its life or the epoch of what they
        state is another than before."""
        moved = []
        for holder in holders:
            before = self._stored.get(holder.router)
            if holder.router not in reachable or (before is not None and before.version > version):
                continue  # an older confirmation took a longer way
            now = self._stored[holder.router] = _Stored(version, holder, self._epoch(holder.router))
            if before is None or before[1:] != now[1:]:
                moved.append(holder)
        return tuple(moved)

    def keep(self, reachable: AbstractSet[int]) -> None:
        """Forget the routers that are out of reach."""
        for router in self._stored.keys() - reachable:
            del self._stored[router]

    def holders(self, routers: Iterable[int]) -> tuple[DurablesHolder, ...]:
        """Return what those of `routers` that store something have said, in the order of their numbers."""
        return tuple(self._stored[router].holder for router in sorted(routers) if router in self._stored)

    def owing(self, reachable: AbstractSet[int]) -> frozenset[int]:
        """Return the routers in reach that owe a confirmation; none if this router has no durable subscription."""
        known = self._known
        if not known.rib.filters(known.me):
            return frozenset()
        return frozenset(r for r in reachable if r != known.me and known.log_of(r) and self._owes(r))

    def _owes(self, router: int) -> bool:
        stored = self._stored.get(router)
        return (
            stored is None
            or self._least is None
            or stored.version < self._least
            or stored.holder.log != self._known.log_of(router)
            or stored.epoch != self._epoch(router)
        )

    def _epoch(self, router: int) -> int:
        version = self._known.rib.version(router)
        return version.epoch if version is not None else 0
