"""A client on a plain socket.

Law: a call that waits for one kind keeps what else comes, in order. PINGs are answered, CREDIT is counted, and a
message is held back until there is credit for it, as the page asks. Nothing else is hidden.
"""

from __future__ import annotations

import collections
import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from tests.stranger import frames
from tests.stranger.frames import Header, Message, body_of, data_frame, frame, kind_of, message_of
from tests.stranger.predicates import number, packed

PATIENCE_S = 10.0
VERSIONS = (1, 2)
SIGN_OF_LIFE = 0x5160_0F11_FE00_0000
"""The token of PINGs that are sent because nothing else is."""
READ_BYTES = 1 << 18
BATCH_BYTES_MAX = 800_000

Filter = Sequence[Sequence[Any]]
Where = tuple[str, int] | str
"""Host and port, or the path of a Unix socket."""


class Ended(Exception):
    """The router has closed the connection. `error`: the ERROR frame before it, if there was one."""

    def __init__(self, error: list[Any] | None = None) -> None:
        super().__init__(error)
        self.error = error

    @property
    def code(self) -> int | None:
        return self.error[0] if self.error else None


class Refused(Exception):
    """An item of an ACK that was not done."""

    def __init__(self, refusal: Sequence[Any]) -> None:
        super().__init__(refusal)
        self.code: int = refusal[1]
        self.reason: str = refusal[2]
        self.newest: int = refusal[3] if len(refusal) > 3 else 0


class Connection:
    """A socket, and the frames on it."""

    def __init__(self, where: Where, patience_s: float = PATIENCE_S, source: str | None = None) -> None:
        self.patience_s = patience_s
        if isinstance(where, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(patience_s)
            self.socket.connect(where)
        else:
            self.socket = socket.create_connection(where, patience_s, (source, 0) if source else None)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self.error: list[Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    def abort(self) -> None:
        """With a reset, and without waiting."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def send(self, data: bytes) -> None:
        with contextlib.suppress(ConnectionError):  # what the router said before it closed is still to be read
            self.socket.sendall(data)

    def read_frame(self) -> bytes:
        """The next one, whole; Ended when there is none."""
        while len(self._received) < 4 or len(self._received) < self._length():
            try:
                data = self.socket.recv(READ_BYTES)
            except ConnectionError:
                data = b""
            if not data:
                raise Ended(self.error)
            self._received += data
        length = self._length()
        found = bytes(self._received[:length])
        del self._received[:length]
        if kind_of(found) == frames.ERROR:
            self.error = body_of(found)
        return found

    def _length(self) -> int:
        return struct.unpack_from("<I", self._received)[0]


class Stranger(Connection):
    def __init__(
        self,
        host: str,
        port: int,
        name: str,
        token: str | None = None,
        *,
        greet: bool = True,
        role: int = frames.CLIENT,
        versions: tuple[int, int] = VERSIONS,
        hold_ms: int = 30_000,
        frame_bytes_max: int = frames.FRAME_BYTES_MAX,
        patience_s: float = PATIENCE_S,
        source: str | None = None,
    ) -> None:
        """`host` may be `unix:PATH`. `source`: the address to connect from. greet=False: nothing is sent yet."""
        super().__init__(host.removeprefix("unix:") if host.startswith("unix:") else (host, port), patience_s, source)
        self.name, self.number = name, number(name)
        self.counter = time.time_ns()
        self.version = 0
        self.filters_max = 0
        self.newest = 0
        self.frames_allowed = self.bytes_allowed = self.frames_sent = self.bytes_sent = 0
        self.waiting: collections.deque[bytes] = collections.deque()
        self._requests = 0
        self._hold_s = self._alive_until_s = float("inf")
        self._said = (role, versions, hold_ms, frame_bytes_max)
        if greet:
            try:
                self.greet(token)
            except BaseException:
                self.close()
                raise

    # --- the greeting ------------------------------------------------------------------------------------------------

    def hello(self) -> bytes:
        role, versions, hold_ms, frame_bytes_max = self._said
        return frame(frames.HELLO, [role, self.name, 0, os.urandom(16), *versions, [], frame_bytes_max, hold_ms, 0])

    def greet(self, token: str | None = None) -> None:
        self.send(self.hello())
        welcome = self.expect(frames.WELCOME)
        self.version, self._hold_s = welcome[3], welcome[6] / 1_000
        self._alive_until_s = time.monotonic() + self._hold_s / 3
        method = frames.TOKEN if token is not None else frames.NONE
        self.send(frame(frames.AUTH, [method, (token or "").encode()]))
        _, own, self.filters_max, *more = self.expect(frames.AUTHENTICATED)
        assert own == self.number, "the router has another number for this name"
        self.newest = more[0] if more else 0
        self.counter = max(self.counter, self.newest)

    # --- reading -----------------------------------------------------------------------------------------------------

    def next_frame(self) -> bytes:
        """The next one that is not about credit or signs of life."""
        return self.waiting.popleft() if self.waiting else self._fresh()

    def _fresh(self, until_credit: bool = False) -> bytes:
        while True:
            if time.monotonic() > self._alive_until_s:
                self._alive_until_s = time.monotonic() + self._hold_s / 3
                self.send(frame(frames.PING, [SIGN_OF_LIFE]))
            found = self.read_frame()
            if kind_of(found) == frames.CREDIT:
                self.frames_allowed, self.bytes_allowed = body_of(found)[:2]
                if until_credit:
                    return found
            elif kind_of(found) == frames.PING:
                self.send(frame(frames.PONG, body_of(found)[:1]))
            elif kind_of(found) != frames.PONG or body_of(found)[0] != SIGN_OF_LIFE:
                return found

    def expect(self, kind: int) -> Any:
        """The body of the next frame of `kind`; what stands before it is kept. Ended by a fatal ERROR."""
        kept: list[bytes] = []
        end_s = time.monotonic() + self.patience_s
        try:
            while time.monotonic() < end_s:
                found = self.next_frame()
                if kind_of(found) == kind:
                    return message_of(found) if kind in (frames.DELIVER, frames.PUBLISH) else body_of(found)
                if kind_of(found) == frames.ERROR and body_of(found)[3]:
                    raise Ended(body_of(found))
                kept.append(found)
            raise TimeoutError
        finally:
            self.waiting.extendleft(reversed(kept))

    def message(self) -> Message:
        """The next delivery."""
        delivered: Message = self.expect(frames.DELIVER)
        return delivered

    def messages_until(self, name: str) -> Iterator[Message]:
        """Deliveries before the one that has the attribute `name`, which is dropped."""
        while name not in (found := self.message()).attributes:
            yield found

    def is_silent(self, seconds: float) -> bool:
        """True where no frame but signs of life and credit comes for so long."""
        if self.waiting:
            return False
        self.socket.settimeout(seconds)
        try:
            self.waiting.append(self._fresh())
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(self.patience_s)
        return False

    def until_ended(self) -> Ended:
        """How the connection ends: what comes before is dropped. TimeoutError where it goes on."""
        end_s = time.monotonic() + self.patience_s
        try:
            while time.monotonic() < end_s:
                self.read_frame()
        except Ended as ended:
            return ended
        raise TimeoutError

    # --- subscribing -------------------------------------------------------------------------------------------------

    def subscribe(
        self, subscriptions: Mapping[int, Iterable[Filter]], *, own: bool = False, wait: int = frames.HOME
    ) -> dict[int, int]:
        """Refusals, as id -> code. As many frames as it takes, each answered before the next."""
        refused: dict[int, int] = {}
        batch: list[tuple[int, list[bytes]]] = []
        size = 0
        for id_, filters in subscriptions.items():
            data = [packed(filter_) for filter_ in filters]
            length = sum(map(len, data)) + 16
            if batch and (size + length > BATCH_BYTES_MAX or len(batch) == 10_000):
                refused |= self._subscribe(batch, own, wait)
                batch, size = [], 0
            batch.append((id_, data))
            size += length
        return refused | self._subscribe(batch, own, wait)

    def _subscribe(self, batch: list[tuple[int, list[bytes]]], own: bool, wait: int) -> dict[int, int]:
        request = self.request()
        self.send(frame(frames.SUBSCRIBE, [request, batch, own, wait, False]))
        return self.answered(1, request, [id_ for id_, _ in batch])

    def unsubscribe(self, *ids: int) -> dict[int, int]:
        request = self.request()
        self.send(frame(frames.UNSUBSCRIBE, [request, list(ids)]))
        return self.answered(2, request, ids)

    def request(self) -> int:
        self._requests += 1
        return self._requests

    def answered(self, of: int, request: int, items: Iterable[int]) -> dict[int, int]:
        """Every item is in one of the ACKs, once: done, or refused with a code."""
        left, refused = set(items), {}
        while left:
            got_of, got_request, ranges, *more = self.expect(frames.ACK)
            assert (got_of, got_request) == (of, request), (got_of, got_request)
            for first, last in ranges:
                for item in range(first, last + 1):
                    left.remove(item)
            for refusal in more[0] if more else ():
                left.remove(refusal[0])
                refused[refusal[0]] = refusal[1]
        return refused

    # --- publishing --------------------------------------------------------------------------------------------------

    def publish(
        self,
        attributes: Mapping[str, Any] | bytes,
        payload: bytes = b"",
        *,
        counter: int | None = None,
        flags: int = 0,
        extensions: Iterable[bytes] = (),
        kind: int = frames.PUBLISH,
    ) -> int:
        """Its counter."""
        if counter is None:
            self.counter += 1
            counter = self.counter
        header = Header(origin=self.number, counter=counter, published_ns=time.time_ns())
        self.send_data(data_frame(header, attributes, payload, extensions, kind, flags))
        return counter

    def send_data(self, data: bytes) -> None:
        """When there is credit for it."""
        self.wait_for_credit(len(data))
        self.frames_sent += 1
        self.bytes_sent += len(data)
        self.send(data)

    def confirmed(self, attributes: Mapping[str, Any], payload: bytes = b"", *, counter: int | None = None) -> int:
        """Its counter, once the router has taken it; Refused if it does not."""
        number_ = self.publish(attributes, payload, counter=counter, flags=frames.CONFIRM)
        self.confirmation(number_)
        return number_

    def confirmation(self, counter: int) -> None:
        """Of this message; what is said of others is passed over. Refused if it was not taken."""
        while True:
            of, _, ranges, *more = self.expect(frames.ACK)
            assert of == 3, of
            for refusal in more[0] if more else ():
                if refusal[0] == counter:
                    raise Refused(refusal)
            if any(first <= counter <= last for first, last in ranges):
                return

    def wait_for_credit(self, length: int) -> None:
        while self.frames_sent + 1 > self.frames_allowed or self.bytes_sent + length > self.bytes_allowed:
            found = self._fresh(until_credit=True)
            if kind_of(found) == frames.ERROR and body_of(found)[3]:
                raise Ended(body_of(found))
            if kind_of(found) != frames.CREDIT:
                self.waiting.append(found)
