"""The kinds of frames: byte 4 of every frame.

Law: a number keeps its meaning forever. Data frames are those below 0x10: fixed header, then bytes that a router passes
on unread. All others are a prefix and one msgpack array. A kind that a receiver does not know is skipped if its top bit
is set, or if it is one of SKIPPED; otherwise it ends the connection. Reserved numbers are in `register.py`.
"""

from __future__ import annotations

import enum
from typing import Final

SKIPPABLE: Final = 0x80
"""The bit of a kind number by which a receiver may skip a frame of an unknown kind."""

SKIPPED: Final = frozenset({0x2B, 0x2C})
"""Reserved kinds that a receiver may skip although that bit is not set: version 3 knows their numbers."""

DATA_KINDS_END: Final = 0x10
"""Every kind below it is a data frame, which one comparison detects."""


class FrameKind(enum.IntEnum):
    PUBLISH = 0x01
    DELIVER = 0x02
    DRY_RUN = 0x03
    DIRECTED = 0x04

    HELLO = 0x10
    WELCOME = 0x11
    AUTH = 0x12
    AUTHENTICATED = 0x13
    ERROR = 0x14
    PING = 0x15
    PONG = 0x16
    DRAIN = 0x17
    REMOTE_HELLO = 0x18

    SUBSCRIBE = 0x20
    UNSUBSCRIBE = 0x21
    ACK = 0x22
    CREDIT = 0x23
    LOST = 0x24
    CREATE_DURABLE = 0x25
    CONSUME = 0x26
    CANCEL_CONSUME = 0x27
    REMOVE_DURABLE = 0x28
    REPLAY = 0x29
    REPLAY_END = 0x2A
    LIST_DURABLES = 0x2D
    DURABLES_LISTED = 0x2E
    GET = 0x2F

    TRACE_RECORD = 0x30
    DRY_RUN_REPORT = 0x31

    LSA = 0x40
    RA = 0x41
    SR = 0x42
    UR = 0x43
    HELD = 0x44

    CUSTODY_ACK = 0x50
    CUSTODY_ASK = 0x51
    GAP = 0x52

    EPOCH_REFUSED = 0x80
    GO_AWAY = 0x81

    DURABLES = 0x90
    DURABLES_HELD = 0x91
    REMOTE = 0x92
    FINISHED = 0x93

    EA = 0xC5
    EH = 0xC6
    ER = 0xC7
    SPACE = 0xC9

    @property
    def is_data(self) -> bool:
        return self < DATA_KINDS_END


KINDS: Final = frozenset(int(kind) for kind in FrameKind)


def is_skippable(kind: int) -> bool:
    """Return whether a receiver that does not know `kind` may skip it."""
    return bool(kind & SKIPPABLE) or kind in SKIPPED
