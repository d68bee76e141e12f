"""The router that is the root of a class of messages, by the set of reachable routers.

Law: a choice depends on the class, its entry in the topology file and the set of reachable routers, and on nothing
else: all routers of a component choose equally (E9), and each part of a partitioned network has roots of its own.

    listed    the first router of the list that is reachable
    hash      the reachable router with the highest BLAKE2b-8 of (class, router): classes are spread evenly, and a
              router that comes or goes moves only the classes that it gets, or had

A list without a reachable router counts as no list.

Messages *name* a root at their entry only once it has been chosen for the hold of trees (R5b): by then every reachable
router has its tree. Until then they name none, and use the trees of their sources (E10).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

REST: Final = ""
"""The name of the class of messages that are in no other; no class of a topology file has this name."""
_ROUTER: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class RootChoice:
    """The choice of the root of one class; `listed` are numbers of routers, the preferred first. A sequence of choices
    describes all classes, with REST as the last."""

    name: str
    listed: tuple[int, ...] = ()
    filters: tuple[bytes, ...] = ()
    """Packed filters: a message that satisfies one of them, and none of an earlier class, is in the class."""


def weight(name: str, router: int) -> int:
    """Return the weight of `router` for class `name`, of which the highest makes a router the root: the little-endian
    BLAKE2b, of 8 bytes, of the name's UTF-8 and the number as little-endian u64."""
    return int.from_bytes(hashlib.blake2b(name.encode() + _ROUTER.pack(router), digest_size=8).digest(), "little")


def root_of(choice: RootChoice, reach: Collection[int]) -> int:
    """Return the root of a class among the routers in `reach`, which is not empty."""
    listed = next((router for router in choice.listed if router in reach), None)
    return listed if listed is not None else max(reach, key=lambda router: (weight(choice.name, router), router))


def roots_of(choices: Sequence[RootChoice], reach: Collection[int]) -> tuple[int, ...]:
    """Return the root of each class, in the order of `choices`."""
    return tuple(root_of(choice, reach) for choice in choices)


def agreed_text(choices: Sequence[RootChoice]) -> str:
    """Return a digest of the names of classes, their filters and lists: routers with equal digests choose equally."""
    parts = [
        part
        for choice in choices
        for part in (
            choice.name.encode(),
            b"".join(map(_ROUTER.pack, choice.listed)),
            *(hashlib.blake2b(packed).digest() for packed in choice.filters),
        )
    ]
    data = b"".join(_ROUTER.pack(len(part)) + part for part in (_ROUTER.pack(len(choices)), *parts))
    return f"roots-{hashlib.blake2b(data, digest_size=8).hexdigest()}"


class Roots:
    """The roots of all classes as routers come and go. `hold_us` is the time between the choice of a root and its first
    use by messages."""

    def __init__(self, choices: Sequence[RootChoice], me: int, hold_us: int) -> None:
        self.choices: Final = choices
        self._me, self._hold_us = me, hold_us
        self.chosen: tuple[int, ...] = ()
        """The root of each class; empty while messages do not use roots."""
        self.changes = 0
        """The number of times that the root of a class was replaced by another."""
        self._since_us: tuple[int, ...] = ()

    def follow(self, reach: Collection[int], now_us: int) -> None:
        """Choose the roots among the routers in `reach`; none if it is empty."""
        before = dict(enumerate(zip(self.chosen, self._since_us, strict=True)))
        self.chosen = self._choose(reach) if reach else ()
        kept = [before.get(place, (None, now_us)) for place, _ in enumerate(self.chosen)]
        self.changes += sum(of not in (None, root) for root, (of, _) in zip(self.chosen, kept, strict=True))
        self._since_us = tuple(
            since_us if of == root else now_us for root, (of, since_us) in zip(self.chosen, kept, strict=True)
        )

    def _choose(self, reach: Collection[int]) -> tuple[int, ...]:
        return roots_of(self.choices, reach)

    def named(self, now_us: int) -> tuple[int, ...]:
        """Return the root that messages of each class name; 0: none yet."""
        dated = zip(self.chosen, self._since_us, strict=True)
        return tuple(root if since_us + self._hold_us <= now_us else 0 for root, since_us in dated)

    def next_us(self, now_us: int) -> int | None:
        """Return the time at which messages may name the next root; None: they may name all."""
        return min((due for since in self._since_us if (due := since + self._hold_us) > now_us), default=None)

    def classes_by_root(self) -> dict[int, int]:
        """Return the classes of each root, as bits."""
        classes: dict[int, int] = {}
        for place, root in enumerate(self.chosen):
            classes[root] = classes.get(root, 0) | 1 << place
        return classes
