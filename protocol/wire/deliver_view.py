"""A data frame whose parts are decoded when they are read, for the DELIVER frames of a client.

Law: making a DeliverView checks the header, and that every part lies inside the frame; each read of `extensions` or
`attributes` checks and decodes them: a view stores nothing but the frame, which it borrows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple, cast

from tamis.protocol.errors import FrameError
from tamis.protocol.limits import EXTENSION_BYTES_MAX
from tamis.protocol.messages import MessageId
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import decode_attributes
from tamis.protocol.wire.codes import ErrorCode
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType, decode_extensions
from tamis.protocol.wire.header import (
    FLAGS_OFFSET,
    HEADER_BYTES,
    HOP_LIMIT_OFFSET,
    ID_OFFSET,
    KIND_OFFSET,
    LENGTHS_OFFSET,
    TIME_OFFSET,
    TRACED,
    TRANSIT_OFFSET,
    Transit,
    check_header,
    check_trace,
)
from tamis.protocol.wire.kinds import FrameKind

_LEAD: Final = struct.Struct("<IBBxB24xQQ8xII")
"""The fields that the check of the header uses. The lengths of extensions and the reserved bytes behind it are read as
one number, which is the length if these bytes are 0."""
_TRANSIT: Final = struct.Struct("<QQQ")
_ID: Final = struct.Struct("<QQ")
_TIME: Final = struct.Struct("<Q")
_LENGTHS: Final = struct.Struct("<H2xI")
_ONE_SATISFIED: Final = struct.Struct("<II")
_ONE_SATISFIED_LEAD: Final = ExtensionType.SATISFIED | 4 << 16  # type and length, read as one number
_STORED: Final = struct.Struct("<IIIQIIB")
"""SATISFIED of one id, LOG_POSITION and DELIVERIES, each behind its type and length read as one number: the extensions
that a router writes for a durable message."""
STORED_BITS_OFFSET: Final = HEADER_BYTES + _STORED.size - 1
"""The offset of the bits of DELIVERIES in a frame that `stored_area` accepts."""
REPLAYED_BIT: Final = 1
DEAD_LETTER_BIT: Final = 4
_STORED_LEADS: Final = (_ONE_SATISFIED_LEAD, ExtensionType.LOG_POSITION | 8 << 16, ExtensionType.DELIVERIES | 5 << 16)
_DATA_KINDS: Final = frozenset(int(kind) for kind in FrameKind if kind.is_data)
_DELIVER: Final = int(FrameKind.DELIVER)


class StoredArea(NamedTuple):
    """The extensions of a durable DELIVER: the consumer, the position, and DELIVERIES."""

    id: int
    position: int
    deliveries: int
    replayed: bool
    maybe_duplicate: bool
    dead_letter: bool


def stored_area(frame: bytes | memoryview) -> StoredArea | None:
    """Return the extensions of a durable DELIVER, if they are all of its extensions and in the order that routers
    write; None if the frame needs the full decoder. The frame must have a complete header."""
    if len(frame) < HEADER_BYTES + _STORED.size or _LENGTHS.unpack_from(frame, LENGTHS_OFFSET)[0] != _STORED.size:
        return None
    first, id_, second, position, third, times, bits = _STORED.unpack_from(frame, HEADER_BYTES)
    if (first, second, third) != _STORED_LEADS or bits > 7 or (bits & 1) != (times == 0):
        return None
    return StoredArea(id_, position, times, bool(bits & 1), bool(bits & 2), bool(bits & 4))


class MessageView:
    """The parts of a checked frame that the receiver of a message reads."""

    __slots__ = ("_frame",)

    _frame: bytes | memoryview

    @property
    def id(self) -> MessageId:
        """The publisher's number and its counter, as its `publish` has returned them. All attempts to publish a message
        have one id."""
        return MessageId._make(_ID.unpack_from(self._frame, ID_OFFSET))

    @property
    def publish_time_ns(self) -> int:
        """When the message was published, by its publisher's clock, in Unix nanoseconds; 0 if it is unknown."""
        time_ns: int = _TIME.unpack_from(self._frame, TIME_OFFSET)[0]
        return time_ns

    @property
    def attributes(self) -> Mapping[str, Value]:
        """All attributes; FrameError if the bytes are not valid attributes."""
        attributes_at, payload_at = self._edges()
        return decode_attributes(self._frame[attributes_at:payload_at])

    @property
    def payload(self) -> bytes:
        """The payload, which no router reads."""
        _, payload_at = self._edges()
        return bytes(self._frame[payload_at:])

    def _edges(self) -> tuple[int, int]:
        """Return the offsets at which the attributes and the payload begin."""
        extensions, attributes = _LENGTHS.unpack_from(self._frame, LENGTHS_OFFSET)
        return HEADER_BYTES + extensions, HEADER_BYTES + extensions + attributes


class DeliverView(MessageView):
    """A view of one whole data frame, given as bytes or as a memoryview that outlives the view."""

    __slots__ = ()

    def __init__(self, frame: bytes | memoryview) -> None:
        size = len(frame)
        if size < HEADER_BYTES:
            raise FrameError(ErrorCode.TOO_SHORT, f"a data frame has at least {HEADER_BYTES} bytes, not {size}")
        length, kind, flags, zero, origin, counter, extensions, attributes = _LEAD.unpack_from(frame)
        self._frame = frame
        payload_at = HEADER_BYTES + extensions + attributes
        if length != size or payload_at > size or extensions > EXTENSION_BYTES_MAX or zero or kind not in _DATA_KINDS:
            raise _lead_error(extensions, zero)
        if flags or not origin or not counter:
            check_header(kind, flags, origin, counter)

    @property
    def flags(self) -> int:
        return self._frame[FLAGS_OFFSET]

    @property
    def hop_limit(self) -> int:
        return self._frame[HOP_LIMIT_OFFSET]

    @property
    def kind(self) -> FrameKind:
        return FrameKind(self._frame[KIND_OFFSET])

    @property
    def transit(self) -> Transit:
        return Transit._make(_TRANSIT.unpack_from(self._frame, TRANSIT_OFFSET))

    @property
    def extensions(self) -> Extensions:
        attributes_at, _ = self._edges()
        area = bytes(self._frame[HEADER_BYTES:attributes_at])
        kind = self.kind
        extensions = decode_extensions(area, kind) if area or kind is FrameKind.DIRECTED else NO_EXTENSIONS
        check_trace(kind, self.flags, extensions)
        return extensions

    @property
    def satisfied(self) -> tuple[int, ...]:
        """The subscriptions of this connection that the message satisfies; empty if the frame names none."""
        frame = self._frame
        attributes_at, _ = self._edges()
        is_plain = frame[KIND_OFFSET] == _DELIVER and not frame[FLAGS_OFFSET] & TRACED
        if is_plain and attributes_at == HEADER_BYTES + _ONE_SATISFIED.size:
            # The common case, one subscription and no other extension, needs no full decoder.
            lead, number = _ONE_SATISFIED.unpack_from(frame, HEADER_BYTES)
            if lead == _ONE_SATISFIED_LEAD:
                return (number,)
        kept = stored_area(frame) if is_plain else None
        if kept is not None:
            return (kept.id,)
        return cast("tuple[int, ...]", self.extensions.get(ExtensionType.SATISFIED, ()))


def _lead_error(extensions: int, zero: int) -> FrameError:
    if zero or extensions > EXTENSION_BYTES_MAX:
        return FrameError(ErrorCode.RESERVED, "bytes 7, 58 and 59 are reserved and 0")
    return FrameError(ErrorCode.MALFORMED, "the lengths or the kind in a data frame's header are wrong")
