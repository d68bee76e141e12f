"""A message that a keep has handed out: a message, its place in the log, and what the keep says of it.

Law: what a DELIVER of a keep says is read once, when it arrives; how often it was given out is never guessed.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, cast

from tamis.client.message import Message
from tamis.protocol.errors import FrameError
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.extensions import DeliveryCount, ExtensionType
from tamis.protocol.wire.header import HEADER_BYTES, LENGTHS_OFFSET

_AREA: Final = struct.Struct("<IIIQIIB")
"""SATISFIED of one id, LOG_POSITION and DELIVERIES, each behind its type and length read as one number."""
_SATISFIED: Final = ExtensionType.SATISFIED | 4 << 16
_POSITION: Final = ExtensionType.LOG_POSITION | 8 << 16
_DELIVERIES: Final = ExtensionType.DELIVERIES | 5 << 16
_EXTENSIONS: Final = struct.Struct("<H")


class KeptHead(NamedTuple):
    """What a DELIVER of a keep says: for which attachment or replay, and what of the message."""

    id: int
    position: int
    deliveries: int
    replayed: bool
    maybe_duplicate: bool
    dead_letter: bool


def kept_head(frame: bytes) -> KeptHead:
    """Return what the extensions of a DELIVER of a keep say; FrameError if one of them is not there."""
    if _EXTENSIONS.unpack_from(frame, LENGTHS_OFFSET)[0] == _AREA.size:
        first, id_, second, position, third, times, bits = _AREA.unpack_from(frame, HEADER_BYTES)
        if first == _SATISFIED and second == _POSITION and third == _DELIVERIES and bits <= 7:
            return KeptHead(id_, position, times, bool(bits & 1), bool(bits & 2), bool(bits & 4))
    extensions = DeliverView(frame).extensions
    count = cast("DeliveryCount | None", extensions.get(ExtensionType.DELIVERIES))
    position = cast("int | None", extensions.get(ExtensionType.LOG_POSITION))
    ids = cast("tuple[int, ...]", extensions.get(ExtensionType.SATISFIED, ()))
    if count is None or position is None or not ids:
        raise FrameError(
            ErrorCode.BAD_EXTENSION, "a DELIVER of a keep has SATISFIED, LOG_POSITION and DELIVERIES, not all are there"
        )
    return KeptHead(ids[0], position, *count)


class Handed(Message):
    """A message of a keep, without the verbs that say what became of it: those are the shell's."""

    __slots__ = {  # noqa: RUF023 - with what `help` says of each
        "position": "Its place in the log of the keep: `attach(after=position)` goes on behind it.",
        "deliveries": "How often the keep has given it out, this time included; 0 of one that is replayed.",
        "replayed": "Whether it is history: it was not given out, and is not to be acknowledged.",
        "maybe_duplicate": "Whether it may have been delivered before without being counted.",
        "dead_letter": "Whether it came from another keep, where it was rejected or tried too often.",
    }

    position: int
    deliveries: int
    replayed: bool
    maybe_duplicate: bool
    dead_letter: bool

    def __init__(self, frame: bytes, head: KeptHead) -> None:
        super().__init__(frame, (head.id,))
        _, self.position, self.deliveries, self.replayed, self.maybe_duplicate, self.dead_letter = head
