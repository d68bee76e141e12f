"""A switch in this process, without a router around it: its connections, its subscriptions, and who is at their other
ends.

Law: every run is bounded in messages and ends by itself; what is started here has ended when its block is left.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tamis.native import Admission, SlowPolicy, SubscribeFrame, Switch
from tamis.protocol.language import parse
from tamis.protocol.values import Value
from tamis.protocol.wire.client_bodies import Reach, Subscribe, SubscriptionItem
from tamis.protocol.wire.data_frames import encode_publish
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.header import ID_OFFSET
from tamis.protocol.wire.packed_filters import encode_filter

PUBLISHER, SUBSCRIBER = 77, 78
BLOCK_MESSAGES: Final = 400
ATTRIBUTES: Final[dict[str, Value]] = {
    "symbol": "S7",
    "side": "buy",
    "price": 1000,
    "venue": "X",
    "qty": 100,
    "lot": 3,
    "flag": True,
    "trader": "bob",
    "region": "eu",
    "urgent": False,
}
WANTED: Final = 'symbol = "S7" and side = "buy" and price < 2000000'
POLL_BUDGET_US: Final = 4_000
_FILTERS_MAX: Final = 1 << 24
_ITEMS: Final = 1_000
"""Of one SUBSCRIBE frame."""
_COUNTER: Final = struct.Struct("<Q")


def packed(predicate: str) -> bytes:
    """Return the first filter of a predicate, packed."""
    return encode_filter(parse(predicate).filters[0])


def admit(switch: Switch, number: int, descriptor: int = -1, *, is_link: bool = False, takes_sets: bool = False) -> int:
    """Open a connection and admit its other end, with credit for all that it may publish."""
    connection = switch.open(descriptor)
    if connection is None:
        raise RuntimeError("no room for a connection")
    credit = (0, 0) if is_link else (1 << 50, 1 << 31)
    limits = (1 << 28, *credit, 1 << 20, 0 if is_link else _FILTERS_MAX)
    policy = SlowPolicy.DROP_NEWEST
    switch.admit(
        connection,
        Admission(
            number,
            *limits,
            0,
            0,
            0,
            policy,
            is_link,
            takes_route=takes_sets,
            takes_set=takes_sets,
            takes_keys=takes_sets,
        ),
    )
    return connection


def subscribe(switch: Switch, connection: int, filters: Sequence[bytes]) -> None:
    """Subscribe a client to packed filters, each by itself."""
    subscribe_items(switch, connection, [SubscriptionItem(number, (each,)) for number, each in enumerate(filters)])


def subscribe_items(switch: Switch, connection: int, wanted: Sequence[SubscriptionItem]) -> None:
    for start in range(0, len(wanted), _ITEMS):
        frame = SubscribeFrame(encode(Subscribe(1, tuple(wanted[start : start + _ITEMS]), False, Reach.HOME, False)))
        while frame.left:
            if switch.subscribe(switch.subscriber_of(connection), frame, _FILTERS_MAX):
                raise RuntimeError("a subscription was refused")


# --- processes at the other ends -------------------------------------------------------------------------------------


def publish(sock: socket.socket, messages: int) -> None:
    frame = encode_publish(PUBLISHER, 1, 0, ATTRIBUTES, b"xxxx")
    block, counter = bytearray(frame * BLOCK_MESSAGES), 0
    for _ in range(messages // BLOCK_MESSAGES):
        for at in range(ID_OFFSET + 8, len(block), len(frame)):
            counter += 1
            _COUNTER.pack_into(block, at, counter)
        sock.sendall(block)
    sock.shutdown(socket.SHUT_WR)
    consume(sock, messages)  # a socket closed with unread bytes takes those it sent along


def consume(sock: socket.socket, _messages: int) -> None:
    while sock.recv(1 << 18):
        pass


@contextmanager
def process(work: Callable[[socket.socket, int], None], family: str, messages: int) -> Iterator[socket.socket]:
    """Our end of a connection whose other end `work` has, in a process of its own."""
    ours, theirs = connected(family)
    child = os.fork()
    if child == 0:
        ours.close()
        work(theirs, messages)
        os._exit(0)
    theirs.close()
    ours.setblocking(False)
    try:
        yield ours
    finally:
        ours.close()
        os.waitpid(child, 0)


def connected(family: str) -> tuple[socket.socket, socket.socket]:
    if family == "unix":
        return socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server:
        theirs = socket.create_connection(server.getsockname())
        ours, _ = server.accept()
    for sock in (ours, theirs):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs
