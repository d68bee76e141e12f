"""Strangers that open connections and never greet, honest clients beside them, and crowds of such: bare sockets."""

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
def strangers(port: int, count: int, sockets: int = 250, says: bytes = b"") -> Iterator[None]:
    """In a process of their own: so many sockets from `count` addresses, each opened again when it is closed. Each
    `says` that when it is connected, and nothing any more."""
    process = multiprocessing.get_context("spawn").Process(target=_flood, args=(port, addresses(count), sockets, says))
    process.start()
    try:
        time.sleep(1)
        assert process.is_alive()
        yield
    finally:
        process.terminate()
        process.join()


def hello(name: str) -> bytes:
    return _packed(HELLO, [1, name, 0, os.urandom(16), 1, 1, [], 1 << 20, 30_000, 0])


def _flood(port: int, sources: list[str], sockets: int, says: bytes) -> None:
    selector = selectors.DefaultSelector()
    turn = 0

    def connect() -> None:
        nonlocal turn
        sock = socket.socket()
        sock.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        sock.bind((sources[turn % len(sources)], 0))
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", port))
        selector.register(sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if says else 0))
        turn += 1

    for _ in range(sockets):
        connect()
    while True:
        for key, ready in selector.select(1):
            with contextlib.suppress(OSError):
                if ready & selectors.EVENT_WRITE:
                    key.fileobj.send(says)
                    selector.modify(key.fileobj, selectors.EVENT_READ)
                    continue
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
        sock.sendall(hello(name))
        if _receive(sock)[0] == WELCOME:
            sock.sendall(_packed(AUTH, [1, token.encode()]))
            kind, body = _receive(sock)
            return kind == AUTHENTICATED and body[1] == _number(name)
    return False


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def crowd(port: int, count: int, token: str, slow_s: float = 0, patience_s: float = 30) -> tuple[int, float]:
    """Clients of one process that connect at the same time: how many are let in, and after how many seconds the last.
    Each takes `slow_s` for each step; a step that takes longer is made up for by the next ones."""
    selector, began_s, let_in, last_s = selectors.DefaultSelector(), time.monotonic(), 0, 0.0
    for number in range(count):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", port))
        selector.register(sock, selectors.EVENT_WRITE, number)
    socks, left = [key.fileobj for key in selector.get_map().values()], count
    while left and time.monotonic() < began_s + patience_s:
        turn_s = time.monotonic()
        for step, (key, ready) in enumerate(selector.select(1), 1):
            time.sleep(max(0.0, turn_s + step * slow_s - time.monotonic()))
            sock = key.fileobj
            try:
                if ready & selectors.EVENT_WRITE:
                    sock.send(hello(f"crowd-{key.data}"))
                    selector.modify(sock, selectors.EVENT_READ)
                    continue
                kind, _ = _receive(sock)
                if kind == WELCOME:
                    sock.send(_packed(AUTH, [1, token.encode()]))
                    continue
                let_in, last_s = let_in + (kind == AUTHENTICATED), time.monotonic() - began_s
            except (OSError, EOFError):
                pass
            selector.unregister(sock)
            left -= 1
    for sock in socks:
        sock.close()
    return let_in, last_s


def _packed(kind: int, body: list[object]) -> bytes:
    packed = msgpack.packb(body)
    return struct.pack("<IBBBB", 8 + len(packed), kind, 0, 0, 0) + packed


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
