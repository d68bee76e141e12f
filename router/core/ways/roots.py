"""Which router is the root of a class of messages, by who is in reach.

Law: a choice follows from the class, what the topology file says of it and the set of routers in reach, and from
nothing else; so all routers of a component choose alike, and each part of a network that has fallen apart has roots of
its own.

    listed    the first router of the list that is in reach
    hash      the router in reach with the highest BLAKE2b-8 of (class, router): classes are spread evenly, and a router
              that comes or goes moves only the classes that it gets, or had

A list of which nobody is in reach is as none at all.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

REST: Final = ""
"""The name of the class of messages that are in no other; no class of a topology file has it."""
_ROUTER: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class RootChoice:
    """How the root of one class is chosen; `listed` are numbers of routers, the preferred first."""

    name: str
    listed: tuple[int, ...] = ()


def weight(name: str, router: int) -> int:
    """Return what the highest of which makes a router the root of class `name`: the little-endian BLAKE2b, of 8 bytes,
    of the name's UTF-8 and the number as little-endian u64."""
    return int.from_bytes(hashlib.blake2b(name.encode() + _ROUTER.pack(router), digest_size=8).digest(), "little")


def root_of(choice: RootChoice, reach: Collection[int]) -> int:
    """Return the root of a class among the routers in `reach`, of which there is one at least."""
    listed = next((router for router in choice.listed if router in reach), None)
    return listed if listed is not None else max(reach, key=lambda router: (weight(choice.name, router), router))


def roots_of(choices: Sequence[RootChoice], reach: Collection[int]) -> tuple[int, ...]:
    """Return the root of each class, in their order."""
    return tuple(root_of(choice, reach) for choice in choices)
