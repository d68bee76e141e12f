"""What a core wants done.

Law: commands are carried out in their order. Frames of one neighbour leave in the order of their commands; a session
that is over is none of theirs any more and they are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from tamis.protocol.wire.routing_bodies import Body
from tamis.router.core.ways.trees import Trees


class NeighbourSession(NamedTuple):
    """One session with one neighbour."""

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
    """R6: filters of an issuer come into the table and go out of it; the new ones first, so that nothing is missing
    between. The issuer is another router. `added` maps ids to packed filters, and nobody changes it any more; an id
    that is there already has another filter from now on. A `Held` that follows says that all this is done: it must not
    leave before."""

    issuer: int
    added: Mapping[int, bytes]
    removed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reroute:
    """R5b: messages go by these trees from now on, and by those before them for the hold."""

    trees: Trees
    is_whole: bool
    """R5c: no way has broken within the hold, so what went by one arrives."""


@dataclass(frozen=True, slots=True)
class WaysChanged:
    """Ways of messages to here have broken; clients that wanted something `ago_us` before are told. What is missing was
    published within `span_us`; `goes_on`: routers that were in reach are not, and what is published there goes on
    missing."""

    span_us: int
    ago_us: int
    goes_on: bool


@dataclass(frozen=True, slots=True)
class Forget:
    """R8: nothing is known of this router any more. Its next life may count its messages anew, from any epoch on."""

    router: int


ANY_EPOCH: Final = 2**64 - 1


@dataclass(frozen=True, slots=True)
class BoundSource:
    """Take messages of a router up to the epoch `epoch_max`, whatever is believed of others, until it is bounded anew
    or forgotten; ANY_EPOCH: take those of any that is believed of all."""

    router: int
    epoch_max: int


@dataclass(frozen=True, slots=True)
class RaiseEpoch:
    """R9: this router's epoch is now `epoch`, which is another than before, and lower only where the neighbours refuse
    that one: keep it on disk, and stamp messages with it."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Reached:
    """The answer to `Await`."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Audited:
    """The answer to `Audit`: `differing` routers held something else than this one; they have been told, or have told
    us."""

    ticket: int
    answered: int
    differing: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Somebody should look at this."""

    text: str


Command = Send | Install | Reroute | WaysChanged | Forget | BoundSource | RaiseEpoch | Reached | Audited | Alarm
