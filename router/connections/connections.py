"""The switch and the peers of its connections: dispatches each event of the switch to the peer of its connection.

Law: an event concerns one connection, and an exception in its handler ends that connection only. Events are handled in
order, for EVENTS_BUDGET_S a turn; while some are left no socket is read, so that a flood of requests waits in the
sockets of its senders. The number of a connection is in use from its opening until all of its filters are removed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar

from tamis.configs.sections.strategy import StrategySettings
from tamis.configs.settings import RouterSettings
from tamis.native.results import Gone
from tamis.native.switch import Switch
from tamis.native.switch_values import EventType, SwitchEvent
from tamis.native.table import Table
from tamis.native.traces import Trace
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.session_bodies import Drain
from tamis.router.connections.admissions import Admissions
from tamis.router.connections.limits import ConnectionLimits, places_of
from tamis.router.connections.peer import Peer
from tamis.router.connections.wider_network import ChainWork, NoNetwork, RemoteWork, WiderNetwork
from tamis.router.connections.work import SlicedWork, Task
from tamis.router.daemon import fault_injection
from tamis.router.daemon.events import Alarmed, ConnectionEnded, EventBus, InterfaceCounted
from tamis.router.daemon.health import Health
from tamis.router.daemon.logs import fields
from tamis.router.daemon.settings import keep_unmatched_of, new_table, switch_options
from tamis.router.daemon.spaces_in_force import SpacesInForce
from tamis.router.daemon.stored_spaces import StoredSpaces

POLL_BUDGET_US: Final = 4_000
EVENTS_BUDGET_S: Final = 0.005
ENDS_PER_SLICE: Final = 200
TICK_S: Final = 0.1
STEPS_PER_SLICE: Final = 500

_log = logging.getLogger(__name__)
End = TypeVar("End", bound=Peer)


class Connections:
    """The connections of one router. `settings` may be replaced at any time."""

    def __init__(
        self,
        settings: RouterSettings,
        epoch: int,
        loop: asyncio.AbstractEventLoop,
        places: ConnectionLimits | None = None,
    ) -> None:
        """`places`: the limits that the system allows; None for those of the settings."""
        self.settings, self.epoch = settings, epoch
        self.places = places or places_of(settings)
        self.admissions = Admissions(time.monotonic)
        self.table = new_table(settings)
        self.tables = [self.table]
        self.switch = Switch(self.table, switch_options(settings, epoch, self.places.connections))
        keep_unmatched_of(self.switch, settings)
        self._ends: dict[int, Peer] = {}
        self.network: WiderNetwork = NoNetwork()
        self.health = Health(tell=lambda text: self.events.tell(Alarmed, text))
        self.events = EventBus(self.health.caught)
        self.work = SlicedWork(loop.call_soon, self.health.caught)
        self.is_leaving = False
        """Whether the router stops and admits no more clients."""
        self.is_draining = False
        self.loop = loop
        self.spaces = SpacesInForce(self.switch, settings.spaces, StoredSpaces(settings.data), self.health, self.later)
        self.on_committed: Callable[[int, bool], None] | None = None
        """Called with the last record number on disk and whether the log has failed."""
        self.chains: ChainWork | None = None
        """The chains of messages between this router and the homes of durable subscriptions."""
        self.remotes: RemoteWork | None = None
        """Remote sessions; None where there are no links."""
        self.durable_name: Callable[[int], str | None] = lambda _number: None
        """Returns the name of a durable subscription by its number; None if it has ended."""
        self._events: deque[SwitchEvent] = deque()
        self._until_caught_up: list[Callable[[], None]] = []
        self._is_settling = False
        self._polling_soon: asyncio.Handle | None = None
        self._ticking: asyncio.TimerHandle | None = None
        self._reading_on: asyncio.TimerHandle | None = None
        self._ticked: asyncio.Future[None] = loop.create_future()

    def start(self) -> None:
        self.loop.add_reader(self.switch.descriptor, self._poll)
        self._ticking = self.loop.call_later(TICK_S, self._tick)

    def close(self) -> None:
        """Cut every connection, and free the switch and its tables."""
        if self._ticking is not None:
            self.loop.remove_reader(self.switch.descriptor)
            self._ticking.cancel()
        if self._polling_soon is not None:
            self._polling_soon.cancel()
        if self._reading_on is not None:
            self._reading_on.cancel()
        self.work.stop()
        self.spaces.keep()
        self._events.clear()
        self.switch.close()
        for end in self._ends.values():
            end.dropped()
        for table in self.tables:
            table.close()

    def later(self, delay_s: float, what: Callable[[], None]) -> asyncio.TimerHandle:
        return self.loop.call_later(delay_s, what)

    def join(
        self,
        network: WiderNetwork,
        tables: tuple[Table, Table],
        sources_max: int,
        forwarding: str,
        strategy: StrategySettings,
    ) -> None:
        """Connect the switch to a network of routers. `tables`: filters of the other routers, and filters of worker
        groups there; these connections own both from here on. `forwarding`: the name of the forwarding policy.
        `strategy` has the most routers that a message lists, and the most keys that a copy carries, if the policy does
        so."""
        self.network = network
        table, shared = tables
        self.switch.join(table, sources_max, forwarding)
        self.switch.list_routers(strategy.destinations_max)
        self.switch.limit_keys(strategy.keys_max)
        self.switch.share(shared)
        self.tables += tables

    # --- connections -----------------------------------------------------------------------------------------------

    def connect(self, descriptor: int, peer: str, make: Callable[[int], End]) -> End | None:
        """Open a connection over the socket `descriptor`, which the switch owns from here on, or fed by the caller
        (-1). `make`: makes the peer from the connection's number. Return None if the switch is full."""
        connection = self.switch.open(descriptor)
        if connection is None:
            _log.debug("the switch has no room for another connection", extra=fields(peer=peer))
            return None
        end = make(connection)
        end.descriptor = descriptor
        self._ends[connection] = end
        return end

    def behind(self, connection: int) -> tuple[str, bool]:
        """Return the name of the peer of a connection, "" if there is none, and whether it is a neighbour."""
        end = self._ends.get(connection)
        return (end.name, end.IS_LINK) if end is not None else ("", False)

    def _tell_end(self, end: Peer) -> None:
        if self.events.is_heard(InterfaceCounted):
            for gained in self.switch.increments(end.connection, end.connection + 1)[0]:
                self.events.tell(InterfaceCounted, gained, end.name, end.IS_LINK)
        self.events.tell(ConnectionEnded, end.name, end.connection)

    def _closed(self, end: Peer, code: int) -> None:
        end.ended()
        self._tell_end(end)
        del self._ends[end.connection]
        if end.on_output is not None:
            end.on_output()
        _log.debug("connection closed", extra=fields(name=end.name, peer=end.peer, errno=code))
        if self.switch.forget(end.connection, STEPS_PER_SLICE):
            self.work.add(self._forget(end))
        else:
            end.forgotten()

    def _forget(self, end: Peer) -> Task:
        while self.switch.forget(end.connection, STEPS_PER_SLICE):
            yield
        end.forgotten()
        self.settle()

    def settle(self) -> None:
        """Start the work, in slices, that removed filters leave in the tables."""
        if not self._is_settling:
            self._is_settling = True
            self.work.add(self._settle())

    def _settle(self) -> Task:
        try:
            for table in self.tables:
                while table.settle(STEPS_PER_SLICE):
                    yield
        finally:
            self._is_settling = False

    # --- events ----------------------------------------------------------------------------------------------------

    def feed(self, connection: int, data: bytes | bytearray | memoryview) -> None:
        """Process bytes received on a connection without a socket."""
        self._take(self.switch.feed(connection, data))

    @property
    def is_behind(self) -> bool:
        """Whether events were read from the switch and are not handled yet."""
        return bool(self._events)

    def when_caught_up(self, callback: Callable[[], None]) -> bool:
        """Return whether events wait to be handled; if they do, call `callback` once they are handled."""
        if self._events:
            self._until_caught_up.append(callback)
        return bool(self._events)

    def poll_soon(self) -> None:
        """Poll the switch at the next turn of the loop, so that the places of ended connections are freed."""
        if self._polling_soon is None:
            self._polling_soon = self.loop.call_soon(self._poll)

    def come_again(self, end: Peer, kind: FrameKind, frame: bytes) -> None:
        """Dispatch a delayed frame to `end`, after the waiting events."""
        self._take([SwitchEvent(EventType.FRAME, end.connection, kind, 0, frame, "")])

    def _poll(self) -> None:
        self._polling_soon = None
        if not self._events:
            self._take(self.switch.poll(POLL_BUDGET_US))
        self._take_answers()

    def _take_answers(self) -> None:
        """Let the chains take what the log has answered, and read on when that is due."""
        if self.chains is not None:
            self._of_chains(partial(self._read_on, self.chains))

    def _read_on(self, chains: ChainWork) -> None:
        delay_s = chains.answered()
        if delay_s and (self._reading_on is None or self._reading_on.when() < self.loop.time()):
            self._reading_on = self.later(delay_s, self._take_answers)

    def _tick(self) -> None:
        self._ticking = self.loop.call_later(TICK_S, self._tick)
        self._take(self.switch.tick())
        self.network.tick()
        if self.chains is not None:
            self._of_chains(self.chains.tick)
        self._ticked.set_result(None)
        self._ticked = self.loop.create_future()

    async def next_tick(self) -> None:
        await asyncio.shield(self._ticked)

    def _take(self, events: list[SwitchEvent]) -> None:
        is_behind = bool(self._events)
        self._events.extend(events)
        if not is_behind:
            self._handle_some()

    def _handle_some(self) -> None:
        end_s = time.monotonic() + EVENTS_BUDGET_S
        while self._events:
            self._handle_safely(self._events[0])
            self._events.popleft()
            if self._events and time.monotonic() > end_s:
                self.loop.call_soon(self._handle_some)
                return
        waiting, self._until_caught_up = self._until_caught_up, []
        for callback in waiting:
            callback()

    def _handle_safely(self, event: SwitchEvent) -> None:
        if event.type == EventType.COMMITTED:
            self._committed(event)
            return
        if event.type == EventType.CHAINS:
            if self.chains is not None:
                self._of_chains(partial(self.chains.reported, event.frame))
            return
        if EventType.REMOTE_BEGINS <= event.type <= EventType.REMOTE_ENDED:
            self._of_remotes(event)
            return
        end = self._ends.get(event.connection)
        if end is None:
            return
        try:
            self._handle(end, event)
        except FrameError as error:
            end.fail(error, event.kind)
        except Gone:
            pass  # its CLOSED event follows
        except Exception:  # a bug: log it and end the connection
            self.health.caught("failed to handle an event", name=end.name, event=event.type)
            end.vanish()

    def _committed(self, event: SwitchEvent) -> None:
        if self.on_committed is not None:
            try:
                self.on_committed(int.from_bytes(event.frame, "little"), bool(event.code))
            except Exception:  # a bug: log it; waiting requests get no answer
                self.health.caught("failed to handle a commit of the log")

    def _of_remotes(self, event: SwitchEvent) -> None:
        try:
            if self.remotes is not None:
                self.remotes.happened(event)
        except Exception:  # a bug: log it; the session falls silent, and ends
            self.health.caught("failed to serve a remote session")

    def _of_chains(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # a bug: log it; what was not done is done at a later tick, or sent again
            self.health.caught("failed to move chains of messages")

    def _handle(self, end: Peer, event: SwitchEvent) -> None:
        if event.type == EventType.FRAME:
            end.receive(FrameKind(event.kind), event.frame)
        elif event.type == EventType.FAULT:
            raise FrameError(event.code, event.text)
        elif event.type == EventType.CLOSED:
            self._closed(end, event.code)
        elif event.type == EventType.TRACED:
            end.traced(Trace.read(event.frame))
        elif event.type == EventType.UNROUTED:
            end.unrouted(event.frame)
        elif event.type == EventType.PLANTED:
            fault_injection.tell(event)
        else:
            end.event(event.type)

    def resume(self) -> None:
        """Process the publishes of connections that waited for the log: they are now accepted or refused."""
        self.work.add(self._resume())

    def _resume(self) -> Task:
        left = 1
        while left:
            events, left = self.switch.resume(POLL_BUDGET_US)
            self._take(events)
            yield

    # --- the end ---------------------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Send DRAIN to every peer; new messages and subscriptions are refused from here on."""
        self.is_leaving = self.is_draining = True
        self.switch.drain(True)
        self.resume()
        frame = encode(Drain(self.settings.limits.drain_ms, "the router is stopping"))
        self.each(self._ends, lambda end: end.send(FrameKind.DRAIN, frame) if end.is_open else None)

    def dismiss(self) -> None:
        """End every connection; queued frames are still sent."""
        self.each(self._ends, Peer.leave)

    def each(self, ends: Mapping[int, End], do: Callable[[End], None]) -> None:
        """Call `do` with each of `ends` that exists when the work begins, in slices."""
        self.work.add(_to_each(ends, do))

    @property
    def is_empty(self) -> bool:
        """Whether no peer is connected."""
        return not self._ends

    @property
    def is_flushed(self) -> bool:
        """Whether no work waits, and no bytes are queued for clients."""
        is_idle = self.work.is_idle and not self._events
        return is_idle and self.switch.figures().queued_bytes <= self.network.queued_bytes


def _to_each(ends: Mapping[int, End], do: Callable[[End], None]) -> Task:
    for number, end in enumerate(list(ends.values()), 1):
        do(end)
        if number % ENDS_PER_SLICE == 0:
            yield
