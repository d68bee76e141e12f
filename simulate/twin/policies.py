"""Forwarding policies: the handling of messages between routers, by the strategy that all follow.

Law: a policy is three pure functions, called for one generation of trees at a time. The switch has a policy of the same
name (`native/switch/forwarding/forward.h`), which must make equal decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from tamis.protocol.limits import ROUTE_ROUTERS
from tamis.router.core.routing.trees import Trees


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    """The name of the policy in the switch."""
    accept: Callable[[Trees, int, int | None], bool]
    """Called with (trees, source, neighbour): returns whether messages of the source are accepted from this
    neighbour."""
    targets: Callable[[Trees, int, Collection[int]], Iterable[int]]
    """Called with (trees, source, matched): returns the links towards the routers `matched`, whose filters match a
    message of the source."""
    annotate: Callable[[int, int | None], int]
    """Called with (hops left, came from): returns the hops left that are written into each copy. `came from` None: the
    message entered here."""
    destinations_max: int = 0
    """The most matching routers that are listed in a message where it enters (extension ROUTE); 0: none are listed."""
    reuses: bool = False
    """Whether the set of matching routers is written into a message where it enters, and used by routers with equal
    tables (R13)."""
    keys_max: int = 0
    """The most keys of matching filters in a copy, which routers with equal tables look up (R13b); 0: it has none."""


def from_the_parent(trees: Trees, source: int, neighbour: int | None) -> bool:
    return trees.parent(source) == neighbour


def ways_to_who_asks(trees: Trees, source: int, matched: Collection[int]) -> Iterable[int]:
    below = trees.below(source)
    return (below[issuer] for issuer in below.keys() & matched)


def one_hop_less(hops_left: int, came_from: int | None) -> int:
    return hops_left if came_from is None else hops_left - 1


WANTED: Final = Policy("wanted", from_the_parent, ways_to_who_asks, one_hop_less)
FLOOD: Final = replace(WANTED, name="flood")
"""The policy if all routers request everything or nothing: the switch finds the links without its table."""
MATCH_FIRST: Final = replace(WANTED, name="match-first", destinations_max=ROUTE_ROUTERS)
"""The policy if a message is matched where it enters, and sent to the routers that are listed in it."""
BY_ROOT: Final = replace(WANTED, name="by-root")
"""The policy if a message names the root of its class where it enters, and uses the tree of that root (`forest.py`)."""
DESTINATIONS: Final = replace(WANTED, name="destinations", reuses=True)
"""The policy if a message is matched where it enters, and routers on its path with equal tables use that result."""
KEYS: Final = replace(WANTED, name="keys", keys_max=2)
"""The policy if copies carry keys of matching filters. Simulated networks are small, so that often two are not all."""

POLICIES: Final = {policy.name: policy for policy in (WANTED, FLOOD, MATCH_FIRST, BY_ROOT, DESTINATIONS, KEYS)}
"""Maps the name in the registry of strategies and in the switch to the policy."""
