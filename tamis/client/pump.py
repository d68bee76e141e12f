"""The asyncio shell of the core: sockets, clock, log. It holds no rule of the protocol.

Law: output goes to the transport once a turn of the loop, or at FLUSH_BYTES; while the transport has enough, the output
stays in the core, which then holds messages back. This works on any asyncio loop; uvloop is quick, and not required.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from typing import cast

from tamis.client.address import Endpoint
from tamis.client.clock import new_core
from tamis.client.dialling import CLOSE_S, DIAL_S, nobody_answered, reason_of, tls_of
from tamis.client.settings import Settings

_log = logging.getLogger("tamis.client")


class Pump:
    """Run one client."""

    def __init__(self, settings: Settings) -> None:
        self._loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = self._loop.create_future()
        self.core = new_core(settings, self.opened)
        self._settings = settings
        self._patient_until = self._loop.time() + settings.patience_s
        self._transport: asyncio.Transport | None = None
        self._may_write = False
        self._is_reading = True
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf
        self.flush_due = False
        self._task = self._loop.create_task(self._run(), name="tamis client")

    # --- what the client asks for --------------------------------------------------------------------------------

    def written(self) -> None:
        """Have the output sent at the end of this turn, as there may be some."""
        if not self.flush_due:
            self.flush_due = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Hand the output over, as long as the transport takes more; close the transport if the core says so."""
        self.flush_due = False
        core, transport = self.core, self._transport
        if transport is None or transport.is_closing():
            return
        while (self._may_write or core.wants_close) and (output := core.take_output(self._loop.time())):
            transport.write(output)
        if core.wants_close:
            transport.close()
            self._set_timer(self._loop.time() + CLOSE_S, transport.abort)
        else:
            self.regulate()

    def regulate(self) -> None:
        """Begin or stop reading, as an inbox or a waiting call has changed."""
        if self._transport is None or self._transport.is_closing():
            return
        may_read = self.core.may_read(self._loop.time())
        if may_read is not self._is_reading:
            self._is_reading = may_read
            if may_read:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()
        if self.core.deadline < self._timer_at:
            self._set_timer(self.core.deadline, self._on_time)

    async def stop(self, grace_s: float) -> None:
        """Close the connection: within `grace_s` what is written is sent, then it is cut."""
        self.core.close()
        self.flush()
        if self._transport is None:
            self._task.cancel()
        try:
            async with asyncio.timeout(grace_s):
                await asyncio.wait([self._task])
        except TimeoutError:
            if self._transport is not None:
                self._transport.abort()
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
                self._take_notices()
                if not self.opened.done() and core.redial.rounds and self._loop.time() >= self._patient_until:
                    core.close(nobody_answered(core))
        finally:
            core.close()  # also if this task is cancelled, or the loop ends: no call waits for ever

    async def _connection(self, address: Endpoint) -> None:
        try:
            async with asyncio.timeout(DIAL_S):
                wire = await self._dial(address)
        except OSError as error:  # TimeoutError and ssl.SSLError are such
            self.core.cut(reason_of(error), self._loop.time())
            return
        await wire.ended

    async def _dial(self, address: Endpoint) -> _Callbacks:
        def wire() -> _Callbacks:
            return _Callbacks(self, self._loop.create_future())

        if address.path:
            return (await self._loop.create_unix_connection(wire, address.path))[1]
        tls = tls_of(self._settings, address)
        return (await self._loop.create_connection(wire, address.host, address.port, ssl=tls))[1]

    def _connected(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._may_write = self._is_reading = True
        self.core.connected(self._loop.time())
        self._timer_at = math.inf
        self.flush()

    def _received(self, data: bytes) -> None:
        self.core.receive(data, self._loop.time())
        if self.core.has_news:
            self._take_notices()
        self.flush()

    def _writable(self, may_write: bool) -> None:
        self._may_write = may_write
        if may_write:
            self.flush()

    def _lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self.core.cut(reason_of(error), self._loop.time())

    def _on_time(self) -> None:
        self._timer_at = math.inf
        self.core.tick(self._loop.time())
        self.flush()

    def _set_timer(self, at: float, action: Callable[[], object]) -> None:
        """Set the one timer there is. Traffic moves the deadline later, which is seen when the timer goes off."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, action)

    def _take_notices(self) -> None:
        while self.core.notices:
            _log.warning("%s: %s", self._settings.name, self.core.notices.popleft())
        self.core.calls.run()


class _Callbacks(asyncio.Protocol):
    """The callbacks of one connection; `ended` is settled when it is over."""

    def __init__(self, pump: Pump, ended: asyncio.Future[None]) -> None:
        self._pump = pump
        self.ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pump._connected(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._pump._received(data)

    def pause_writing(self) -> None:
        self._pump._writable(False)

    def resume_writing(self) -> None:
        self._pump._writable(True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pump._lost(exc)
        if not self.ended.done():
            self.ended.set_result(None)
