"""The events that a core handles.

Law: the sender of an event has checked it: bodies are decoded and within the limits of the wire, and the session
belongs to the neighbour that the event names. Neighbours and issuers are router numbers (`stable_number` of the id).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tamis.protocol.wire.custody_bodies import LogLife
from tamis.protocol.wire.home_bodies import DurablesStatement
from tamis.protocol.wire.routing_bodies import Body, SpaceStatement
from tamis.protocol.wire.versions import PROTOCOL_VERSION


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The greeting of a link is complete at both ends. `session` grows with each session of a neighbour; a new session
    replaces the old one."""

    neighbour: int
    session: int
    cost: int
    version: int = PROTOCOL_VERSION
    """The version of the wire that the two ends have agreed on."""
    knows_durables: bool = True
    """Whether the neighbour supports statements about durable subscriptions."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """A session has ended. The core ignores the end of a session older than the present one."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Sent:
    """A body that was sent with `Send.is_told` has left."""

    neighbour: int
    session: int


@dataclass(frozen=True, slots=True)
class Heard:
    """A complete control body has arrived from a neighbour."""

    neighbour: int
    session: int
    body: Body


@dataclass(frozen=True, slots=True)
class FiltersAdded:
    """Local clients have subscribed with these packed filters; a filter counts as often as it is listed.

    With a ticket the event is also an `Await`: the advertisement of these filters requests confirmation by the other
    routers.
    """

    filters: tuple[bytes, ...]
    ticket: int | None = None


@dataclass(frozen=True, slots=True)
class FiltersRemoved:
    """Local clients have unsubscribed these packed filters; a filter that is listed twice is removed twice."""

    filters: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Await:
    """Request `Reached(ticket)` once every reachable router knows all filters that clients want now."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Audit:
    """Request an audit: every router of the tree reports what it holds; `Audited(ticket)` follows."""

    ticket: int


@dataclass(frozen=True, slots=True)
class SpacesStated:
    """A source of this router (its file, its data folder, its administration) provides these statements about
    spaces."""

    statements: tuple[SpaceStatement, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """Compare with every neighbour now: something that is told with a comparison has changed."""


@dataclass(frozen=True, slots=True)
class DurablesStated:
    """R19: this router has made the durable subscriptions `added`, packed, by number, and has removed others. `log` is
    the id of its log."""

    log: int
    added: Mapping[int, bytes]
    removed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DurablesRecalled:
    """R19c, C13: the log of this router, `written`, had these statements of other routers when it was opened."""

    written: LogLife
    statements: tuple[DurablesStatement, ...]


@dataclass(frozen=True, slots=True)
class DurablesStored:
    """R19b, C12: a `StoreDurables` is carried out: its content is on disk in this log, or (NO_LOG) in memory alone, as
    this router has no log."""

    issuer: int
    epoch: int
    seq: int
    written: LogLife


@dataclass(frozen=True, slots=True)
class AwaitDurables:
    """Request `DurablesKnown(ticket)` once all reachable routers have stored what this router states now, or after
    `wait_us`."""

    ticket: int
    wait_us: int


@dataclass(frozen=True, slots=True)
class ShuttingDown:
    """This router is going to stop: the core states that it has no links, and goes on forwarding until then."""


@dataclass(frozen=True, slots=True)
class Stalled:
    """This router stalled from `since_us` until now: it noticed nothing that happened in between."""

    since_us: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; a timer may or may not be due."""


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
    | Compare
    | DurablesStated
    | DurablesRecalled
    | DurablesStored
    | AwaitDurables
    | ShuttingDown
    | Stalled
    | Tick
)
