"""Strangers that open connections and never greet, and honest clients beside them: bare sockets, nothing of ours."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import random
import selectors
import socket
import struct
import time
from collections.abc import Iterator

import msgpack

HELLO, WELCOME, AUTH, AUTHENTICATED = 0x10, 0x11, 0x12, 0x13


def addresses(count: int) -> list[str]:
    """One, or many of the whole loopback network."""
    if count == 1:
        return ["127.0.0.2"]
    chance = random.Random(7)
    return [f"127.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(2, 255)}" for _ in range(count)]


@contextlib.contextmanager
def strangers(port: int, count: int, sockets: int = 250) -> Iterator[None]:
    """In a process of their own: so many sockets from `count` addresses, each opened again when it is closed."""
    process = multiprocessing.get_context("spawn").Process(target=_flood, args=(port, addresses(count), sockets))
    process.start()
    try:
        time.sleep(1)
        assert process.is_alive()
        yield
    finally:
        process.terminate()
        process.join()


def _flood(port: int, sources: list[str], sockets: int) -> None:
    selector = selectors.DefaultSelector()
    turn = 0

    def connect() -> None:
        nonlocal turn
        sock = socket.socket()
        sock.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        sock.bind((sources[turn % len(sources)], 0))
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", port))
        selector.register(sock, selectors.EVENT_READ)
        turn += 1

    for _ in range(sockets):
        connect()
    while True:
        for key, _ in selector.select(1):
            with contextlib.suppress(OSError):
                if key.fileobj.recv(4_096):
                    continue
            selector.unregister(key.fileobj)
            key.fileobj.close()
            connect()


def greets(port: int, name: str, token: str, patience_s: float = 3, source: str = "127.0.0.1") -> bool:
    """Is an honest client let in?"""
    where = ("127.0.0.1", port)
    with contextlib.suppress(OSError, EOFError), socket.create_connection(where, patience_s, (source, 0)) as sock:
        sock.settimeout(patience_s)
        _send(sock, HELLO, [1, name, 0, os.urandom(16), 1, 1, [], 1 << 20, 30_000, 0])
        if _receive(sock)[0] == WELCOME:
            _send(sock, AUTH, [1, token.encode()])
            kind, body = _receive(sock)
            return kind == AUTHENTICATED and body[1] == _number(name)
    return False


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def _send(sock: socket.socket, kind: int, body: list[object]) -> None:
    packed = msgpack.packb(body)
    sock.sendall(struct.pack("<IBBBB", 8 + len(packed), kind, 0, 0, 0) + packed)


def _receive(sock: socket.socket) -> tuple[int, list[object]]:
    head = _exactly(sock, 8)
    length, kind = struct.unpack_from("<IB", head)
    return kind, msgpack.unpackb(_exactly(sock, length - 8))


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data
