"""Remote sessions: the frames between a client and the home of a durable subscription at another router.

Law: a remote session is two streams of frames. RemotePiece has a part of one, and how far the sender has taken the
other. It may be skipped by a router that does not know it. The first frame of a session is RemoteHello.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from tamis.protocol.limits import REMOTE_PIECE_BYTES_MAX, REMOTE_ROLES_MAX
from tamis.protocol.wire.durable_bodies import NameOrNone
from tamis.protocol.wire.schema import U8, U32, U64, Between, Binary, Name, PositiveU64

FROM_FAR: Final = 1
ENDS: Final = 2
IS_LOST: Final = 4
"""Bits of `marks`."""


@dataclass(frozen=True, slots=True)
class RemotePiece:
    """REMOTE: bytes `at` and following of what `sender` says in a session. Of the other direction it has `taken` that
    number of bytes, and takes `room` more. `marks`: FROM_FAR, the sender is the home; ENDS, the session ends, and
    IS_LOST, its client has gone without a word."""

    hops: U8
    receiver: U64
    sender: U64
    session: PositiveU64
    at: U64
    taken: U64
    room: U32
    marks: U32
    piece: Annotated[bytes, Binary(0, REMOTE_PIECE_BYTES_MAX)]


@dataclass(frozen=True, slots=True)
class RemoteHello:
    """REMOTE_HELLO: the client of a remote session, by its full name; `principal` is the owner of what it makes. With
    rules of access at its router, `has_roles`, and `roles` are its class there."""

    router: Name
    name: Name
    principal: NameOrNone
    version: U8
    frame_bytes_max: U32
    has_roles: bool
    roles: Annotated[tuple[Name, ...], Between(0, REMOTE_ROLES_MAX)]
