"""Events of the links of a router, and of the routes of messages (`events.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from tamis.protocol.wire.routing_bodies import Body

if TYPE_CHECKING:
    from tamis.router.core.routing.paths import Graph
    from tamis.router.core.routing.trees import Trees


class LinkCameUp(NamedTuple):
    """A neighbour has completed its greeting from the address `peer`; `interface` is the number of the connection."""

    neighbour: str
    peer: str
    session: int
    interface: int
    cost: int


class LinkWentDown(NamedTuple):
    """The session of a neighbour has ended; `reason` is empty if none is known."""

    neighbour: str
    peer: str
    session: int
    interface: int
    reason: str


class ControlPassed(NamedTuple):
    """A body arrived from a neighbour or left for it, in frames of `size` bytes; `sender` is the router that sent
    it."""

    neighbour: str
    way: Literal["in", "out"]
    body: Body
    size: int
    sender: int


class TopologyChanged(NamedTuple):
    """The trees of messages have changed to `trees`; `cause` is the event before the change."""

    trees: Trees
    graph: Graph
    name_of: Callable[[int], str]
    cause: str


class UnlinkedCounted(NamedTuple):
    """`messages` messages for a neighbour found no link to it."""

    neighbour: str
    messages: int
