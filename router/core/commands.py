"""The commands that a core returns for its owner to carry out.

Law: the owner carries out commands in their order. Frames for one neighbour leave in the order of their commands; a
frame for a session that has ended is dropped, even if the neighbour has a newer session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from tamis.protocol.spaces import Space
from tamis.protocol.wire.home_bodies import DurablesHolder
from tamis.protocol.wire.routing_bodies import Body
from tamis.router.core.routing.forest import NO_FOREST, Forest
from tamis.router.core.routing.trees import Trees


class NeighbourSession(NamedTuple):
    """One session with one neighbour, by the neighbour's router number and the number of the session."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send `body` to each session of `to`. `is_told`: an event Sent follows for each session that the body has left
    by."""

    to: tuple[NeighbourSession, ...]
    body: Body
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class Install:
    """R6: put the filters `added` of the router `issuer` into the table, then remove those with the ids `removed`, in
    this order so that no filter is missing in between. `issuer` is another router, or the number of an edge of a tree.
    `added` maps ids to packed filters and must not change afterwards; it replaces the filter of an id that is in the
    table already. A later `Held` confirms this installation: it must not leave before the installation is done."""

    issuer: int
    added: Mapping[int, bytes]
    removed: tuple[int, ...]
    at_once: bool = False
    """Whether `added` must be in the table before the next command is carried out, ahead of all installations that
    wait. Its ids have never been used before."""


@dataclass(frozen=True, slots=True)
class Reroute:
    """R5b: route messages by `trees` from now on, and by the previous trees as well until the hold ends."""

    trees: Trees
    is_whole: bool
    """R5c: whether no path broke within the hold, which means that each message sent along an old path arrives."""
    forest: Forest = NO_FOREST
    """The trees of roots, for messages that name a root."""


@dataclass(frozen=True, slots=True)
class NameRoots:
    """E10: stamp messages that enter here with these roots from now on: one for each class, 0 for none
    (`Forest.roots`). The newest forest has the tree of each."""

    roots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoutesChanged:
    """Report a loss to clients: paths of messages to this router have broken. Clients that had a subscription `ago_us`
    before now are notified. The missing messages were published within `span_us`. `goes_on`: some routers have become
    unreachable, and messages published there continue to be missing."""

    span_us: int
    ago_us: int
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Forget:
    """R8: drop what is recorded about messages from `router`, as all its statements are forgotten. When that router
    starts again, its messages may carry any epoch and be counted from 1."""

    router: int


ANY_EPOCH: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class BoundSource:
    """Accept messages of `router` up to the epoch `epoch_max`, regardless of the bound for all sources, until a new
    bound is set or `router` is forgotten. ANY_EPOCH removes this bound: the bound for all sources applies again."""

    router: int
    epoch_max: int


@dataclass(frozen=True, slots=True)
class RaiseEpoch:
    """R9: this router's epoch is now `epoch`: write it to disk, and stamp messages with it. It differs from the
    previous epoch, and is lower only where the neighbours refuse that epoch."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Reached:
    """Reply to the event `Await` with its ticket."""

    ticket: int


@dataclass(frozen=True, slots=True)
class StoreDurables:
    """R19b: the router `name`, whose number is `issuer` and whose log is `log`, has stated new durable subscriptions:
    those before without `removed`, with `added`, packed, by number. Store them, and reply with the event
    DurablesStored."""

    issuer: int
    name: str
    log: int
    epoch: int
    seq: int
    added: Mapping[int, bytes]
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DurablesKnown:
    """Reply to the event `AwaitDurables` with its ticket: `holding` are the routers that have stored what this router
    stated, with their logs, `missing` those in reach that have not confirmed it in time."""

    ticket: int
    holding: tuple[DurablesHolder, ...]
    missing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DurablesStoredAt:
    """R19d: these routers have stored what this router states of its durable subscriptions; of each, the log, its
    life or the epoch of what it states is another than before."""

    holders: tuple[DurablesHolder, ...]


@dataclass(frozen=True, slots=True)
class Audited:
    """Reply to the event `Audit` with its ticket: `answered` routers have replied, and `differing` lists those that
    held a state other than this router's. Each of these routers has received what it lacked, or has sent it to this
    router."""

    ticket: int
    answered: int
    differing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckBySpaces:
    """R17: validate messages that enter here by `spaces`, and by no other space, from now on."""

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
    | StoreDurables
    | DurablesKnown
    | DurablesStoredAt
    | Audited
    | CheckBySpaces
    | Alarm
)
