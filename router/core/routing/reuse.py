"""R13: the set of routers that want a message, computed by its entry router for the routers on its path.

Law: a set identifies routers by their position among those that the digest covers: it is valid only for a router with
an equal digest. The digest covers the statements of all reachable routers (`exchange.py`): a sum of digests of
statements with their versions, which each statement changes by what it replaces, in any order. A router without a
digest does not hold all that the digest would cover, and neither writes a set nor accepts one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from tamis.protocol.limits import ROUTE_SET_ROUTERS_MAX
from tamis.protocol.wire.extensions import RouterSet
from tamis.protocol.wire.numbers import NO_DIGEST


class HeldTables(NamedTuple):
    """The tables that a router holds of the interest of others: their digest, and the routers that it covers,
    ascending."""

    digest: bytes
    routers: tuple[int, ...]

    def set_of(self, wanting: Collection[int]) -> RouterSet | None:
        """Return the set of the reachable routers in `wanting`; None: no such router exists, or a set cannot have that
        many positions."""
        if self.digest == NO_DIGEST or len(self.routers) > ROUTE_SET_ROUTERS_MAX:
            return None
        bits = sum(1 << place for place, router in enumerate(self.routers) if router in wanting)
        return RouterSet(self.digest, bits.to_bytes(self._bytes, "little")) if bits else None

    def believed(self, stated: RouterSet) -> frozenset[int] | None:
        """Return the routers of a set that was made from equal tables; None: the tables differ."""
        is_equal = self.digest == stated.digest != NO_DIGEST and len(stated.members) == self._bytes
        return self.read(stated.members) if is_equal else None

    @property
    def _bytes(self) -> int:
        return -(-len(self.routers) // 8)

    def read(self, members: bytes) -> frozenset[int]:
        bits = int.from_bytes(members, "little")
        return frozenset(router for place, router in enumerate(self.routers) if bits >> place & 1)


NO_TABLES: Final = HeldTables(NO_DIGEST, ())
