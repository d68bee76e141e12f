"""A number that is promised to a later part is handled as one that nobody knows."""

from __future__ import annotations

import pytest

from tamis.protocol.messages import Message, MessageId
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.data_frames import DataFrame
from tamis.protocol.wire.frames import encode
from tamis.protocol.wire.kinds import FrameKind
from tamis.protocol.wire.register import CAPABILITIES, EXTENSIONS, KINDS
from tamis.protocol.wire.session_bodies import Error

MUST_UNDERSTAND = 0x8000
UNKNOWN = 0x7ABC


@pytest.mark.parametrize("row", KINDS.reserved, ids=lambda row: row.name)
async def test_a_frame_of_a_reserved_kind_is_skipped(inside, row):
    alice = await inside().client("alice")
    await alice.subscribe(1, "x = 1", own=True)
    await alice.send_bytes(b"\x0a\0\0\0" + bytes([row.number]) + b"\0\0\0\x91\x01")
    await alice.publish({"x": 1})
    assert await alice.delivered() == {"x": 1}


@pytest.mark.parametrize("row", EXTENSIONS.reserved, ids=lambda row: row.name)
async def test_a_reserved_extension_is_carried_along_or_refused(inside, row):
    alice = await inside().client("alice")
    await alice.subscribe(1, "exists x", own=True)
    message = Message({"x": 1}, b"", MessageId(alice.number, 1))
    frame = encode(DataFrame(FrameKind.PUBLISH, message, extensions={UNKNOWN: b"ab"}))
    assert frame.count(UNKNOWN.to_bytes(2, "little")) == 1
    await alice.send_bytes(frame.replace(UNKNOWN.to_bytes(2, "little"), row.number.to_bytes(2, "little")))
    if row.number & MUST_UNDERSTAND:
        error = await alice.next(Error)
        assert (error.code, error.fatal) == (ErrorCode.UNKNOWN_EXTENSION, False)
    else:
        got = await alice.next(DataFrame)
        assert got.extensions[row.number] == b"ab"


async def test_a_router_ignores_a_capability_that_it_does_not_know(inside):
    assert "tomorrow" not in {row.word for row in CAPABILITIES}
    alice = await inside().client("alice", capabilities=("tomorrow",))
    await alice.subscribe(1, "x = 1", own=True)
    await alice.publish({"x": 1})
    assert await alice.delivered() == {"x": 1}
