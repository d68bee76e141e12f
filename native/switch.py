"""The switch: C forwards the data frames of its sockets and returns events.

Law: this file decides nothing. Data that C lends until the next call is copied before it is returned. One thread uses a
switch at a time. A connection is identified by a small number, and so is a subscriber, whose number is its interface in
the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from tamis.native._tm import ffi, lib
from tamis.native.guards import (
    Border,
    GuardFigures,
    Guarding,
    GuardRules,
    KeptBack,
    figures_of,
    free_guard,
    guard,
    guard_all,
    kept_back,
    new_guard,
    set_border,
)
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
    LinkDrops,
    NotStoring,
    SpaceFigures,
    Step,
    Subscribed,
    SwitchEvent,
    SwitchOptions,
)
from tamis.native.table import Table
from tamis.protocol.spaces import SpaceSet

_Cdata = Any  # cffi's types exist only at run time

# A plain integer: a read may have tens of thousands of frames, and an IntEnum costs as much as the rest of an event.
_FAULT: Final = int(lib.TM_EVENT_FAULT)
INCREMENTS: Final = 64
"""Most connections reported by one call, which takes a fraction of a millisecond."""


class Switch(RemoteRouters):
    """A switch with `table`, which must be changed only through the switch and closed after it."""

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
        """Close all sockets and free the switch; closing twice is allowed."""
        if self._switch is not None:
            ffi.release(self._switch)
            self._switch = None

    @property
    def descriptor(self) -> int:
        """A descriptor that is readable when `poll` has work."""
        return int(lib.tm_switch_descriptor(self.c))

    # --- connections ---------------------------------------------------------------------------------------------

    def open(self, descriptor: int = -1) -> int | None:
        """Open a connection over a non-blocking socket, which the switch then owns, or without one (-1). Return None if
        there is no room."""
        result = lib.tm_switch_open(self.c, descriptor, self._number)
        if result in (lib.TM_TOO_MANY, lib.TM_NO_MEMORY):
            return None
        check(result)
        return int(self._number[0])

    def admit(self, connection: int, admission: Admission) -> None:
        """Admit a peer; a client gets a subscriber, a link none. Raise Gone if the connection has ended; OutOfMemory or
        Refused if there is no room for a subscriber, and the connection is then still in its greeting."""
        check_alive(lib.tm_switch_admit(self.c, connection, ffi.new("tm_admission *", asdict(admission))))
        if not admission.is_link:
            self.knows(self.subscriber_of(connection))

    def knows(self, subscriber: int) -> None:
        """Let the table return `subscriber`, which C has made, in its answers."""
        self._table.knows(subscriber)

    def subscriber_of(self, connection: int) -> int:
        """Return the subscriber that a client's connection serves; raise Gone if it no longer serves one."""
        found = int(lib.tm_switch_subscriber_of(self.c, connection))
        if found == lib.TM_SUBSCRIBER_NONE:
            raise Gone("the connection serves no subscriber")
        return found

    # --- guards --------------------------------------------------------------------------------------------------

    def new_guard(self, rules: GuardRules) -> int:
        """Make a guard; return its number. Raise OutOfMemory, or Refused beyond a limit."""
        return new_guard(self.c, rules)

    def free_guard(self, number: int) -> None:
        """Free a guard that no client has."""
        free_guard(self.c, number)

    def guard(self, subscriber: int, guarding: Guarding | None) -> None:
        """Guard a subscriber from the next message on; None: it is not guarded."""
        guard(self.c, subscriber, guarding)

    def guard_all(self, guardings: Mapping[int, Guarding]) -> None:
        """Guard subscribers from the next message on, all of them or, on an exception, none."""
        guard_all(self.c, guardings)

    def guard_figures(self, number: int) -> GuardFigures:
        """Return the counters of a guard since it was made."""
        return figures_of(self.c, number)

    def border(self, connection: int, border: Border) -> None:
        """Give a link a border, from the next message on."""
        set_border(self.c, connection, border)

    def kept_back(self, connection: int) -> KeptBack:
        """Return what the border of a link has kept back."""
        return kept_back(self.c, connection)

    def durable_of(self, subscriber: int) -> int:
        """Return the number of the durable subscription of a subscriber; 0 if it has none."""
        return int(lib.tm_switch_durable_of(self.c, subscriber))

    def connection_of(self, subscriber: int) -> int | None:
        """Return the connection that serves `subscriber`; None if there is none."""
        found = int(self._stats_of(subscriber).connection)
        return None if found == lib.TM_CONNECTION_NONE else found

    def send(self, connection: int, frames: bytes, urgent: bool = True) -> bool:
        """Queue whole frames, after the queued data or (urgent) at the next frame boundary.

        Return False if the queue is full, or the connection has ended and its event CLOSED follows.
        """
        lane = lib.TM_LANE_URGENT if urgent else lib.TM_LANE_ORDERED
        result = lib.tm_switch_send(self.c, connection, ffi.from_buffer(frames), len(frames), lane)
        if result not in (lib.TM_TOO_MANY, lib.TM_MISUSED):
            check(result)
        return bool(result == lib.TM_OK)

    def end(self, connection: int, now: bool = False) -> None:
        """Stop reading, send the queued frames (unless `now`), then close; an event CLOSED follows."""
        check(lib.tm_switch_close(self.c, connection, now))

    def lose(self, connection: int) -> None:
        """End a connection without a socket whose peer has closed it; an event CLOSED follows."""
        check(lib.tm_switch_lose(self.c, connection))

    def pause(self, connection: int, is_paused: bool) -> None:
        check(lib.tm_switch_pause(self.c, connection, is_paused))

    def forget(self, connection: int, steps: int) -> int:
        """Remove at most `steps` filters of a connection after its event CLOSED; return the number of those left. At 0
        the number of the connection is free."""
        check(lib.tm_switch_forget(self.c, connection, steps, self._number))
        return int(self._number[0])

    def drain(self, is_draining: bool) -> None:
        lib.tm_switch_drain(self.c, is_draining)

    def step(self, step: Step) -> None:
        check(lib.tm_switch_step(self.c, step))

    def step_stored(self, step: Step) -> None:
        """Set the treatment of publishes that are to be confirmed as stored, where it is stricter."""
        check(lib.tm_switch_step_stored(self.c, step))

    def keep_nothing(self, why: NotStoring) -> None:
        """Set the handling of messages that request storage while there is no log, by the reason `why`."""
        check(lib.tm_switch_not_storing(self.c, why))

    def resume(self, budget_us: int) -> tuple[list[SwitchEvent], int]:
        """Process connections that waited, for `budget_us`; return the events and the number of those still waiting."""
        check(lib.tm_switch_resume(self.c, budget_us, self._number, self._events, self._count))
        return self._taken(), int(self._number[0])

    def newest(self, publisher: int) -> int:
        """Return the highest known message counter of `publisher`; 0 if none is known or it is too far ahead."""
        return int(lib.tm_switch_newest(self.c, publisher))

    # --- bytes ---------------------------------------------------------------------------------------------------

    def poll(self, budget_us: int) -> list[SwitchEvent]:
        """Process ready sockets, for `budget_us`; return the events."""
        check(lib.tm_switch_poll(self.c, budget_us, self._events, self._count))
        return self._taken()

    def tick(self) -> list[SwitchEvent]:
        """Do the periodic work and return the events; call it about ten times a second."""
        check(lib.tm_switch_tick(self.c, self._events, self._count))
        return self._taken()

    def feed(self, connection: int, data: bytes | bytearray | memoryview) -> list[SwitchEvent]:
        """Process bytes received on a connection without a socket; return the events."""
        check(lib.tm_switch_feed(self.c, connection, ffi.from_buffer(data), len(data), self._events, self._count))
        return self._taken()

    def output(self, connection: int, bytes_max: int) -> bytes:
        """Remove and return at most `bytes_max` bytes of the output of a connection without a socket; they count as
        sent."""
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
        """Add subscriptions of the frame, at least one, until about `filters` filters or 16 KiB of them are added;
        return the refused ones. Raise Gone if the subscriber has ended."""
        return frame.take(self.c, subscriber, filters)

    def unsubscribe(self, subscriber: int, subscription: int) -> bool:
        """Remove a subscription; return False if `subscriber` does not have it."""
        result = lib.tm_switch_unsubscribe(self.c, subscriber, subscription)
        if result != lib.TM_ABSENT:
            check(result)
        return bool(result == lib.TM_OK)

    def subscribed(self, handle: int) -> Subscribed | None:
        """Return the filter with the lowest handle from `handle` on; None if there is none."""
        found = self._subscribed
        result = lib.tm_switch_subscribed(self.c, handle, found)
        if result == lib.TM_ABSENT:
            return None
        check(result)
        packed = bytes(ffi.buffer(found.filter, found.size))
        served = None if found.connection == lib.TM_CONNECTION_NONE else int(found.connection)
        return Subscribed(
            filter=packed,
            handle=int(found.handle),
            subscriber=int(found.subscriber),
            connection=served,
            subscription=int(found.subscription),
            own_messages=bool(found.own_messages),
            durable=int(found.durable),
            residual=bytes(ffi.buffer(found.program, found.program_size)),
            candidates=int(found.candidates),
            passed=int(found.passed),
            is_folded=bool(found.is_folded),
            dialect=bytes(ffi.buffer(found.dialect, found.dialect_size)).decode() if found.dialect_size else "",
        )

    def folds(self, name: str) -> bool:
        """Return whether a filter of the index has a condition on the folded text of an attribute."""
        encoded = name.encode()
        return bool(lib.tm_switch_folds(self.c, encoded, len(encoded)))

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
        """Return the sums over all connections that serve a client and have not ended."""
        c = ffi.new("tm_connection_stats *")
        lib.tm_switch_clients(self.c, c)
        return ConnectionFigures.read(c)

    def subscriber(self, subscriber: int) -> SubscriberFigures:
        return SubscriberFigures.read(self._stats_of(subscriber))

    def filters_of(self, subscriber: int) -> int:
        """Return the number of filters of a subscriber."""
        return int(self._stats_of(subscriber).filters)

    def _stats_of(self, subscriber: int) -> _Cdata:
        c = ffi.new("tm_subscriber_stats *")
        check(lib.tm_switch_subscriber(self.c, subscriber, c))
        return c

    def know_spaces(self, spaces: SpaceSet) -> None:
        """Validate messages of clients by `spaces`, which replace the previous ones. Raise OutOfMemory, with the
        previous ones still in force."""
        packed = pack_spaces(spaces)
        check(lib.tm_switch_spaces(self.c, ffi.from_buffer(packed), len(packed)))
        self._spaces = tuple(spaces.spaces)

    def spaces(self) -> dict[str, SpaceFigures]:
        """Return the figures of each space in force, by name."""
        row = ffi.new("tm_space_stats *")
        figures = {}
        for number, name in enumerate(self._spaces):
            check(lib.tm_switch_space(self.c, number, row))
            figures[name] = SpaceFigures(int(row.checked), int(row.refused))
        return figures

    def increments(self, first: int, end: int = CONNECTIONS_MAX) -> tuple[list[Increment], int]:
        """Return the increments of the counters of connections `first` to `end` - 1 since the last call, at most
        INCREMENTS of them, and the connection to continue with; `end`, or one past the last, means that all are
        reported."""
        rows, count = ffi.new("tm_increment[]", INCREMENTS), self._count
        self._number[0] = first
        check(lib.tm_switch_increments(self.c, self._number, end, rows, INCREMENTS, count))
        return [Increment.read(rows[index]) for index in range(count[0])], int(self._number[0])

    def unlinked(self) -> dict[int, int]:
        """Return the number of messages by neighbour that found no link, a part in each call, and reset them. An empty
        result means that all are reported."""
        rows, count = ffi.new("tm_unlinked[]", INCREMENTS), self._count
        check(lib.tm_switch_unlinked(self.c, rows, INCREMENTS, count))
        return {int(rows[index].neighbour): int(rows[index].messages) for index in range(count[0])}

    def link_drops(self) -> list[LinkDrops]:
        """Return the messages dropped between routers since the last call."""
        rows = self._link_drops
        count = lib.tm_switch_link_drops(self.c, rows)
        return [LinkDrops(row.neighbour, row.source, row.messages, row.bytes, row.reason) for row in rows[0:count]]

    def clock(self, connection: int) -> ClockOffset | None:
        """Return the clock offset of a neighbour by the best heartbeat since the last call; None if there was none."""
        offset, round_trip = ffi.new("int64_t *"), ffi.new("uint64_t *")
        result = lib.tm_switch_clock(self.c, connection, offset, round_trip)
        if result == lib.TM_ABSENT:
            return None
        check_alive(result)
        return ClockOffset(int(offset[0]), int(round_trip[0]))

    def record(self, records: RecordRing | None) -> None:
        """Record messages in `records` from now on. Close `records` only after the switch is closed or has other
        ones."""
        self._records = records
        check(lib.tm_switch_record(self.c, records.c if records is not None else ffi.NULL))

    def validate(self) -> None:
        """Check every invariant of the structures in C; raise RuntimeError for a violated one."""
        reason = ffi.new("char **")
        if lib.tm_switch_validate(self.c, reason) == lib.TM_MISUSED:
            raise RuntimeError(f"switch: {ffi.string(reason[0]).decode()}")

    def fail_allocation(self, n: int) -> None:
        """Make the n-th allocation from now on fail; 0 turns this off. For tests."""
        lib.tm_switch_fail_allocation(self.c, n)

    def plant(self, bug: Bug, every: int) -> None:
        """Make one delivery in `every` go wrong, with an event PLANTED for each. For tests."""
        check(lib.tm_switch_plant(self.c, bug, every))

    def advance(self, ms: int) -> None:
        """Advance the clock of the switch by `ms`. For tests."""
        lib.tm_switch_advance(self.c, ms)


def _event(c: _Cdata) -> SwitchEvent:
    type_, size = c.type, c.size
    frame = ffi.buffer(c.frame, size)[:] if size else b""
    text = ffi.string(c.text).decode() if type_ == _FAULT else ""
    return SwitchEvent(type_, c.connection, c.kind, c.code, frame, text)
