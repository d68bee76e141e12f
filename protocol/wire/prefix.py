"""The 8 bytes before everything: length, kind, flags, hop limit, reserved.

     0        4      5       6           7
    | length | kind | flags | hop limit | 0 |        little-endian; the length is that of the whole frame

Law: the prefix can be checked without the rest of the frame. Flags and hop limit belong to data frames, 0 in all
others.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.kinds import KINDS, FrameKind, is_skippable

PREFIX_BYTES: Final = 8
_PREFIX: Final = struct.Struct("<IBBBB")


class Prefix(NamedTuple):
    length: int
    kind: int
    flags: int
    hop_limit: int
    reserved: int


def pack_prefix(kind: FrameKind, length: int) -> bytes:
    """Return the prefix of a frame that is not a data frame."""
    return _PREFIX.pack(length, kind, 0, 0, 0)


def read_prefix(frame: bytes) -> Prefix:
    """Return the prefix of a whole frame, checked against the frame's real length."""
    if len(frame) < PREFIX_BYTES:
        raise FrameError(ErrorCode.TOO_SHORT, f"a frame has at least {PREFIX_BYTES} bytes, this one {len(frame)}")
    prefix = Prefix._make(_PREFIX.unpack_from(frame))
    if prefix.length != len(frame):
        raise FrameError(ErrorCode.MALFORMED, f"the prefix states {prefix.length} bytes, the frame has {len(frame)}")
    if prefix.reserved:
        raise FrameError(ErrorCode.RESERVED, f"byte 7 is reserved and 0, not {prefix.reserved}")
    return prefix


def check_kind(kind: int) -> None:
    """Refuse a kind that is neither known nor skippable."""
    if kind not in KINDS and not is_skippable(kind):
        raise FrameError(ErrorCode.UNKNOWN_KIND, f"no frame kind 0x{kind:02x}")
