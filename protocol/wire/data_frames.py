"""Data frames as values: the eager decoder and the two encoders.

Law: a DataFrame that can be encoded decodes to an equal one. `encode_publish` writes the bytes that `encode_data`
would, without intermediate objects: a publisher calls it for every message.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tamis.protocol.errors import FrameError, Refused
from tamis.protocol.limits import FRAME_BYTES_MAX
from tamis.protocol.messages import Message
from tamis.protocol.values import Value
from tamis.protocol.wire.attributes import encode_attributes
from tamis.protocol.wire.deliver_view import DeliverView
from tamis.protocol.wire.extensions import NO_EXTENSIONS, Extensions, ExtensionType, encode_extensions
from tamis.protocol.wire.header import (
    HEADER,
    HEADER_BYTES,
    NOT_ENTERED,
    TRACED,
    Transit,
    check_header,
    check_trace,
)
from tamis.protocol.wire.kinds import FrameKind

_PUBLISH: Final = int(FrameKind.PUBLISH)
_PUBLISH_HEADER: Final = struct.Struct("<IBB2x24xQQQH2xI")
"""The header in which the fields that a client leaves 0 are padding: fewer arguments give most of the speed."""


@dataclass(frozen=True, slots=True)
class DataFrame:
    """A data frame, read as a whole. Flag TRACED is set exactly where there is a TRACE extension."""

    kind: FrameKind
    message: Message
    flags: int = 0
    hop_limit: int = 0
    transit: Transit = NOT_ENTERED
    publish_time_ns: int = 0
    extensions: Extensions = field(default_factory=dict)


def encode_data(frame: DataFrame) -> bytes:
    """Return the frame's bytes; Refused if they could not be decoded."""
    kind, message = frame.kind, frame.message
    if not kind.is_data:
        raise Refused(f"{kind.name} is not a data frame")
    area = _checked_area(kind, frame.flags, frame.extensions)
    packed = encode_attributes(message.attributes)
    length = HEADER_BYTES + len(area) + len(packed) + len(message.payload)
    if length > FRAME_BYTES_MAX:
        raise _too_long(length)
    lead = (length, kind, frame.flags, frame.hop_limit, 0)
    try:
        check_header(kind, frame.flags, *message.id)
        header = HEADER.pack(*lead, *frame.transit, *message.id, frame.publish_time_ns, len(area), 0, len(packed))
    except (FrameError, struct.error) as error:
        raise _our_mistake(error) from None
    return b"".join((header, area, packed, message.payload))


def encode_publish(
    origin: int,
    counter: int,
    time_ns: int,
    attributes: Mapping[str, Value],
    payload: bytes = b"",
    flags: int = 0,
    extensions: Extensions = NO_EXTENSIONS,
) -> bytes:
    """Return a PUBLISH frame as a client sends it; Refused if it could not be decoded. TRACED follows from
    `extensions`."""
    if type(payload) is not bytes:
        payload = _payload(payload)
    area = b""
    if extensions is not NO_EXTENSIONS or flags & TRACED:
        flags |= TRACED if ExtensionType.TRACE in extensions else 0
        area = _checked_area(FrameKind.PUBLISH, flags, extensions)
    packed = encode_attributes(attributes)
    length = HEADER_BYTES + len(area) + len(packed) + len(payload)
    if length > FRAME_BYTES_MAX:
        raise _too_long(length)
    try:
        if flags or not origin or not counter:
            check_header(_PUBLISH, flags, origin, counter)
        header = _PUBLISH_HEADER.pack(length, _PUBLISH, flags, origin, counter, time_ns, len(area), len(packed))
    except (FrameError, struct.error) as error:
        raise _our_mistake(error) from None
    return header + packed + payload if not area else header + area + packed + payload


def decode_data(frame: bytes | memoryview) -> DataFrame:
    """Return the data frame that `frame` consists of, with every part checked."""
    view = DeliverView(frame)
    message = Message(view.attributes, view.payload, view.id)
    return DataFrame(
        view.kind, message, view.flags, view.hop_limit, view.transit, view.publish_time_ns, view.extensions
    )


def _checked_area(kind: FrameKind, flags: int, extensions: Extensions) -> bytes:
    try:
        check_trace(kind, flags, extensions)
    except FrameError as error:
        raise _our_mistake(error) from None
    return encode_extensions(extensions, kind)


def _payload(payload: object) -> bytes:
    if not isinstance(payload, bytes | bytearray | memoryview):
        hint = "; text is given as bytes by .encode()" if isinstance(payload, str) else ""
        raise Refused(f"a payload is bytes, not {type(payload).__name__}{hint}")
    return bytes(payload)


def _too_long(length: int) -> Refused:
    return Refused(f"a message has at most {FRAME_BYTES_MAX:,} bytes with its payload, this one has {length:,}")


def _our_mistake(error: FrameError | struct.error) -> Refused:
    """Return `error`, of the decoder, as Refused: this program made the frame, not a peer."""
    if isinstance(error, FrameError):
        return Refused(error.problem)
    return Refused("counters, times and numbers are u64; flags and hop limit are u8")
