"""The blocking shell of the core: a thread for each client, one socket for each line. It holds no rule of the protocol.

Law: the core is used only under `lock`, which no thread holds while it waits. The thread is needed because liveness is
due and messages arrive while the application computes; it sleeps in poll(), and a byte in `_bell` wakes it. While the
client moves, a thread of its own dials the second connection, and ends then.
"""

from __future__ import annotations

import contextlib
import logging
import select
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import TypeVar

from tamis.client.connection.address import Endpoint
from tamis.client.connection.line import Line
from tamis.client.connection.settings import Settings
from tamis.client.messages.pending import PackedPredicate
from tamis.client.messages.waiter import Waiter
from tamis.client.receipt import Receipt
from tamis.client.shells.clock import new_core
from tamis.client.shells.dialling import CLOSE_S, DIAL_S, READ_BYTES, nobody_answered, reason_of, tls_of
from tamis.protocol.errors import Refused
from tamis.protocol.values import Value

Begun = TypeVar("Begun")
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
_log = logging.getLogger("tamis.client")


class _Wire:
    """The socket of one line."""

    def __init__(self, sock: socket.socket, line: Line) -> None:
        self.sock, self.line = sock, line
        self.output = memoryview(b"")
        self.may_read = True
        self.closes_at = 0.0
        self.is_over = False
        self.reason = reason_of(None)

    def ends(self, error: OSError | None) -> None:
        self.is_over, self.reason = True, reason_of(error)


class BlockingPump:
    def __init__(self, settings: Settings) -> None:
        self.lock = threading.Lock()
        self.opened: Future[None] = Future()
        self.core = new_core(settings, self.opened)
        self.outbox, self.sender = self.core.outbox, self
        self._settings = settings
        self._patient_until = time.monotonic() + settings.patience_s
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._is_awake = True
        self._dialled: list[tuple[Endpoint, socket.socket]] = []
        self._thread = threading.Thread(target=self._run, name=f"tamis {settings.name}", daemon=True)
        self._thread.start()

    # --- requests of the client, without the lock -----------------------------------------------------------------

    def until_open(self) -> None:
        """Wait until a router has admitted the client; ConnectFailed or NotAdmitted if none does."""
        self.opened.result()

    def try_publish(self, attributes: Mapping[str, Value], payload: bytes, time_ns: int) -> Receipt | None:
        """Publish as `Outbox.try_publish` does, which is the `sender` of the asyncio pump."""
        with self.lock:
            id_ = self.outbox.try_publish(attributes, payload, time_ns)
            if id_ is not None:
                self.written()
            return id_

    def tell(self, say: Callable[[], object]) -> None:
        """Call `say`, which changes the core, and send its output."""
        with self.lock:
            say()
            self.written()

    def ask(
        self,
        begin: Callable[[Waiter], Begun],
        undo: Callable[[Begun], object] | None = None,
        timeout_s: float | None = None,
    ) -> Begun:
        """Call `begin`, which starts a request in the core, and return its result when the request is done. If the
        request fails, takes longer than `timeout_s` (TimeoutError) or is interrupted, call `undo` with that result."""
        waiter: Future[None] = Future()
        with self.lock:
            begun = begin(waiter)
            self.written()
        return self._answered(begun, waiter, undo, timeout_s)

    def ask_each(self, begins: Iterable[Callable[[Waiter], Begun]], window: int) -> Iterator[Begun | BaseException]:
        """Start each of `begins`, `window` at a time, and yield what `ask` returns or raises for each, in order."""
        open_: deque[tuple[Begun, Future[None]]] = deque()
        for begin in begins:
            waiter: Future[None] = Future()
            with self.lock:
                open_.append((begin(waiter), waiter))
                self.written()
            if len(open_) == window:
                yield self._result(*open_.popleft())
        while open_:
            yield self._result(*open_.popleft())

    def follow(
        self, begin: Callable[[Waiter, Waiter], Begun], end: Callable[[Begun], object], timeout_s: float
    ) -> Begun:
        """Call `begin`, which starts two requests; wait until both are done, at most `timeout_s`, then call `end`."""
        deadline = time.monotonic() + timeout_s
        taken: Future[None] = Future()
        complete: Future[None] = Future()
        with self.lock:
            begun = begin(taken, complete)
            self.written()
        try:
            with contextlib.suppress(TimeoutError):
                for waiter in (taken, complete):
                    self.wait(waiter, max(0.0, deadline - time.monotonic()))
        finally:
            with self.lock:
                taken.cancel()  # a held message is not sent
                end(begun)
        return begun

    def packed(self, packing: Iterable[PackedPredicate]) -> list[PackedPredicate]:
        """Return all of `packing`, without the lock: the client keeps running."""
        return list(packing)

    def regulate(self) -> None:
        """Resume reading, since an inbox has room. Call this with the lock held."""
        self.written()

    def _answered(
        self,
        begun: Begun,
        waiter: Future[None],
        undo: Callable[[Begun], object] | None = None,
        timeout_s: float | None = None,
    ) -> Begun:
        try:
            self.wait(waiter, timeout_s)
        except BaseException:
            with self.lock:
                waiter.cancel()  # a held message is not sent
                if undo is not None:
                    undo(begun)
                    self.written()
            raise
        return begun

    def _result(self, begun: Begun, waiter: Future[None]) -> Begun | BaseException:
        try:
            return self._answered(begun, waiter)
        except Exception as error:
            return error

    # --- the lock, and waiting -----------------------------------------------------------------------------------

    def written(self) -> None:
        """Wake the thread, since there may be output, or room to read. Call this with the lock held."""
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
                if not self.core.is_over:
                    self._connection(address)
                else:
                    with self.lock:
                        self.core.cut("", time.monotonic())
                with self.lock:
                    self._give_up_in_time()
                self._take_notices()
        finally:
            with self.lock:
                self.core.close()
                self._is_awake = True  # keep `written` from ringing the closed bell
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
            self._select([], left)

    def _connection(self, address: Endpoint) -> None:
        """Dial `address`, and run the connections until none is left."""
        try:
            sock = self._dial(address)
        except OSError as error:  # TimeoutError and ssl.SSLError are such
            with self.lock:
                self.core.cut(reason_of(error), time.monotonic())
            return
        with self.lock:
            wires = [_Wire(sock, self.core.connected(time.monotonic()))]
        self._converse(wires)

    def _dial(self, address: Endpoint) -> socket.socket:
        if address.path:
            wire = socket.socket(socket.AF_UNIX)
            wire.settimeout(DIAL_S)
            try:
                wire.connect(address.path)
            except OSError:
                wire.close()
                raise
        else:
            wire = socket.create_connection((address.host, address.port), DIAL_S)
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            tls = tls_of(self._settings, address)
            if tls is not None:
                wire = tls.wrap_socket(wire, server_hostname=address.host)
        wire.setblocking(False)
        return wire

    def _converse(self, wires: list[_Wire]) -> None:
        """Send and receive until the routers, or the core, have ended all of these connections."""
        try:
            while wires:
                self._dial_beside()
                self._take_dialled(wires)
                deadline = min(self._write(wire) for wire in wires)
                self._select(wires, deadline - time.monotonic())
                for wire in wires:
                    self._read(wire)
                for wire in [wire for wire in wires if wire.is_over]:
                    wires.remove(wire)
                    self._end(wire)
        finally:
            for wire in wires:
                wire.sock.close()

    def _write(self, wire: _Wire) -> float:
        """Send what the socket accepts; return when to call this again."""
        core, now = self.core, time.monotonic()
        with self.lock:
            core.tick(now, wire.line)
            wire.output = wire.output or memoryview(core.take_output(now, wire.line))
            wire.may_read, wants_close = core.may_read(now, wire.line), wire.line.wants_close
            deadline = core.deadline_of(wire.line)
            self._is_awake = False
        if wants_close:
            wire.closes_at = wire.closes_at or now + CLOSE_S
            wire.may_read = False
            deadline = wire.closes_at
            wire.is_over = not wire.output or now >= wire.closes_at
        try:
            if wire.output:
                wire.output = wire.output[_sent(wire.sock, wire.output) :]
        except OSError as error:
            wire.ends(error)
        has_more = wire.is_over or (wire.line.outbox is not None and core.outbox.output and not wire.output)
        return now if has_more else deadline

    def _read(self, wire: _Wire) -> None:
        if not wire.may_read or wire.is_over:
            return
        try:
            data = _received(wire.sock)
        except OSError as error:
            wire.ends(error)
            return
        if data == b"":
            wire.ends(None)
        elif data:
            with self.lock:
                self.core.receive(data, time.monotonic(), wire.line)
            self._take_notices()

    def _end(self, wire: _Wire) -> None:
        wire.sock.close()
        with self.lock:
            self.core.cut(wire.reason, time.monotonic(), wire.line)
        self._take_notices()

    def _select(self, wires: Sequence[_Wire], timeout_s: float) -> None:
        """Sleep until a socket is ready, the bell rings, or `timeout_s` is over."""
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        for wire in wires:
            wanted = (select.POLLIN if wire.may_read else 0) | (select.POLLOUT if wire.output else 0)
            if wanted and not wire.is_over:
                poll.register(wire.sock, wanted)
        # poll does not see data that TLS has already decrypted.
        pending = any(wire.may_read and getattr(wire.sock, "pending", int)() for wire in wires)
        found = poll.poll(0 if pending else max(0.0, timeout_s * 1000))
        if any(number == self._bell.fileno() for number, _ in found):
            self._bell.recv(READ_BYTES)

    # --- a second connection, while the client moves -----------------------------------------------------------------

    def _dial_beside(self) -> None:
        """Dial another router in a thread of its own, if the core requests it; the current connection continues."""
        with self.lock:
            dial = self.core.take_dial()
        if dial is not None:
            threading.Thread(target=self._dial_later, args=dial, name="tamis client moves", daemon=True).start()

    def _dial_later(self, address: Endpoint, pause_s: float) -> None:
        time.sleep(pause_s)
        sock = None
        with contextlib.suppress(OSError):
            sock = self._dial(address)
        with self.lock:
            if self.core.is_over:
                if sock is not None:
                    sock.close()
                return
            if sock is None:
                self.core.move_failed(address)
            else:
                self._dialled.append((address, sock))
            self.written()

    def _take_dialled(self, wires: list[_Wire]) -> None:
        with self.lock:
            while self._dialled:
                address, sock = self._dialled.pop()
                line = self.core.move_connected(address, time.monotonic())
                if line is None:
                    sock.close()
                else:
                    wires.append(_Wire(sock, line))

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
    """Return the received bytes; None if there are none now, b"" at the end of the connection."""
    try:
        return wire.recv(READ_BYTES)
    except _NOT_NOW:
        return None
