"""The contents that each router should request from the others, by the strategy that all follow.

Law: they are computed from the subscriptions of clients, never from a router's reports. `everything` is all contents of
a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tamis.protocol.strategies import Asks
from tamis.simulate.oracle.truth import Truth

Asked = Mapping[int, int]
"""Maps a router to the contents that it should request. Routers without an entry should request nothing."""
AskedBy = Callable[[Truth, int], Asked]
"""A function that computes the requests of routers from the truth and `everything`."""


def what_clients_want(truth: Truth, everything: int) -> Asked:  # noqa: ARG001 - the signature of all
    asked: dict[int, int] = {}
    for wants in truth.in_force.values():
        for want in wants.values():
            asked[want.router] = asked.get(want.router, 0) | want.stated
    return asked


def everything_for_clients(truth: Truth, everything: int) -> Asked:
    """Return everything for each router with a client that has a subscription, even one that no content satisfies."""
    return {want.router: everything for wants in truth.in_force.values() for want in wants.values()}


def everything_everywhere(truth: Truth, everything: int) -> Asked:
    return dict.fromkeys(truth.living(), everything)


ASKED_BY: Final[Mapping[Asks, AskedBy]] = {
    Asks.WANTED: what_clients_want,
    Asks.EVERYTHING_FOR_CLIENTS: everything_for_clients,
    Asks.EVERYTHING: everything_everywhere,
    Asks.BY_EDGES: everything_everywhere,
}
"""Maps the property of a strategy that defines the requests of its routers to the function that computes them."""


def each_by_its_own(strategies: Mapping[int, Asks], truth: Truth, everything: int) -> Asked:
    """Return the requests of routers that follow strategies of their own, by source trees. `strategies` names all
    routers."""
    asked = {asks: ASKED_BY[asks](truth, everything) for asks in dict.fromkeys(strategies.values())}
    return {router: asked[asks].get(router, 0) for router, asks in strategies.items()}
