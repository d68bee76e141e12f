"""R1, R7, R16: which filters of worker groups a router states for its members, and with how many members.

Law: a filter of a group is stated under its group, separate from an equal filter of other clients, and states its
number of members, rounded up to a power of two. The stated number grows with the members at once, and shrinks when a
quarter of it is left, which makes a member that returns cost nothing. Entry routers weigh by these numbers and need no
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from tamis.protocol.wire.routing_bodies import Extended, group_of, of_group

SHRINK: Final = 4
"""A number is stated again when at most this fraction of it is left."""


class Restated(NamedTuple):
    """The statement of a filter of a group before and after a change; None: there is none."""

    before: Extended | None
    after: Extended | None


@dataclass(slots=True)
class _Members:
    count: int
    stated: int


class Members:
    """The members of this router's clients, by filter and group."""

    def __init__(self) -> None:
        self._by_filter: dict[Extended, _Members] = {}

    def __len__(self) -> int:
        return len(self._by_filter)

    def join(self, packed: bytes) -> Restated:
        key = _key(packed)
        held = self._by_filter.setdefault(key, _Members(0, 0))
        before = _statement(key, held.stated) if held.count else None
        held.count += 1
        held.stated = max(held.stated, _rounded(held.count))
        return Restated(before, _statement(key, held.stated))

    def leave(self, packed: bytes) -> Restated:
        """Remove one member. KeyError: there is none. The number of the last one is kept until `forget`."""
        key = _key(packed)
        held = self._by_filter[key]
        if held.count == 0:
            raise KeyError(packed)
        before = _statement(key, held.stated)
        held.count -= 1
        if held.count == 0:
            return Restated(before, None)
        if held.count * SHRINK <= held.stated:
            held.stated = _rounded(held.count)
        return Restated(before, _statement(key, held.stated))

    def forget(self, packed: bytes) -> None:
        """Forget the number of a withdrawn filter if no member wants it any longer."""
        key = _key(packed)
        if key in self._by_filter and self._by_filter[key].count == 0:
            del self._by_filter[key]


def _key(packed: bytes) -> Extended:
    return of_group(packed, group_of(packed))


def _statement(key: Extended, members: int) -> Extended:
    return of_group(key, key.group, members)


def _rounded(count: int) -> int:
    """Return the least power of two that is not below `count`."""
    return 1 << (count - 1).bit_length()
