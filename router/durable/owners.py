"""Number and sums of the durable subscriptions of each owner.

Law: the sums change with each subscription that is made or ends, so that a quota check costs one look-up. An owner has
its number while it has subscriptions; later another owner may get that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tamis.protocol.wire.durable_bodies import DurablePolicy


@dataclass(slots=True)
class OwnedDurables:
    """The subscriptions of one owner. `number`: number of the owner in the switch, from 1; `bytes`: sum of their
    bounds; `filters` and `filter_bytes`: number of their filters, and bytes of these, packed."""

    number: int
    count: int = 0
    bytes: int = 0
    filters: int = 0
    filter_bytes: int = 0


class Owners:
    """Owners of durable subscriptions, by name."""

    def __init__(self) -> None:
        self._owned: dict[str, OwnedDurables] = {}
        self._free: list[int] = []  # numbers of former owners

    def of(self, owner: str) -> OwnedDurables:
        """Return the sums of `owner`, which the caller must not change. An owner without subscriptions has the number
        that `add` will assign to it."""
        return self._owned.get(owner) or OwnedDurables(self._free[-1] if self._free else len(self._owned) + 1)

    def __iter__(self) -> Iterator[tuple[str, OwnedDurables]]:
        return iter(self._owned.items())

    def add(self, owner: str, policy: DurablePolicy) -> None:
        owned = self._owned.get(owner)
        if owned is None:
            owned = self._owned[owner] = self.of(owner)
            del self._free[-1:]
        owned.count += 1
        owned.bytes += policy.bytes
        owned.filters += len(policy.filters)
        owned.filter_bytes += filter_bytes(policy)

    def remove(self, owner: str, policy: DurablePolicy) -> None:
        owned = self._owned[owner]
        owned.count -= 1
        owned.bytes -= policy.bytes
        owned.filters -= len(policy.filters)
        owned.filter_bytes -= filter_bytes(policy)
        if owned.count == 0:
            del self._owned[owner]
            self._free.append(owned.number)


def filter_bytes(policy: DurablePolicy) -> int:
    """Return the bytes of the packed filters of `policy`, each with its copy of the residual program."""
    return sum(len(packed) + len(policy.residual) for packed in policy.filters)
