"""R16: the router at which a member of a worker group receives a message, chosen once, where the message enters.

Law: for each group with a matching member, the entry router chooses one of the reachable routers that have such
members, in proportion to their number, by a keyed hash of the message and the group. The message carries the choice
(extension GROUP_CHOICE), and no other router chooses again: two routers that see the network differently would deliver
the message to two members, or to none. Only a chosen router without a member chooses once more, for one copy that is
sent to that router alone.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from typing import Final

Choices = Mapping[int, int]
"""Maps the number of a worker group to the router whose member receives the message."""
Weights = Mapping[int, int]
"""Maps a router to the number of its members for a message, at least 1."""
NO_CHOICES: Final[Choices] = {}
_WORDS: Final = struct.Struct("<QQQI")


def turn_of(key: bytes, transit: tuple[int, int, int], group: int) -> int:
    """Return the 64 bits that decide for one message and group; without the key they cannot be predicted."""
    return int.from_bytes(hashlib.blake2b(_WORDS.pack(*transit, group), digest_size=8, key=key).digest(), "little")


def pick(weights: Weights, turn: int) -> int | None:
    """Return the router for `turn`, with a probability in proportion to its members; None if there is none."""
    left = turn * sum(weights.values()) >> 64
    for router in sorted(weights):
        left -= weights[router]
        if left < 0:
            return router
    return None


def choose(key: bytes, transit: tuple[int, int, int], members: Mapping[int, Weights]) -> Choices:
    """Return the choices for a message; `members` names for each group the routers that may be chosen."""
    picked = {group: pick(weights, turn_of(key, transit, group)) for group, weights in sorted(members.items())}
    return {group: router for group, router in picked.items() if router is not None}
