"""A client of a live router that is a blocking socket, and the CPU that a router's process has taken: measurements use
both, because their own end must cost little and hold nobody up.

Law: a client does what the wire asks of it (greeting, PONG) and nothing else; it has no queue and no thread.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tamis.protocol.wire.client_bodies import Ack, Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import Body, decode, encode
from tamis.protocol.wire.reader import FrameReader
from tamis.protocol.wire.session_bodies import Auth, Authenticated, AuthMethod, Hello, Ping, Pong, Role
from tamis.testing import RouterProcess

PATIENCE_S: Final = 300
HOLD_MS: Final = 3_600_000
"""A connection may be silent so long: nobody answers pings while messages are counted."""
FRAME_BYTES: Final = 900_000
FRAME_ITEMS: Final = 10_000


class Client:
    """A blocking connection to a router."""

    def __init__(self, router: RouterProcess, name: str, patience_s: float = PATIENCE_S) -> None:
        """`patience_s` is how long the router may take for each answer; TimeoutError after that."""
        self.patience_s = patience_s
        self.socket = socket.create_connection(("127.0.0.1", router.port), timeout=patience_s)
        self.name, self.counter = name, time.time_ns()
        self._reader = FrameReader()
        self._frames: Iterator[bytes] = iter(())
        try:
            self._greet()
        except BaseException:
            self.socket.close()
            raise

    def _greet(self) -> None:
        hello = Hello(Role.CLIENT, self.name, 0, os.urandom(16), 1, 2, (), 1 << 20, HOLD_MS, 0)
        self.socket.sendall(encode(hello))
        self._next()
        self.socket.sendall(encode(Auth(AuthMethod.NONE, b"")))
        self._reader.authenticated()
        while not isinstance(self._next(), Authenticated):
            pass

    def subscribe(self, frames: Iterable[bytes]) -> None:
        """Send SUBSCRIBE frames one by one; return when the last is acknowledged."""
        for frame in frames:
            self.socket.sendall(frame)
            while not isinstance(self._next(), Ack):
                pass

    def is_told(self, within_s: float) -> bool:
        """Return whether a message comes within so many seconds."""
        self.socket.settimeout(within_s)
        try:
            while not isinstance(self._next(), DataFrame):
                pass
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(self.patience_s)
        return True

    def close(self) -> None:
        self.socket.close()

    def _next(self) -> Body | DataFrame:
        while True:
            for frame in self._frames:
                body = decode(frame)
                if not isinstance(body, Ping):
                    return body
                self.socket.sendall(encode(Pong(body.token)))
            data = self.socket.recv(1 << 20)
            if not data:
                raise EOFError("the router has closed the connection")
            self._reader.feed(data)
            self._frames = iter(list(self._reader))


def subscribe_frames(filters: Iterable[tuple[int, bytes]]) -> list[bytes]:
    """Return SUBSCRIBE frames for subscriptions of one packed filter each, given as (number, packed filter)."""
    frames: list[bytes] = []
    batch: list[SubscriptionItem] = []
    size = 0
    for number, packed in filters:
        if batch and (size + len(packed) > FRAME_BYTES or len(batch) == FRAME_ITEMS):
            frames.append(encode(Subscribe(len(frames), tuple(batch), False, Reach.HOME, False)))
            batch, size = [], 0
        batch.append(SubscriptionItem(number, (packed,)))
        size += len(packed) + 12
    frames.append(encode(Subscribe(len(frames), tuple(batch), False, Reach.HOME, False)))
    return frames


def cpu_s(router: RouterProcess) -> float:
    """Return the seconds of CPU that a router's process has taken since it began."""
    fields = Path(f"/proc/{router.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
