"""The blocking shell of the core: a thread for each client, one socket at a time. It holds no rule of the protocol.

Law: the core is touched under `lock` only, which no thread holds while it waits. The thread is needed since signs
of life are due and messages arrive while the application computes; it sleeps in select(), and a byte in `_bell`
wakes it.
"""

from __future__ import annotations

import logging
import select
import socket
import ssl
import threading
import time
from concurrent.futures import Future

from tamis.client.address import Endpoint
from tamis.client.clock import new_core
from tamis.client.dialling import CLOSE_S, DIAL_S, READ_BYTES, nobody_answered, reason_of, tls_of
from tamis.client.settings import Settings
from tamis.protocol.errors import Refused

_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_log = logging.getLogger("tamis.client")


class BlockingPump:
    def __init__(self, settings: Settings) -> None:
        self.lock = threading.Lock()
        self.opened: Future[None] = Future()
        self.core = new_core(settings, self.opened)
        self._settings = settings
        self._patient_until = time.monotonic() + settings.patience_s
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._is_awake = True
        self._thread = threading.Thread(target=self._run, name=f"tamis {settings.name}", daemon=True)
        self._thread.start()

    def written(self) -> None:
        """Wake the thread, as there may be output, or room to read. Call this with the lock held."""
        if not self._is_awake:
            self._is_awake = True
            self._ringer.send(b"\0")

    def wait(self, waiter: Future[None], timeout_s: float | None = None) -> None:
        """Wait until `waiter` is settled; TimeoutError after `timeout_s`. Call this without the lock."""
        if threading.current_thread() is self._thread and not waiter.done():
            raise Refused("a callback runs in the thread that moves the bytes, and may not wait: see `try_publish`")
        waiter.result(timeout_s)

    def stop(self) -> None:
        with self.lock:
            self.core.close()
            self.written()
        self._thread.join()

    # --- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self.core.is_over:
                address, pause_s = self.core.redial.next()
                self._sleep(pause_s)
                reason = "" if self.core.is_over else self._connection(address)
                with self.lock:
                    self.core.cut(reason, time.monotonic())
                    self._give_up_in_time()
                self._take_notices()
        finally:
            with self.lock:
                self.core.close()
                self._is_awake = True  # the bell is not rung any more
            self._bell.close()
            self._ringer.close()

    def _sleep(self, seconds: float) -> None:
        """Sleep for `seconds`, or until the client is closed."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            with self.lock:
                if self.core.is_over:
                    return
                self._is_awake = False
            self._select([], [], left)

    def _connection(self, address: Endpoint) -> str:
        """Dial `address`, and converse until the connection ends; return why it ended."""
        try:
            with self._dial(address) as wire:
                wire.setblocking(False)
                self._converse(wire)
        except OSError as error:  # TimeoutError and ssl.SSLError are such
            return reason_of(error)
        return reason_of(None)

    def _dial(self, address: Endpoint) -> socket.socket:
        if address.path:
            wire = socket.socket(socket.AF_UNIX)
            wire.settimeout(DIAL_S)
            try:
                wire.connect(address.path)
            except OSError:
                wire.close()
                raise
            return wire
        wire = socket.create_connection((address.host, address.port), DIAL_S)
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tls = tls_of(self._settings, address)
        return wire if tls is None else tls.wrap_socket(wire, server_hostname=address.host)

    def _converse(self, wire: socket.socket) -> None:
        """Send and receive until the router, or the core, ends the connection."""
        core = self.core
        with self.lock:
            core.connected(time.monotonic())
        output = memoryview(b"")
        closes_at = 0.0
        while True:
            now = time.monotonic()
            with self.lock:
                core.tick(now)
                output = output or memoryview(core.take_output(now))
                may_read, wants_close, deadline = core.may_read(now), core.wants_close, core.deadline
                self._is_awake = False
            if wants_close:
                closes_at = closes_at or now + CLOSE_S
                deadline = closes_at
                if not output or now >= closes_at:
                    return
            if output:
                output = output[_sent(wire, output) :]
            timeout_s = 0.0 if core.outbox.output and not output else deadline - now
            self._select([wire] if may_read else [], [wire] if output else [], timeout_s)
            if may_read and not wants_close and not self._read(wire):
                return

    def _read(self, wire: socket.socket) -> bool:
        """Receive what is there; False if the router has closed the connection."""
        data = _received(wire)
        if data:
            with self.lock:
                self.core.receive(data, time.monotonic())
            self._take_notices()
        return data != b""

    def _select(self, reads: list[socket.socket], writes: list[socket.socket], timeout_s: float) -> None:
        """Sleep until a socket is ready, the bell rings, or `timeout_s` is over."""
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        for wire in {*reads, *writes}:
            poll.register(wire, (select.POLLIN if wire in reads else 0) | (select.POLLOUT if wire in writes else 0))
        pending = any(getattr(wire, "pending", int)() for wire in reads)  # decrypted already, which poll cannot see
        found = poll.poll(0 if pending else max(0.0, timeout_s * 1000))
        if any(number == self._bell.fileno() for number, _ in found):
            self._bell.recv(READ_BYTES)

    def _give_up_in_time(self) -> None:
        is_late = time.monotonic() >= self._patient_until
        if not self.opened.done() and self.core.redial.rounds and is_late:
            self.core.close(nobody_answered(self.core))

    def _take_notices(self) -> None:
        while self.core.notices:
            _log.warning("%s: %s", self._settings.name, self.core.notices.popleft())
        self.core.calls.run()


def _sent(wire: socket.socket, output: memoryview) -> int:
    try:
        return wire.send(output)
    except _NOT_NOW:
        return 0


def _received(wire: socket.socket) -> bytes | None:
    """Return what has come: None if nothing is there, b"" at the end."""
    try:
        return wire.recv(READ_BYTES)
    except _NOT_NOW:
        return None
