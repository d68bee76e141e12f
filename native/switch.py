"""The switch: sockets whose data frames C moves, and what it hands up.

Law: nothing here decides anything. What C lends until the next call is copied before it is handed on. One thread uses
it at a time. A connection is named by a small number, and so is a subscriber, whose number is its interface of the
table.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.others import RemoteRouters
from tamis.native.records import RecordRing
from tamis.native.results import Gone, check, check_alive
from tamis.native.spaces import pack_spaces
from tamis.native.subscribe_frame import RefusedFilter, SubscribeFrame
from tamis.native.switch_figures import ConnectionFigures, Increment, SubscriberFigures, SwitchFigures
from tamis.native.switch_values import (
    CONNECTIONS_MAX,
    Admission,
    Bug,
    ClockOffset,
    KeepsNothing,
    LinkDrops,
    SpaceFigures,
    Step,
    Subscribed,
    SwitchEvent,
    SwitchOptions,
)
from tamis.native.table import Table
from tamis.protocol.spaces import SpaceSet

_Cdata = Any  # cffi's types exist only at run time

# Plain integers: a read may hold tens of thousands of frames, and an IntEnum costs as much as all the rest of an event.
_FAULT: Final = int(lib.TM_EVENT_FAULT)
INCREMENTS: Final = 64
"""Connections that one call tells of, which takes a fraction of a millisecond."""


class Switch(RemoteRouters):
    """A switch over `table`, which it takes over: add and remove through the switch alone, and close the switch
    first."""

    def __init__(self, table: Table, options: SwitchOptions) -> None:
        self._table = table
        made = ffi.new("tm_switch **")
        check(lib.tm_switch_new(ffi.new("tm_switch_options *", asdict(options)), table.c, made))
        self._switch: _Cdata | None = ffi.gc(made[0], lib.tm_switch_free)
        self._events, self._count = ffi.new("tm_event **"), ffi.new("size_t *")
        self._number, self._subscribed = ffi.new("uint32_t *"), ffi.new("tm_subscribed *")
        self._spaces: tuple[str, ...] = ()
        self._link_drops = ffi.new(f"tm_link_drops[{lib.TM_LINK_DROP_ROWS}]")
        super().__init__()

    @property
    def c(self) -> _Cdata:
        if self._switch is None:
            raise ValueError("the switch is closed")
        return self._switch

    def close(self) -> None:
        """Close every socket and free everything; closing twice is allowed."""
        if self._switch is not None:
            ffi.release(self._switch)
            self._switch = None

    @property
    def descriptor(self) -> int:
        """A descriptor that is readable when `poll` has something to do."""
        return int(lib.tm_switch_descriptor(self.c))

    # --- connections ---------------------------------------------------------------------------------------------

    def open(self, descriptor: int = -1) -> int | None:
        """Open a connection over a non-blocking socket that the switch owns from here on, or over none (-1); None: no
        room."""
        result = lib.tm_switch_open(self.c, descriptor, self._number)
        if result in (lib.TM_TOO_MANY, lib.TM_NO_MEMORY):
            return None
        check(result)
        return int(self._number[0])

    def admit(self, connection: int, admission: Admission) -> None:
        """Let a peer in; a client gets a subscriber of its own, a link none. Gone if the connection has ended
        meanwhile; OutOfMemory, or Refused, where there is no room for another subscriber: then the connection is still
        greeting."""
        check_alive(lib.tm_switch_admit(self.c, connection, ffi.new("tm_admission *", asdict(admission))))
        if not admission.is_link:
            self.knows(self.subscriber_of(connection))

    def knows(self, subscriber: int) -> None:
        """Let the table name `subscriber`, which C has made, in its answers."""
        self._table.knows(subscriber)

    def subscriber_of(self, connection: int) -> int:
        """Return the number of the subscriber that a client's connection serves; Gone if it serves none any more."""
        found = int(lib.tm_switch_subscriber_of(self.c, connection))
        if found == lib.TM_SUBSCRIBER_NONE:
            raise Gone("the connection serves no subscriber")
        return found

    def keep_of(self, subscriber: int) -> int:
        """Return the number of the keep that a subscriber is; 0: it is none."""
        return int(lib.tm_switch_keep_of(self.c, subscriber))

    def connection_of(self, subscriber: int) -> int | None:
        """Return the number of the connection that serves `subscriber`; None: none does."""
        found = self.subscriber(subscriber).connection
        return None if found == lib.TM_CONNECTION_NONE else found

    def send(self, connection: int, frames: bytes, urgent: bool = True) -> bool:
        """Queue whole frames, behind the data or (urgent) at the next frame boundary.

        False: too much waits already, or the connection has ended and its CLOSED is on the way.
        """
        lane = lib.TM_LANE_URGENT if urgent else lib.TM_LANE_ORDERED
        result = lib.tm_switch_send(self.c, connection, ffi.from_buffer(frames), len(frames), lane)
        if result not in (lib.TM_TOO_MANY, lib.TM_MISUSED):
            check(result)
        return bool(result == lib.TM_OK)

    def end(self, connection: int, now: bool = False) -> None:
        """Read nothing more, send what is queued (unless `now`), then close; an event CLOSED follows."""
        check(lib.tm_switch_close(self.c, connection, now))

    def lose(self, connection: int) -> None:
        """Take in that the peer of a fed connection has gone; an event CLOSED follows."""
        check(lib.tm_switch_lose(self.c, connection))

    def pause(self, connection: int, is_paused: bool) -> None:
        check(lib.tm_switch_pause(self.c, connection, is_paused))

    def forget(self, connection: int, steps: int) -> int:
        """Drop at most `steps` filters of a connection whose CLOSED has come; return how many are left. At 0 its number
        is free again."""
        check(lib.tm_switch_forget(self.c, connection, steps, self._number))
        return int(self._number[0])

    def drain(self, is_draining: bool) -> None:
        lib.tm_switch_drain(self.c, is_draining)

    def step(self, step: Step) -> None:
        check(lib.tm_switch_step(self.c, step))

    def keep_nothing(self, why: KeepsNothing) -> None:
        """While there is no log, do with messages that ask for the disk what `why` means."""
        check(lib.tm_switch_keeps_nothing(self.c, why))

    def resume(self, budget_us: int) -> tuple[list[SwitchEvent], int]:
        """Go on, for `budget_us`, with connections that waited; return what happened, and how many still wait."""
        check(lib.tm_switch_resume(self.c, budget_us, self._number, self._events, self._count))
        return self._taken(), int(self._number[0])

    def newest(self, publisher: int) -> int:
        """Return the highest counter of a message that is known of `publisher`, if it is not too far ahead; 0: none."""
        return int(lib.tm_switch_newest(self.c, publisher))

    # --- bytes ---------------------------------------------------------------------------------------------------

    def poll(self, budget_us: int) -> list[SwitchEvent]:
        """Serve the sockets that are ready, for `budget_us`; return the events."""
        check(lib.tm_switch_poll(self.c, budget_us, self._events, self._count))
        return self._taken()

    def tick(self) -> list[SwitchEvent]:
        """Do what is due by time alone, and return the events; call it about ten times a second."""
        check(lib.tm_switch_tick(self.c, self._events, self._count))
        return self._taken()

    def feed(self, connection: int, data: bytes | bytearray | memoryview) -> list[SwitchEvent]:
        """Take in bytes of a connection without a socket; return the events."""
        check(lib.tm_switch_feed(self.c, connection, ffi.from_buffer(data), len(data), self._events, self._count))
        return self._taken()

    def output(self, connection: int, bytes_max: int) -> bytes:
        """Return at most `bytes_max` of what a connection without a socket has to send; they count as sent."""
        start, size = ffi.new("uint8_t **"), self._count
        check(lib.tm_switch_output(self.c, connection, start, size))
        data = bytes(ffi.buffer(start[0], min(size[0], bytes_max))) if size[0] else b""
        if data:
            check(lib.tm_switch_sent(self.c, connection, len(data)))
        return data

    def _taken(self) -> list[SwitchEvent]:
        events = self._events[0]
        return [_event(events[index]) for index in range(self._count[0])]

    # --- subscriptions -------------------------------------------------------------------------------------------

    def subscribe(self, subscriber: int, frame: SubscribeFrame, filters: int) -> list[RefusedFilter]:
        """Take subscriptions of the frame, one at least, until about `filters` filters or 16 KiB of them were added;
        returns the refused. Raises Gone if the subscriber has ended."""
        return frame.take(self.c, subscriber, filters)

    def unsubscribe(self, subscriber: int, subscription: int) -> bool:
        """Remove a subscription; False: `subscriber` has no such subscription."""
        result = lib.tm_switch_unsubscribe(self.c, subscriber, subscription)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def subscribed(self, handle: int) -> Subscribed | None:
        """Return the filter with the lowest handle from `handle` on; None: there is none."""
        found = self._subscribed
        result = lib.tm_switch_subscribed(self.c, handle, found)
        if result == lib.TM_ABSENT:
            return None
        check(result)
        packed = bytes(ffi.buffer(found.filter, found.size))
        served = None if found.connection == lib.TM_CONNECTION_NONE else int(found.connection)
        return Subscribed(
            *(packed, found.handle, found.subscriber, served, found.subscription),
            *(bool(found.own_messages), int(found.keep)),
        )

    # --- figures -------------------------------------------------------------------------------------------------

    def figures(self) -> SwitchFigures:
        c = ffi.new("tm_switch_stats *")
        lib.tm_switch_figures(self.c, c)
        return SwitchFigures.read(c)

    def connection(self, connection: int) -> ConnectionFigures:
        c = ffi.new("tm_connection_stats *")
        check(lib.tm_switch_connection(self.c, connection, c))
        return ConnectionFigures.read(c)

    def clients(self) -> ConnectionFigures:
        """Return the sums over all connections that serve a client."""
        c = ffi.new("tm_connection_stats *")
        lib.tm_switch_clients(self.c, c)
        return ConnectionFigures.read(c)

    def subscriber(self, subscriber: int) -> SubscriberFigures:
        c = ffi.new("tm_subscriber_stats *")
        check(lib.tm_switch_subscriber(self.c, subscriber, c))
        return SubscriberFigures.read(c)

    def know_spaces(self, spaces: SpaceSet) -> None:
        """Refuse messages of clients that do not fit the space that they name; `spaces` takes the place of those that
        were known. Raises OutOfMemory, and then those are known still."""
        packed = pack_spaces(spaces)
        check(lib.tm_switch_spaces(self.c, ffi.from_buffer(packed), len(packed)))
        self._spaces = tuple(spaces.spaces)

    def spaces(self) -> dict[str, SpaceFigures]:
        """Return what became of messages of each space that is known, by its name."""
        row = ffi.new("tm_space_stats *")
        figures = {}
        for number, name in enumerate(self._spaces):
            check(lib.tm_switch_space(self.c, number, row))
            figures[name] = SpaceFigures(int(row.checked), int(row.refused))
        return figures

    def increments(self, first: int, end: int = CONNECTIONS_MAX) -> tuple[list[Increment], int]:
        """Return what connections from `first` to before `end` have gained since the last call, at most INCREMENTS of
        them, and where to go on: at `end`, or past the last connection, all are told."""
        rows, count = ffi.new("tm_increment[]", INCREMENTS), self._count
        self._number[0] = first
        check(lib.tm_switch_increments(self.c, self._number, end, rows, INCREMENTS, count))
        return [Increment.read(rows[index]) for index in range(count[0])], int(self._number[0])

    def unlinked(self) -> dict[int, int]:
        """Return for each neighbour how many messages for it found no link since the last call. One call returns a
        part; an empty one, all are told."""
        rows, count = ffi.new("tm_unlinked[]", INCREMENTS), self._count
        check(lib.tm_switch_unlinked(self.c, rows, INCREMENTS, count))
        return {int(rows[index].neighbour): int(rows[index].messages) for index in range(count[0])}

    def link_drops(self) -> list[LinkDrops]:
        """Return what was dropped between routers since the last call."""
        rows = self._link_drops
        count = lib.tm_switch_link_drops(self.c, rows)
        return [LinkDrops(row.neighbour, row.source, row.messages, row.bytes, row.reason) for row in rows[0:count]]

    def clock(self, connection: int) -> ClockOffset | None:
        """Return a neighbour's clock, by the best heartbeat since the last call; None: there was no heartbeat."""
        offset, round_trip = ffi.new("int64_t *"), ffi.new("uint64_t *")
        result = lib.tm_switch_clock(self.c, connection, offset, round_trip)
        if result == lib.TM_ABSENT:
            return None
        check_alive(result)
        return ClockOffset(int(offset[0]), int(round_trip[0]))

    def record(self, records: RecordRing | None) -> None:
        """Note messages in `records` from now on. Do not close `records` before the switch is closed, or has others."""
        self._records = records
        check(lib.tm_switch_record(self.c, records.c if records is not None else ffi.NULL))

    def validate(self) -> None:
        """Check every invariant of the structures in C; a RuntimeError says which one is broken."""
        reason = ffi.new("char **")
        if lib.tm_switch_validate(self.c, reason) == lib.TM_MISUSED:
            raise RuntimeError(f"switch: {ffi.string(reason[0]).decode()}")

    def fail_allocation(self, n: int) -> None:
        """Let the n-th allocation from now on fail; 0 turns it off. For tests."""
        lib.tm_switch_fail_allocation(self.c, n)

    def plant(self, bug: Bug, every: int) -> None:
        """Let one delivery in `every` go wrong; an event PLANTED tells of each. For tests."""
        check(lib.tm_switch_plant(self.c, bug, every))

    def advance(self, ms: int) -> None:
        """Let the switch's clock run ahead by `ms` more. For tests."""
        lib.tm_switch_advance(self.c, ms)


def _event(c: _Cdata) -> SwitchEvent:
    type_, size = c.type, c.size
    frame = ffi.buffer(c.frame, size)[:] if size else b""
    text = ffi.string(c.text).decode() if type_ == _FAULT else ""
    return SwitchEvent(type_, c.connection, c.kind, c.code, frame, text)
