"""What each router should ask the others for, by the strategy that all follow: the part of the truth that differs.

Law: it is worked out from what clients want, never from what a router says. `everything` is all contents of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tamis.protocol.strategies import Asks
from tamis.simulate.oracle.truth import Truth

Asked = Mapping[int, int]
"""Router -> the contents that it should ask for. Routers that are not named should ask for nothing."""
AskedBy = Callable[[Truth, int], Asked]
"""A function of the truth and `everything`."""


def what_clients_want(truth: Truth, everything: int) -> Asked:  # noqa: ARG001 - the signature of all
    asked: dict[int, int] = {}
    for wants in truth.in_force.values():
        for want in wants.values():
            asked[want.router] = asked.get(want.router, 0) | want.contents
    return asked


def everything_for_clients(truth: Truth, everything: int) -> Asked:
    """Return everything for each router of which a client wants something, even something that no content satisfies."""
    return {want.router: everything for wants in truth.in_force.values() for want in wants.values()}


def everything_everywhere(truth: Truth, everything: int) -> Asked:
    return dict.fromkeys(truth.living(), everything)


ASKED_BY: Final[Mapping[Asks, AskedBy]] = {
    Asks.WANTED: what_clients_want,
    Asks.EVERYTHING_FOR_CLIENTS: everything_for_clients,
    Asks.EVERYTHING: everything_everywhere,
    Asks.BY_EDGES: everything_everywhere,
}
"""By what a strategy says that its routers ask for."""


def each_by_its_own(strategies: Mapping[int, Asks], truth: Truth, everything: int) -> Asked:
    """Return what routers ask for that follow strategies of their own, by source trees. Those in `strategies` are all
    that there are."""
    asked = {asks: ASKED_BY[asks](truth, everything) for asks in dict.fromkeys(strategies.values())}
    return {router: asked[asks].get(router, 0) for router, asks in strategies.items()}
