"""The events that a core handles: what can happen to a router, as far as routing is concerned.

Law: an event is a fact that its sender has checked: bodies have been decoded and are within the limits of the wire, and
a session belongs to the neighbour that the event names. Neighbours and issuers are router numbers (`stable_number` of
the id).
"""

from __future__ import annotations

from dataclasses import dataclass

from tamis.protocol.wire.routing_bodies import Body, SpaceStatement
from tamis.protocol.wire.versions import PROTOCOL_VERSION


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The greeting of a link is done at both ends. `session` grows with each session of a neighbour; a new session
    replaces the old one."""

    neighbour: int
    session: int
    cost: int
    version: int = PROTOCOL_VERSION
    """The version of the wire that the two ends have agreed on."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """A session has ended. The end of a session older than the present one is ignored."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A body that was sent with `Send.is_told` has left."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Heard:
    """A whole control body has come from a neighbour."""

    neighbour: int
    session: int
    body: Body


@dataclass(frozen=True, slots=True)
class FiltersAdded:
    """Local clients want these packed filters from now on; a filter counts as often as it is named.

    With a ticket the event is also an `Await`: the advertisement of these very filters asks the other routers to
    confirm.
    """

    filters: tuple[bytes, ...]
    ticket: int | None = None


@dataclass(frozen=True, slots=True)
class FiltersRemoved:
    """Local clients no longer want these packed filters; a filter that is named twice is given back twice."""

    filters: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Ask for `Reached(ticket)` when every router that can be reached knows all filters that are wanted now."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Ask for an audit: every router of the tree is asked what it holds; `Audited(ticket)` follows."""

    ticket: int


@dataclass(frozen=True, slots=True)
class SpacesStated:
    """A source of this router (its file, its data folder, its administration) says these of spaces."""

    statements: tuple[SpaceStatement, ...]


@dataclass(frozen=True, slots=True)
class ShuttingDown:
    """This router is going to stop: it states that it has no links, and goes on forwarding meanwhile."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """This router stood still since `since_us`, and goes on now: it could not notice what happened meanwhile."""

    since_us: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; `due_us` may have come or not."""


Event = (
    LinkUp
    | LinkDown
    | Sent
    | Heard
    | FiltersAdded
    | FiltersRemoved
    | Await
    | Audit
    | SpacesStated
    | ShuttingDown
    | Stalled
    | Tick
)
