"""Frames as bytes, by the page's sections Frames, Data frames, Extensions and Kinds.

Law: nothing is checked on the way out, so that what is wrong can be sent as easily as what is right.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgpack

PUBLISH, DELIVER, DRY_RUN, DIRECTED = 0x01, 0x02, 0x03, 0x04
HELLO, WELCOME, AUTH, AUTHENTICATED, ERROR, PING, PONG, DRAIN = range(0x10, 0x18)
SUBSCRIBE, UNSUBSCRIBE, ACK, CREDIT, LOST = range(0x20, 0x25)
CREATE_DURABLE, CONSUME, CANCEL_CONSUME, REMOVE_DURABLE, REPLAY, REPLAY_END = range(0x25, 0x2B)
LIST_DURABLES, DURABLES_LISTED, GET = range(0x2D, 0x30)
TRACE_RECORD, DRY_RUN_REPORT = 0x30, 0x31
LSA, RA, SR, UR, HELD = range(0x40, 0x45)
CUSTODY_ACK, CUSTODY_ASK, GAP = 0x50, 0x51, 0x52
EPOCH_REFUSED = 0x80
EA, EH, ER = 0xC5, 0xC6, 0xC7
SPACE = 0xC9
DURABLES, DURABLES_HELD, REMOTE, FINISHED = 0x90, 0x91, 0x92, 0x93

CLIENT, ROUTER = 1, 2
NONE, TOKEN, SECRET = 0, 1, 2
HOME, NETWORK = 0, 1
DELIVERED = 4  # what an ACK is of
CONFIRM, RETRY, DURABLE, OWN, TRACED = 0x01, 0x02, 0x04, 0x08, 0x10
REUSE_KEYS, TRACE, EXPIRY, GROUP, SATISFIED, LOG_POSITION = range(1, 7)
CUSTODY = 8
ROUTE = 0x8007
EXISTS, EQ, IN, BETWEEN, GT, GE, LT, LE, NE, PREFIX, SUFFIX, CONTAINS = range(12)
NEGATED = 128

HEADER_BYTES = 64
FRAME_BYTES_MAX = 1 << 20


def frame(kind: int, body: object) -> bytes:
    """A frame of one msgpack value."""
    return raw_frame(kind, msgpack.packb(body))


def raw_frame(kind: int, content: bytes, flags: int = 0, hops: int = 0, reserved: int = 0) -> bytes:
    return struct.pack("<IBBBB", 8 + len(content), kind, flags, hops, reserved) + content


def extension(type_: int, content: bytes) -> bytes:
    return struct.pack("<HH", type_, len(content)) + content


def packed_steps(numbers: Iterable[int]) -> bytes:
    """Rising numbers as a GAP has them: the first, then the steps, in groups of seven bits, low ones first."""
    found, before = bytearray(), 0
    for n in numbers:
        step, before = n - before, n
        while step > 0x7F:
            found.append(step & 0x7F | 0x80)
            step >>= 7
        found.append(step)
    return bytes(found)


@dataclass(frozen=True, slots=True)
class Header:
    """The fixed part of a data frame, behind its prefix."""

    source: int = 0
    epoch: int = 0
    entry: int = 0
    origin: int = 0
    counter: int = 0
    published_ns: int = 0


def data_frame(
    header: Header,
    attributes: Mapping[str, Any] | bytes,
    payload: bytes = b"",
    extensions: Iterable[bytes] = (),
    kind: int = PUBLISH,
    flags: int = 0,
    hops: int = 0,
) -> bytes:
    """`attributes` packed, or as bytes that are sent as they are."""
    packed = attributes if isinstance(attributes, bytes) else msgpack.packb(dict(attributes))
    area = b"".join(extensions)
    numbers = struct.pack(
        "<QQQQQQ", header.source, header.epoch, header.entry, header.origin, header.counter, header.published_ns
    )
    sizes = struct.pack("<HHI", len(area), 0, len(packed))
    return raw_frame(kind, numbers + sizes + area + packed + payload, flags, hops)


@dataclass(frozen=True, slots=True)
class Message:
    """A data frame as it was read."""

    header: Header
    flags: int
    hops: int
    attributes: dict[str, Any]
    payload: bytes
    extensions: dict[int, bytes]

    @property
    def satisfied(self) -> list[int]:
        area = self.extensions.get(SATISFIED, b"")
        return list(struct.unpack(f"<{len(area) // 4}I", area))


def kind_of(data: bytes) -> int:
    return data[4]


def body_of(data: bytes) -> Any:
    return msgpack.unpackb(data[8:])


def message_of(data: bytes) -> Message:
    header = Header(*struct.unpack_from("<QQQQQQ", data, 8))
    area, _, packed = struct.unpack_from("<HHI", data, 56)
    extensions, at = {}, HEADER_BYTES
    while at < HEADER_BYTES + area:
        type_, size = struct.unpack_from("<HH", data, at)
        extensions[type_] = data[at + 4 : at + 4 + size]
        at += 4 + size
    attributes = msgpack.unpackb(data[at : at + packed], strict_map_key=False)
    return Message(header, data[5], data[6], attributes, data[at + packed :], extensions)
