"""The commands by which a core says what its owner has to do.

Law: the owner carries commands out in their order. Frames of one neighbour leave in the order of their commands; a
frame for a session that has ended is dropped, even if the neighbour has a newer session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from tamis.protocol.spaces import Space
from tamis.protocol.wire.routing_bodies import Body
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.trees import Trees


class NeighbourSession(NamedTuple):
    """One session with one neighbour, by the neighbour's router number and the number of the session."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send `body` to each session of `to`. `is_told`: an event Sent follows for each of them when it has left."""

    to: tuple[NeighbourSession, ...]
    body: Body
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Install:
    """R6: put the filters `added` of the router `issuer` into the table, then take those with the ids `removed` out, in
    this order so that nothing is missing between. `issuer` is another router, or the number of an edge of a tree.
    `added` maps ids to packed filters, and does not change any more; for an id that is in the table already the filter
    is replaced. A `Held` that follows confirms all this: it must not leave before it is done."""

    issuer: int
    added: Mapping[int, bytes]
    removed: tuple[int, ...]
    at_once: bool = False
    """Whether `added` must be in the table before the next command is carried out, whatever waits to be put there. Its
    ids have never been used before."""


@dataclass(frozen=True, slots=True)
class Reroute:
    """R5b: send messages by `trees` from now on, and for the hold by the trees before as well."""

    trees: Trees
    is_whole: bool
    """R5c: whether no way broke within the hold, so that every message sent by an old way arrives."""
    forest: Forest = NO_FOREST
    """The trees of roots, for messages that name one."""


@dataclass(frozen=True, slots=True)
class NameRoots:
    """E10: let messages that enter here name these roots from now on: one for each class, 0 for none (`Forest.roots`).
    The newest forest has the tree of each."""

    roots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """Tell clients of a loss: ways of messages to this router have broken. Clients that had a subscription `ago_us`
    before now are told. The missing messages were published within `span_us`. `goes_on`: some routers have gone out of
    reach, and what is published there goes on missing."""

    span_us: int
    ago_us: int
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Forget:
    """R8: drop what is remembered of messages from `router`, of which nothing is known any more. When that router
    starts again, its messages may carry any epoch and be counted from 1."""

    router: int


ANY_EPOCH: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class BoundSource:
    """Take messages of `router` up to the epoch `epoch_max`, whatever the bound for all sources is, until a new bound
    is set or `router` is forgotten. ANY_EPOCH removes the bound of its own: the bound for all sources holds."""

    router: int
    epoch_max: int


@dataclass(frozen=True, slots=True)
class RaiseEpoch:
    """R9: this router's epoch is now `epoch`: keep it on disk, and stamp messages with it. It differs from the one
    before, and is lower only where the neighbours refuse that one."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Reached:
    """Answer the event `Await` with the same ticket."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Audited:
    """Answer the event `Audit` with the same ticket: `answered` routers have answered, and `differing` names those that
    held something else than this router. Each of these has been told what it lacked, or has told this router."""

    ticket: int
    answered: int
    differing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckBySpaces:
    """R17: check messages that enter here by `spaces`, and by no other space, from now on."""

    spaces: Mapping[str, Space]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Report `text` to the operator."""

    text: str


Command = (
    Send
    | Install
    | Reroute
    | NameRoots
    | RoutesChanged
    | Forget
    | BoundSource
    | RaiseEpoch
    | Reached
    | Audited
    | CheckBySpaces
    | Alarm
)
