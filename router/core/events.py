"""What can happen to a router, as far as its core is concerned.

Law: an event is a fact that somebody else has checked: bodies have been decoded and are within the limits of the wire,
a session belongs to the neighbour it names. Neighbours and issuers are router numbers (`stable_number` of the id).
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.routing_bodies import Body
from tamis.protocol.wire.versions import PROTOCOL_VERSION


@dataclass(frozen=True, slots=True)
class LinkUp:
    """Both ends of a link have greeted. `session` grows with each one of a neighbour; a new one replaces the old."""

    neighbour: int
    session: int
    cost: int
    version: int = PROTOCOL_VERSION
    """Of the wire, as the two have chosen it."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """A session is over. That of an older session than the present one says nothing."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A body has left of which that was to be told (`Send.is_told`)."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Heard:
    """A control body has come, whole."""

    neighbour: int
    session: int
    body: Body


@dataclass(frozen=True, slots=True)
class FiltersWanted:
    """Filters that local clients want from now on, packed; one is wanted as often as it is named.

    With a ticket it is an `Await` besides, which the advertisement of these very filters asks to be confirmed for.
    """

    filters: tuple[bytes, ...]
    ticket: int | None = None


@dataclass(frozen=True, slots=True)
class Unwanted:
    """The opposite, for as many."""

    filters: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Say `Reached(ticket)` when all that is wanted now is known to every router that can be reached."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Ask everybody at once, over the whole tree; `Audited(ticket)` follows."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Leave:
    """This router is going to stop: it says that it has no links, from here on, and goes on forwarding meanwhile."""


@dataclass(frozen=True, slots=True)
class Stood:
    """This router stood still since then, and goes on: it could not notice what happened meanwhile."""

    since_us: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: `due_us` has come, or not."""


Event = LinkUp | LinkDown | Sent | Heard | FiltersWanted | Unwanted | Await | Audit | Leave | Stood | Tick
