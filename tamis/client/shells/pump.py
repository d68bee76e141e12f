"""The asyncio shell of the core: sockets, clock, log. It holds no rule of the protocol.

Law: output goes to the transport once per turn of the loop, or at FLUSH_BYTES; while the transport's buffer is full,
the output stays in the core, which then holds messages. Any asyncio loop works; uvloop is faster, but not required.
There is one wire for each line of the core: two while the client moves to another router.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TypeVar, cast

from tamis.client.connection.address import Endpoint
from tamis.client.connection.core import NewOutbox
from tamis.client.connection.line import Line
from tamis.client.connection.settings import Settings
from tamis.client.messages.pending import PREDICATES_A_TURN, PackedPredicate
from tamis.client.messages.waiter import Waiter
from tamis.client.shells.clock import new_core
from tamis.client.shells.dialling import CLOSE_S, DIAL_S, nobody_answered, reason_of, tls_of

Begun = TypeVar("Begun")
_log = logging.getLogger("tamis.client")


class Pump:
    """The runner of one client."""

    def __init__(self, settings: Settings, outbox: NewOutbox | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self._loop.create_future()
        self.core = new_core(settings, self.opened, outbox)
        self.outbox = self.sender = self.core.outbox
        self._settings = settings
        self._patient_until = self._loop.time() + settings.patience_s
        self._wires: list[_Wire] = []
        self.flush_due = False
        self._moving: asyncio.Task[None] | None = None
        self._task = self._loop.create_task(self._run(), name="tamis client")

    # --- requests of the client ----------------------------------------------------------------------------------

    async def until_open(self) -> None:
        """Wait until a router has admitted the client; ConnectFailed or NotAdmitted if none does."""
        await self.opened

    def tell(self, say: Callable[[], object]) -> None:
        """Call `say`, which changes the core, and send its output."""
        say()
        self.written()

    async def ask(
        self,
        begin: Callable[[Waiter], Begun],
        undo: Callable[[Begun], object] | None = None,
        timeout_s: float | None = None,
    ) -> Begun:
        """Call `begin`, which starts a request in the core, and return its result when the request is done. If the
        request fails, takes longer than `timeout_s` (TimeoutError) or is cancelled, call `undo` with that result."""
        if timeout_s is not None:
            async with asyncio.timeout(timeout_s):
                return await self.ask(begin, undo)
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        begun = begin(waiter)
        self.written()
        try:
            await waiter
        except (Exception, asyncio.CancelledError):
            if undo is not None:
                undo(begun)
                self.written()
            raise
        return begun

    async def ask_each(
        self, begins: Iterable[Callable[[Waiter], Begun]], window: int
    ) -> AsyncIterator[Begun | BaseException]:
        """Start each of `begins`, `window` at a time, and yield what `ask` returns or raises for each, in order."""
        rest = iter(begins)
        while at_once := list(islice(rest, window)):
            for result in await asyncio.gather(*map(self.ask, at_once), return_exceptions=True):
                yield result

    async def follow(
        self, begin: Callable[[Waiter, Waiter], Begun], end: Callable[[Begun], object], timeout_s: float
    ) -> Begun:
        """Call `begin`, which starts two requests; wait until both are done, at most `timeout_s`, then call `end`."""
        taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        complete: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        begun = begin(taken, complete)
        self.written()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await asyncio.gather(taken, complete)
        finally:
            end(begun)
        return begun

    async def packed(self, packing: Iterable[PackedPredicate]) -> list[PackedPredicate]:
        """Return all of `packing`; other tasks run in between."""
        packed: list[PackedPredicate] = []
        for predicate in packing:
            packed.append(predicate)
            if len(packed) % PREDICATES_A_TURN == 0:
                await asyncio.sleep(0)
        return packed

    def written(self) -> None:
        """Schedule a flush at the end of this turn, since there may be output."""
        if not self.flush_due:
            self.flush_due = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Hand the output to the transports as long as they accept more; close those that the core no longer needs."""
        self.flush_due = False
        for wire in self._wires:
            wire.flush()
        dial = self.core.take_dial()
        if dial is not None:
            self._moving = self._loop.create_task(self._move(*dial), name="tamis client moves")

    def regulate(self) -> None:
        """Start or stop reading, since an inbox or a waiting call has changed."""
        for wire in self._wires:
            wire.regulate()

    async def stop(self) -> None:
        """Close the connection: send the output within CLOSE_S, then cut."""
        self.core.close()
        self.flush()
        if self._moving is not None:
            self._moving.cancel()
        if not self._wires:
            self._task.cancel()
        try:
            async with asyncio.timeout(CLOSE_S):
                await asyncio.wait([self._task])
        except TimeoutError:
            for wire in self._wires:
                wire.transport.abort()
            await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    # --- the life of connections ---------------------------------------------------------------------------------

    async def _run(self) -> None:
        core = self.core
        try:
            while not core.is_over:
                address, pause_s = core.redial.next()
                await asyncio.sleep(pause_s)
                await self._connection(address)
                await self._others()
                self.take_notices()
                if not self.opened.done() and core.redial.rounds and self._loop.time() >= self._patient_until:
                    core.close(nobody_answered(core))
            await self._others()
        finally:
            core.close()  # also if this task is cancelled or the loop ends, so that no call waits forever
            if self._moving is not None:
                self._moving.cancel()

    async def _connection(self, address: Endpoint) -> None:
        try:
            async with asyncio.timeout(DIAL_S):
                wire = await self._dial(address, self.core.connected)
        except OSError as error:  # TimeoutError and ssl.SSLError are such
            self.core.cut(reason_of(error), self._loop.time())
            return
        await wire.ended

    async def _others(self) -> None:
        """Wait until the connection that the client has moved to has ended, if there is one; when the client is over,
        wait until all have ended."""
        core = self.core
        while left := [wire for wire in self._wires if core.is_over or wire.line is core.line]:
            await left[0].ended

    async def _move(self, address: Endpoint, pause_s: float) -> None:
        """Dial another router, beside the current connection."""
        try:
            await asyncio.sleep(pause_s)
            async with asyncio.timeout(DIAL_S):
                await self._dial(address, partial(self.core.move_connected, address))
        except OSError:
            self.core.move_failed(address)
            self.written()

    async def _dial(self, address: Endpoint, greet: Callable[[float], Line | None]) -> _Wire:
        def wire() -> _Wire:
            return _Wire(self, self._loop, greet)

        if address.path:
            return (await self._loop.create_unix_connection(wire, address.path))[1]
        tls = tls_of(self._settings, address)
        return (await self._loop.create_connection(wire, address.host, address.port, ssl=tls))[1]

    def opened_wire(self, wire: _Wire) -> None:
        self._wires.append(wire)
        self.flush()

    def ended_wire(self, wire: _Wire) -> None:
        self._wires.remove(wire)
        self.flush()

    def take_notices(self) -> None:
        while self.core.notices:
            _log.warning("%s: %s", self._settings.name, self.core.notices.popleft())
        self.core.calls.run()


class _Wire(asyncio.Protocol):
    """The connection of one line; `ended` is settled when the connection has ended."""

    transport: asyncio.Transport
    line: Line

    def __init__(self, pump: Pump, loop: asyncio.AbstractEventLoop, greet: Callable[[float], Line | None]) -> None:
        self.ended: asyncio.Future[None] = loop.create_future()
        self._pump = pump
        self._core = pump.core
        self._loop = loop
        self._greet = greet
        self._has_line = False
        self._may_write = self._is_reading = True
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf

    def flush(self) -> None:
        """Hand the output to the transport as long as it accepts more; close the transport if the core requests it."""
        core, line, transport = self._core, self.line, self.transport
        if transport.is_closing():
            return
        while (self._may_write or line.wants_close) and (output := core.take_output(self._loop.time(), line)):
            transport.write(output)
        if line.wants_close:
            transport.close()
            self._set_timer(self._loop.time() + CLOSE_S, transport.abort)
        else:
            self.regulate()

    def regulate(self) -> None:
        if self.transport.is_closing():
            return
        may_read = self._core.may_read(self._loop.time(), self.line)
        if may_read is not self._is_reading:
            self._is_reading = may_read
            if may_read:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()
        deadline = self._core.deadline_of(self.line)
        if deadline < self._timer_at:
            self._set_timer(deadline, self._on_time)

    def _on_time(self) -> None:
        self._timer_at = math.inf
        self._core.tick(self._loop.time(), self.line)
        self._pump.flush()

    def _set_timer(self, at: float, action: Callable[[], object]) -> None:
        """Set the only timer. Traffic moves the deadline later, which the timer finds when it fires."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, action)

    # --- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        line = self._greet(self._loop.time())
        if line is None:
            self.transport.abort()
            return
        self.line, self._has_line = line, True
        self._pump.opened_wire(self)

    def data_received(self, data: bytes) -> None:
        self._core.receive(data, self._loop.time(), self.line)
        if self._core.has_news:
            self._pump.take_notices()
        self._pump.flush()

    def pause_writing(self) -> None:
        self._may_write = False

    def resume_writing(self) -> None:
        self._may_write = True
        self._pump.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._has_line:
            self._core.cut(reason_of(exc), self._loop.time(), self.line)
            self._pump.ended_wire(self)
        if not self.ended.done():
            self.ended.set_result(None)
