"""R13: the set of routers that want a message, as the router matched it at which it entered, for those on its way.

Law: a set counts routers by their place among those that the digest is about, so it means something only to a router
whose digest is the same. The digest is that over what all routers in reach state (`exchange.py`): a sum of digests of
statements with their versions, which each statement changes by what it replaces, in any order. No digest: this router
does not hold all that it stands for, so it neither writes a set nor believes one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from tamis.protocol.limits import ROUTE_SET_ROUTERS_MAX
from tamis.protocol.wire.extensions import RouterSet
from tamis.protocol.wire.numbers import NO_DIGEST


class HeldTables(NamedTuple):
    """What a router holds of what others want: the digest over it, and the routers that it is about, ascending."""

    digest: bytes
    routers: tuple[int, ...]

    def set_of(self, wanting: Collection[int]) -> RouterSet | None:
        """Return the set of those in `wanting`, without those out of reach; None: nobody is left, or there are too many
        places for a set."""
        if self.digest == NO_DIGEST or len(self.routers) > ROUTE_SET_ROUTERS_MAX:
            return None
        bits = sum(1 << place for place, router in enumerate(self.routers) if router in wanting)
        return RouterSet(self.digest, bits.to_bytes(self._bytes, "little")) if bits else None

    def believed(self, stated: RouterSet) -> frozenset[int] | None:
        """Return the routers of a set that was made of equal tables; None: of others."""
        is_equal = self.digest == stated.digest != NO_DIGEST and len(stated.members) == self._bytes
        return self.read(stated.members) if is_equal else None

    @property
    def _bytes(self) -> int:
        return -(-len(self.routers) // 8)

    def read(self, members: bytes) -> frozenset[int]:
        bits = int.from_bytes(members, "little")
        return frozenset(router for place, router in enumerate(self.routers) if bits >> place & 1)


NO_TABLES: Final = HeldTables(NO_DIGEST, ())
