"""Forwarding policies: what a router does with a message between routers, by the strategy that all follow.

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
    """(trees, source, neighbour): whether messages of the source are accepted from this neighbour."""
    targets: Callable[[Trees, int, Collection[int]], Iterable[int]]
    """(trees, source, matched): the links towards the routers `matched`, whose filters match a message of the
    source."""
    annotate: Callable[[int, int | None], int]
    """(hops left, came from): the hops left that are written into each copy; None: the message entered here."""
    destinations_max: int = 0
    """The most matching routers that are listed in a message where it enters (extension ROUTE); 0: none are listed."""
    reuses: bool = False
    """Whether the set of matching routers is written into a message where it enters, and used by routers with equal
    tables (R13)."""


def from_the_parent(trees: Trees, source: int, neighbour: int | None) -> bool:
    return trees.parent(source) == neighbour


def ways_to_who_asks(trees: Trees, source: int, matched: Collection[int]) -> Iterable[int]:
    below = trees.below(source)
    return (below[issuer] for issuer in below.keys() & matched)


def one_hop_less(hops_left: int, came_from: int | None) -> int:
    return hops_left if came_from is None else hops_left - 1


WANTED: Final = Policy("wanted", from_the_parent, ways_to_who_asks, one_hop_less)
FLOOD: Final = replace(WANTED, name="flood")
"""All routers request everything or nothing, so the switch finds equal links without its table."""
MATCH_FIRST: Final = replace(WANTED, name="match-first", destinations_max=ROUTE_ROUTERS)
"""A message is matched where it enters, and goes to the routers that are listed in it."""
BY_ROOT: Final = replace(WANTED, name="by-root")
"""A message names the root of its class where it enters, and goes along the tree of that root (`forest.py`)."""
DESTINATIONS: Final = replace(WANTED, name="destinations", reuses=True)
"""A message is matched where it enters; the routers on its way whose tables are equal take the answer from it."""

POLICIES: Final = {policy.name: policy for policy in (WANTED, FLOOD, MATCH_FIRST, BY_ROOT, DESTINATIONS)}
"""By the name that the registry of strategies and the switch know."""
